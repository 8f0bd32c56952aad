import FanfareModel

/// Lays a content out for a surface, by a template.
package struct Layout {
    let template: CardTemplate
    /// Template of the topic in a lineup's spotlight.
    let inner: CardTemplate?
    let content: CardContent
    let surface: Surface
    let measure: TextMeasure
    let timers: MeasuredElement.TimerTexts
    let palette: Palette
    private let groupLayout: GroupLayout
    private let gridLayout: GridLayout

    private static let smallMargin = 10.0

    private init(
        _ template: CardTemplate, inner: CardTemplate?, _ content: CardContent, _ surface: Surface,
        _ timers: MeasuredElement.TimerTexts, _ measure: TextMeasure
    ) {
        self.template = template
        self.inner = inner
        self.content = content
        self.surface = surface
        self.measure = measure
        self.timers = timers
        palette = Palette(
            appearance: surface.appearance, background: surface.background(of: template), accent: template.accent,
            lightAccent: template.lightAccent)
        groupLayout = GroupLayout(content: content, measure: measure, palette: palette)
        gridLayout = GridLayout(template: template, content: content, timers: timers, groupLayout: groupLayout)
    }

    /// - Parameter inner: template of the topic in a lineup's spotlight.
    /// - Returns: `nil` for a surface that does not show an activity that has ended.
    package static func scene(
        of content: CardContent, by template: CardTemplate, inner: CardTemplate? = nil, on surface: Surface,
        _ measure: TextMeasure
    ) -> Scene? {
        guard !content.isOver || surface.staysAfterEnd else { return nil }
        func drawn(_ timers: MeasuredElement.TimerTexts) -> Scene {
            Layout(template, inner: inner, content, surface, timers, measure).drawn()
        }
        var scene = drawn(.shown)
        // Timers run on, so their longest texts must fit, too.
        if scene.items.contains(where: \.isTimer), !content.isOver { scene.findOverflow(of: drawn(.longest)) }
        scene.findContrast()
        scene.findAbbreviations()
        if scene.items.isEmpty { scene.find(.logoAlone, nil, "nothing is shown; expected at least one field") }
        scene.findDescription()
        return scene
    }

    // MARK: - Surfaces

    private func drawn() -> Scene {
        let scene =
            switch surface.kind {
            case .compact, .menuBar: compact()
            case .minimalAttached, .minimalDetached, .standByMinimal: minimal()
            case .expanded, .lockScreen, .banner, .standBy: card()
            case .smartStack, .carPlay: small()
            }
        return template.isRightToLeft ? scene.mirrored() : scene
    }

    private func scene(width: Double, height: Double, radius: Double) -> Scene {
        Scene(
            surface: surface, width: width, height: height, radius: radius, background: palette.background,
            spoken: inner.map { template.spoken(content, inner: $0) } ?? template.spoken(content))
    }

    private func compact() -> Scene {
        let device = surface.device
        let height = Device.islandHeight
        var scene = scene(width: device.islandWidth, height: height, radius: height / 2)
        guard let row = shownRows(.compact).first, case .groups(let leading, _, let trailing) = row.content else {
            return scene
        }
        let sides = (leading: elements(leading), trailing: elements(trailing))
        for (group, x) in [(sides.leading, 0), (sides.trailing, device.islandWidth - device.compactSide)] {
            groupLayout.put(group, in: Rect(x: x, y: 0, width: device.compactSide, height: height), .center, &scene)
        }
        scene.findLogo(sides.leading + sides.trailing)
        // The menu bar shows the same pair; one finding for both is enough.
        if surface.kind == .compact { scene.findEmptySide(leading: sides.leading, trailing: sides.trailing) }
        return scene
    }

    private func minimal() -> Scene {
        let height = Device.islandHeight
        guard let row = shownRows(.minimal).first, case .groups(_, let center, _) = row.content else {
            return scene(width: height, height: height, radius: height / 2)
        }
        let group = elements(center)
        // A circle while the text stays clear of its edge, else an oval.
        let needed = naturalWidth(group) + 10
        let width = min(max(needed, Device.minimalWidths.lowerBound), Device.minimalWidths.upperBound)
        var scene = scene(width: width, height: height, radius: height / 2)
        // The ends are round, so a line of text has less than the whole width.
        let radius = height / 2
        let halfLine = min((group.filter(\.isText).map(\.element.style.measures.size).max() ?? 0) / 2, radius)
        let inset = radius - (radius * radius - halfLine * halfLine).squareRoot()
        groupLayout.put(group, in: Rect(x: inset, y: 0, width: width - 2 * inset, height: height), .center, &scene)
        scene.findLogo(group)
        return scene
    }

    private func card() -> Scene {
        let section = surface.section
        let margin = Device.margin
        let radius = surface.kind == .expanded ? Device.islandRadius : 22
        var scene = scene(width: surface.device.width, height: 0, radius: radius)
        // The corners of the island are round up to its contents.
        let side = surface.kind == .expanded ? 20 : margin
        let room = Rect(
            x: side, y: margin, width: scene.width - 2 * side, height: Device.cardHeights.upperBound - 2 * margin)
        let bottom = stack(shownRows(section), in: room, &scene)
        let needed = bottom + margin
        let height = min(max(needed, Device.cardHeights.lowerBound), Device.cardHeights.upperBound)
        if needed > Device.cardHeights.upperBound + 0.005 {
            scene.find(
                .overflow, nil,
                "the rows need \(needed.points) points of height, at most \(Device.cardHeights.upperBound.points)")
        }
        // A card with little to say has its rows in the middle.
        return scene.resized(to: height, moving: surface.kind == .expanded ? 0 : max(0, (height - needed) / 2))
    }

    private func small() -> Scene {
        let device = surface.device
        var scene = scene(width: device.width, height: device.height, radius: 18)
        let margin = Layout.smallMargin
        let room = Rect(x: margin, y: margin, width: device.width - 2 * margin, height: device.height - 2 * margin)
        guard template.sections[.small] != nil else {
            guard let row = shownRows(.compact).first, case .groups(let leading, _, let trailing) = row.content else {
                return scene
            }
            // The compact pair combined: both at once, as one piece of information (rule M4).
            groupLayout.put(elements(leading + trailing), in: room, .center, &scene)
            scene.findLogo(elements(leading + trailing))
            return scene
        }
        let bottom = stack(shownRows(.small), in: room, &scene)
        let needed = bottom + margin
        if needed > device.height + 0.005 {
            scene.find(
                .overflow, nil, "the rows need \(needed.points) points of height, at most \(device.height.points)")
        }
        return scene.resized(to: device.height, moving: max(0, (device.height - needed) / 2))
    }

    // MARK: - Rows

    private func shownRows(_ section: CardTemplate.Section) -> [CardRow] {
        template.rows(of: section).filter { $0.when.hold(in: content.state) }
    }

    private func elements(_ names: [String], of template: CardTemplate? = nil) -> [MeasuredElement] {
        names.compactMap { (template ?? self.template).measured($0, content, timers, measure) }
    }

    private func naturalWidth(_ group: [MeasuredElement]) -> Double {
        group.isEmpty ? 0 : group.reduce(GroupLayout.gap.x * Double(group.count - 1)) { $0 + $1.natural }
    }

    /// Puts rows below each other; the other topics of a lineup take the rest of the height. A row that shows nothing takes no space (rule P1).
    ///
    /// - Returns: the lower edge of the last row.
    private func stack(_ rows: [CardRow], in frame: Rect, _ scene: inout Scene) -> Double {
        var y = frame.y
        var isFirst = true
        // Words of the elements so far, so that the card says nothing twice.
        var said: [String: String] = [:]
        func unsaid(_ names: [String], of template: CardTemplate) -> [MeasuredElement] {
            let group = elements(names, of: template).filter { element in
                guard let other = element.element.unlike, let words = element.words else { return true }
                return said[other] != words
            }
            for element in group { said[element.element.name] = element.words }
            return group
        }
        func add(besideCamera: Bool = false, _ body: (Double, inout Scene) -> Double) {
            var top = isFirst ? y : y + GroupLayout.gap.y
            // Only the first row's two sides are beside the camera; the others begin below it.
            if surface.kind == .expanded, !(isFirst && besideCamera) {
                top = max(top, Device.islandHeight + GroupLayout.gap.y / 2)
            }
            let height = body(top, &scene)
            guard height > 0 else { return }
            y = top + height
            isFirst = false
        }
        for row in rows {
            switch row.content {
            case .groups(let leading, let center, let trailing):
                let groups = [leading, center, trailing].map { unsaid($0, of: template) }
                add(besideCamera: groups[1].isEmpty) { top, scene in
                    put(groups, in: Rect(x: frame.x, y: top, width: frame.width, height: 0), isFirst, &scene)
                }
            case .spotlight:
                guard let inner else { continue }
                let rows = inner.spotlightRows(in: surface.section)
                for row in rows where row.when.hold(in: content.state) {
                    guard case .groups(let leading, let center, let trailing) = row.content else { continue }
                    let groups = [leading, center, trailing].map { unsaid($0, of: inner) }
                    add(besideCamera: groups[1].isEmpty) { top, scene in
                        put(
                            groups, in: Rect(x: frame.x, y: top, width: frame.width, height: 0), isFirst, &scene)
                    }
                }
            case .others(let names, let columns):
                add { top, scene in
                    let room = Rect(x: frame.x, y: top, width: frame.width, height: frame.y + frame.height - top)
                    return gridLayout.grid(of: names, columns: columns, in: room, &scene)
                }
            }
        }
        return y
    }

    /// Puts a row's three groups beside each other.
    ///
    /// - Parameter isFirst: the first row of the expanded presentation stands beside the camera unless its centre is taken.
    /// - Returns: the row's height.
    private func put(
        _ groups: [[MeasuredElement]], in frame: Rect, _ isFirst: Bool, _ scene: inout Scene
    ) -> Double {
        let (leading, center, trailing) = (groups[0], groups[1], groups[2])
        guard groups.contains(where: { !$0.isEmpty }) else { return 0 }
        let gap = GroupLayout.gap.x
        let top = frame.y
        let sideMax: (Double, Double)
        // A bar leaves each side the width of the wider one.
        let sides = [leading, trailing].filter { !$0.isEmpty }.map { naturalWidth($0) + gap }.max() ?? 0
        let middle =
            center.contains(where: \.isBar)
            ? max(0, frame.width - 2 * sides) : min(naturalWidth(center), frame.width)
        if surface.kind == .expanded, isFirst, center.isEmpty {
            let side = (scene.width - surface.device.cameraWidth) / 2 - frame.x - gap
            sideMax = (side, side)
        } else if !center.isEmpty {
            sideMax = ((frame.width - middle) / 2 - gap, (frame.width - middle) / 2 - gap)
        } else if leading.isEmpty || trailing.isEmpty {
            sideMax = (frame.width, frame.width)
        } else {
            // The larger side gives way if both do not fit.
            let room = frame.width - gap
            let wanted = trailing.contains(where: \.isBar) ? room : naturalWidth(trailing)
            let right = min(wanted, max(room - naturalWidth(leading), room / 2))
            sideMax = (room - right, right)
        }
        let rooms = [(leading, sideMax.0), (center, middle), (trailing, sideMax.1)]
        let height = rooms.map { groupLayout.tallest(of: $0.0, in: $0.1) }.max() ?? 0
        groupLayout.put(leading, in: Rect(x: frame.x, y: top, width: sideMax.0, height: height), .leading, &scene)
        groupLayout.put(
            center, in: Rect(x: frame.midX - middle / 2, y: top, width: middle, height: height), .center, &scene)
        groupLayout.put(
            trailing, in: Rect(x: frame.maxX - sideMax.1, y: top, width: sideMax.1, height: height), .trailing, &scene)
        return height
    }
}

extension Surface {
    /// Compact, minimal and expanded are black, whatever the app wants (rule P4).
    fileprivate func background(of template: CardTemplate) -> Color {
        switch kind {
        case .compact, .minimalAttached, .minimalDetached, .expanded, .standByMinimal: return .black
        // The default background blends with the bezel.
        case .standBy: return template.background ?? .black
        case .menuBar: return appearance == .light ? Color(gray: 0.93) : Color(gray: 0.16)
        case .smartStack: return template.background ?? (appearance == .alwaysOn ? .black : Color(gray: 0.12))
        case .carPlay: return template.background ?? (appearance == .light ? Color(gray: 0.96) : Color(gray: 0.12))
        case .lockScreen, .banner:
            if let background = template.background { return background }
            switch appearance {
            case .light: return Color(red: 0.949, green: 0.949, blue: 0.969)
            case .dark: return Color(red: 0.11, green: 0.11, blue: 0.118)
            case .alwaysOn, .night: return .black
            }
        }
    }
}
