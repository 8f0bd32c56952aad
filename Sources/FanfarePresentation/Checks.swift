import FanfareModel

extension Scene {
    mutating func find(_ kind: Finding.Kind, _ element: String?, _ text: String) {
        let finding = Finding(kind: kind, location: surface.findingName, element: element, text: text)
        if !findings.contains(finding) { findings.append(finding) }
    }

    /// Notes a character that no font has. Its font is missing wherever the character stands, so the finding names no surface.
    mutating func findMissing(_ character: Character) {
        let code = character.unicodeScalars.map { "U+" + String($0.value, radix: 16, uppercase: true) }
        let advice =
            ScriptFonts.package(for: character).map { "install Debian's \($0)" } ?? "name one that has it with --font"
        let finding = Finding(
            kind: .glyph, location: "fonts", element: nil,
            text: "none has “\(character)” (\(code.joined(separator: " "))), so widths are guesses; \(advice)")
        if !findings.contains(finding) { findings.append(finding) }
    }

    /// Notes and marks items that will be too large later.
    mutating func findOverflow(of later: Scene) {
        for finding in later.findings where finding.kind == .overflow {
            guard !findings.contains(where: { $0.kind == .overflow && $0.element == finding.element }) else { continue }
            find(.overflow, finding.element, "\(finding.text), as its timer runs")
            for index in items.indices where finding.element != nil && items[index].element == finding.element {
                items[index].overflow = items[index].frame.width
            }
        }
    }

    /// Notes texts, icons and bars that contrast too little with their background, as the surface shows both.
    mutating func findContrast() {
        for item in items {
            let subject: String
            let least: Double
            switch item.form {
            case .text(let text, _, _): (subject, least) = ("“\(text)”", Color.contrastMin)
            case .box where item.isFill: (subject, least) = ("what the bar has filled", Color.graphicContrastMin)
            case .icon(let icon) where !item.isDecoration:
                (subject, least) = ("the icon \(icon.rawValue)", Color.graphicContrastMin)
            default: continue
            }
            let (color, behind) = (surface.appearance.shown(item.color), surface.appearance.shown(item.behind))
            let contrast = color.contrast(with: behind)
            guard contrast < least else { continue }
            find(
                .contrast, item.element,
                "\(subject) has a contrast of \(contrast.points) : 1, \(color.hex) on \(behind.hex); expected "
                    + "\(least.points) : 1")
        }
    }

    /// Notes ambiguous names: letters without a word, or two names that look the same.
    mutating func findAbbreviations() {
        var names: [String: String] = [:]
        for item in items {
            guard let whole = item.whole, case .text(let text, _, _) = item.form else { continue }
            if text.isStump(of: whole) {
                find(
                    .cut, item.element,
                    "“\(text)” stands for “\(whole)”; expected a whole word or three letters of it")
            } else if let other = names[text], other != whole {
                find(.cut, item.element, "“\(text)” stands for “\(other)” and for “\(whole)”")
            }
            names[text] = whole
        }
    }

    /// Notes a description that is missing, or longer than people listen to before they look (rule P3).
    mutating func findDescription() {
        if spoken.isEmpty { find(.description, nil, "nothing for a screen reader to say; expected `spoken`") }
        let length = spoken.count
        guard length > CardTemplate.spokenMax else { return }
        find(
            .description, nil,
            "a screen reader has \(length) characters to say; expected \(CardTemplate.spokenMax) at most, in `spoken`")
    }

    /// Notes a compact or minimal presentation that shows icons and words only, which never change.
    mutating func findLogo(_ group: [MeasuredElement]) {
        guard !group.contains(where: \.isLive) else { return }
        let fault: String
        if group.isEmpty {
            fault = "nothing is shown; expected live data"
        } else if group.contains(where: \.isText) {
            fault = "words that never change stand alone; expected live data beside them"
        } else {
            fault = "an icon stands alone; expected live data beside it"
        }
        find(.logoAlone, group.first?.element.name, fault)
    }

    /// Notes a compact presentation with one side only: its two sides are to be alike (rules M4, P5). A logo alone is another fault.
    mutating func findEmptySide(leading: [MeasuredElement], trailing: [MeasuredElement]) {
        guard leading.isEmpty != trailing.isEmpty, (leading + trailing).contains(where: \.isLive) else { return }
        let (side, field) = leading.isEmpty ? ("leading", "compactLeading") : ("trailing", "compactTrailing")
        find(
            .emptySide, side,
            "nothing is shown; expected an element that always has something, as an icon has, or words in the state's "
                + "\(field)")
    }

    /// Returns the scene from right to left. Texts, icons and the camera stay as they are.
    func mirrored() -> Scene {
        var scene = self
        for index in items.indices { scene.items[index].frame.x = width - items[index].frame.maxX }
        return scene
    }

    /// Moves the items down and gives the card its height.
    func resized(to height: Double, moving distance: Double) -> Scene {
        var scene = Scene(
            surface: surface, width: width, height: height, radius: radius, background: background, spoken: spoken)
        scene.findings = findings
        scene.items = items
        for index in items.indices { scene.items[index].frame.y += distance }
        return scene
    }
}

extension CardTemplate {
    /// Characters of a description: ten to fifteen seconds of a screen reader at its usual pace. An estimate; no limit is published.
    static let spokenMax = 200

