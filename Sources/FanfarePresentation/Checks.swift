import FanfareModel

extension Scene {
    mutating func find(_ kind: Finding.Kind, _ element: String?, _ text: String) {
        let finding = Finding(kind: kind, place: place.findingName, element: element, text: text)
        if !findings.contains(finding) { findings.append(finding) }
    }

    /// Notes what will be too large although it is not yet, and marks it.
    mutating func findOverflow(of later: Scene) {
        for finding in later.findings where finding.kind == .overflow {
            guard !findings.contains(where: { $0.kind == .overflow && $0.element == finding.element }) else { continue }
            find(.overflow, finding.element, "\(finding.text), as its timer runs")
            for index in items.indices where finding.element != nil && items[index].element == finding.element {
                items[index].overflow = items[index].frame.width
            }
        }
    }

    /// Notes texts that contrast too little with what is behind them, as the place shows both.
    mutating func findContrast() {
        for item in items {
            guard case .text(let text, _, _) = item.form else { continue }
            let (color, behind) = (place.appearance.shown(item.color), place.appearance.shown(item.behind))
            let contrast = color.contrast(with: behind)
            guard contrast < Color.contrastMin else { continue }
            find(
                .contrast, item.element,
                "“\(text)” has a contrast of \(contrast.points) : 1, \(color.hex) on \(behind.hex); expected "
                    + "\(Color.contrastMin.points) : 1")
        }
    }

    /// Notes a compact or minimal presentation that shows icons only.
    mutating func findLogo(_ group: [MeasuredElement]) {
        guard !group.contains(where: \.isText), !group.contains(where: \.isBar) else { return }
        find(
            .logoAlone, group.first?.element.name,
            group.isEmpty
                ? "nothing is shown; expected live data" : "an icon stands alone; expected live data beside it")
    }

    /// Moves the items down and gives the card its height.
    func resized(to height: Double, moving distance: Double) -> Scene {
        var scene = Scene(
            place: place, width: width, height: height, radius: radius, background: background, spoken: spoken)
        scene.findings = findings
        scene.items = items.map { item in
            var frame = item.frame
            frame.y += distance
            return Item(
                form: item.form, element: item.element, frame: frame, color: item.color, behind: item.behind,
                overflow: item.overflow, isTimer: item.isTimer)
        }
        return scene
    }
}

extension CardTemplate {
    /// Notes elements that stand on one side in compact and on no such side in expanded (rule P2). Conditions count, because what is
    /// not shown stands nowhere.
    package func movedElements(in content: CardContent, device: Device) -> [Finding] {
        func groups(_ section: Section) -> [(leading: Set<String>, center: Set<String>, trailing: Set<String>)] {
            rows(of: section).filter { $0.when.hold(in: content.state) }.compactMap { row in
                guard case .groups(let leading, let center, let trailing) = row.content else { return nil }
                func subjects(_ names: [String]) -> Set<String> {
                    Set(names.compactMap { elements[$0] }.filter { $0.isShown(in: content.state) }.map(\.about))
                }
                return (subjects(leading), subjects(center), subjects(trailing))
            }
        }
        guard !content.isOver else { return [] }
        let compact = groups(.compact)
        let expanded = groups(.expanded)
        let leading = expanded.reduce(into: Set<String>()) { $0.formUnion($1.leading) }
        let center = expanded.reduce(into: Set<String>()) { $0.formUnion($1.center) }
        let trailing = expanded.reduce(into: Set<String>()) { $0.formUnion($1.trailing) }
        let everywhere = leading.union(center).union(trailing)
        func moved(_ subjects: Set<String>, _ side: Set<String>, _ name: String) -> [Finding] {
            subjects.intersection(everywhere).subtracting(side).sorted().map { subject in
                let now = center.contains(subject) ? "in the centre" : name == "leading" ? "trailing" : "leading"
                return Finding(
                    kind: .moved, place: "\(device.name), expanded", element: subject,
                    text: "is \(name) in compact and \(now) in expanded; expected the same relative place")
            }
        }
        return compact.flatMap { moved($0.leading, leading, "leading") + moved($0.trailing, trailing, "trailing") }
    }
}

extension CardContent {
    /// Notes short forms that have been cut to their width (rule M4).
    package var cutForms: [Finding] {
        ([state] + (others ?? [])).flatMap { row in
            ["compactLeading", "compactTrailing", "minimal"].compactMap { key in
                guard let text = row[key]?.stringValue, text.isCut else { return nil }
                return Finding(
                    kind: .cut, place: "short forms", element: key,
                    text: "“\(text)” is cut; expected shorter words, or a larger `short.width` in the rules")
            }
        }
    }
}