    /// Notes elements that stand on one side in compact and on another side in expanded (rule P2). Conditions count, because a hidden element stands
    /// nowhere.
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
                    kind: .moved, location: "\(device.name), expanded", element: subject,
                    text: "is \(name) in compact and \(now) in expanded; expected the same relative place")
            }
        }
        return compact.flatMap { moved($0.leading, leading, "leading") + moved($0.trailing, trailing, "trailing") }
    }
}

extension CardContent {
    /// Notes short forms that have been cut to their width (rule M4), and a spoken form that has been cut to its bytes (rule P3).
    package var cutForms: [Finding] {
        let spoken = state["spoken"]?.stringValue ?? ""
        return cutShortForms + cutWords + ([state] + (others ?? [])).compactMap(CardContent.twins)
            + (spoken.isCut
                ? [
                    Finding(
                        kind: .cut, location: "spoken form", element: "spoken",
                        text: "“\(spoken)” is cut; expected shorter words, or more `spoken.bytes` in the rules")
                ] : [])
    }

    /// Notes a compact pair whose two sides have the same letters: people cannot tell whose number is whose.
    private static func twins(_ row: JSONObject) -> Finding? {
        func letters(_ key: String) -> String { row[key]?.stringValue?.filter(\.isLetter) ?? "" }
        let (leading, trailing) = (letters("compactLeading"), letters("compactTrailing"))
        guard !leading.isEmpty, leading == trailing else { return nil }
        return Finding(
            kind: .cut, location: "short forms", element: "compactLeading",
            text: "“\(leading)” stands on both sides; expected words that differ, by the rules' `short`")
    }

    /// Notes short forms with the first letters of a word that is written from right to left. These scripts have no capitals, so the letters do not
    /// look like an abbreviation; an Arabic name begins with its article, besides.
    private var cutWords: [Finding] {
        let forms = ["compactLeading", "compactTrailing", "minimal"]
        func words(_ text: String) -> [Substring] { text.split { !$0.isLetter }.filter(\.isRightToLeft) }
        let whole = state.members.filter { !forms.contains($0.key) }.flatMap { words($0.value.stringValue ?? "") }
        return forms.compactMap { key in
            for word in words(state[key]?.stringValue ?? "") where !whole.contains(word) {
                guard let name = whole.first(where: { $0.hasPrefix(word) }) else { continue }
                return Finding(
                    kind: .cut, location: "short forms", element: key,
                    text: "“\(word)” is cut from “\(name)”; expected a whole word, by the rules' `short`")
            }
            return nil
        }
    }

    private var cutShortForms: [Finding] {
        ([state] + (others ?? [])).flatMap { row in
            ["compactLeading", "compactTrailing", "minimal"].compactMap { key in
                guard let text = row[key]?.stringValue, text.isCut else { return nil }
                return Finding(
                    kind: .cut, location: "short forms", element: key,
                    text: "“\(text)” is cut; expected shorter words, or a larger `short.width` in the rules")
            }
        }
    }
}

extension CardTemplate {
    /// Notes fields that a state has in a type that their element cannot show.
    package func mistypedValues(in content: CardContent) -> [Finding] {
        elements.values.filter { $0.isShown(in: content.state) }.sorted { $0.name < $1.name }.flatMap { element in
            element.form.faults(in: content).map { text in
                Finding(kind: .field, location: "template \(kind)", element: element.name, text: text)
            }
        }
    }

    /// Greatest distance of a date from its update. Far more than a card lasts; Unix seconds, taken for ActivityKit's, are 31 years ahead.
    fileprivate static let dateDistanceMax = Duration.seconds(366 * 86_400)
}

extension CardElement.Form {
    fileprivate func faults(in content: CardContent) -> [String] {
        func fault(_ field: String, _ expected: String, _ isRight: (JSONValue) -> Bool) -> String? {
            guard let value = content.state[field], value != .null, !isRight(value) else { return nil }
            return "\(field) is \(value.asText); expected \(expected)"
        }
        let near = content.at + (.zero - CardTemplate.dateDistanceMax)...content.at + CardTemplate.dateDistanceMax
        func date(_ field: String) -> String? {
            fault(field, "a date within a year, in seconds since 2001") { $0.dateValue.map(near.contains) ?? false }
        }
        switch self {
        // A value that is none of the steps hides them.
        case .text, .icon, .steps: return []
        case .timer(let timer): return [date(timer.field)].compactMap(\.self)
        case .interval(let from, let until): return [date(from), date(until)].compactMap(\.self)
        case .progress(let field):
            return [fault(field, "a number from 0 to 1") { $0.doubleValue.map { (0...1).contains($0) } ?? false }]
                .compactMap(\.self)
        }
    }
}

extension String {
    /// Is `true` for an abbreviation in capitals that is neither a whole word of the text nor three letters of one. Scripts without
    /// capitals that are written from right to left have no such abbreviations.
    fileprivate func isStump(of whole: String) -> Bool {
        let words = whole.uppercased().split(separator: " ")
        return split(separator: " ").contains { part in
            (part.count != 3 || part.isRightToLeft) && part == part.uppercased() && !words.contains(part)
                && words.contains { $0.hasPrefix(part) }
        }
    }
}
