import FanfareModel

/// Lays groups of elements out beside each other, and makes a scene's items of them.
struct GroupLayout {
    let content: CardContent
    let measure: TextMeasure
    let palette: Palette

    /// Spaces between elements. Estimates: the app chooses them.
    static let gap = (x: 8.0, y: 6.0)

    enum Alignment {
        case leading, center, trailing

        /// Left edge of something so wide in a frame.
        func start(of width: Double, in frame: Rect) -> Double {
            switch self {
            case .leading: frame.x
            case .center: frame.midX - width / 2
            case .trailing: frame.maxX - width
            }
        }
    }

    func tallest(of group: [MeasuredElement], in room: Double) -> Double {
        let fittings = fittings(of: group, in: room)
        return zip(group, fittings).map { element, fitting in
            fitting.map { Double($0.lines.count) * $0.lineHeight } ?? element.height
        }.max() ?? 0
    }

    /// Fits a group's texts into the room beside its icons, in order; each leaves the later ones their own width if it can.
    private func fittings(of group: [MeasuredElement], in room: Double) -> [MeasuredElement.Fitting?] {
        var rest = room - GroupLayout.gap.x * Double(max(0, group.count - 1))
        rest -= group.filter { !$0.isText }.reduce(0) { $0 + $1.natural }
        let texts = group.filter(\.isText)
        var later = texts.reduce(0) { $0 + $1.natural }
        return group.map { element in
            guard element.isText else { return nil }
            later -= element.natural
            // The larger text gives way if both do not fit.
            let fair = max(rest - later, min(element.natural, rest / 2))
            let fitting = element.fitting(texts.count == 1 ? rest : fair, measure)
            rest -= (fitting?.width ?? 0) + (element.isHighlighted ? 2 * MeasuredElement.pillPadding.x : 0)
            return fitting
        }
    }

    func put(
        _ group: [MeasuredElement], in frame: Rect, _ alignment: Alignment, _ scene: inout Scene
    ) {
        guard !group.isEmpty else { return }
        let fittings = fittings(of: group, in: frame.width)
        var widths = zip(group, fittings).map { element, fitting in
            fitting.map { $0.width + (element.isHighlighted ? 2 * MeasuredElement.pillPadding.x : 0) }
                ?? element.natural
        }
        let gaps = GroupLayout.gap.x * Double(group.count - 1)
        // A bar takes the rest of the width.
        let bars = group.count { $0.isBar }
        if bars > 0 {
            let rest = max(0, frame.width - gaps - widths.reduce(0, +)) / Double(bars)
            for (index, element) in group.enumerated() where element.isBar { widths[index] = rest }
        }
        let total = widths.reduce(gaps, +)
        findOverflow(of: group, fittings, widths: widths, total, in: frame, &scene)
        var x = alignment.start(of: total, in: frame)
        for (index, element) in group.enumerated() {
            let slot = Rect(x: x, y: frame.y, width: widths[index], height: frame.height)
            put(element, fittings[index], in: slot, alignment, &scene)
            x += widths[index] + GroupLayout.gap.x
        }
    }

    /// Finds elements that are too wide beside fitting texts, or too high. A text that is too wide is found where it is put.
    private func findOverflow(
        of group: [MeasuredElement], _ fittings: [MeasuredElement.Fitting?], widths: [Double], _ total: Double,
        in frame: Rect, _ scene: inout Scene
    ) {
        let name = group.first { !$0.isText }?.element.name
        if let name, total > frame.width + 0.005, !fittings.contains(where: { $0?.isTooWide == true }) {
            scene.find(.overflow, name, "its group needs \(total.points) points of \(max(0, frame.width).points)")
        }
        for (element, width) in zip(group, widths) where element.isBar && width < element.height {
            scene.find(.overflow, element.element.name, "the others leave the bar \(width.points) points")
        }
        let height = tallest(of: group, in: frame.width)
        if frame.height > 0, height > frame.height + 0.005 {
            scene.find(
                .overflow, group[0].element.name, "its group is \(height.points) points high, of \(frame.height.points)"
            )
        }
    }

    private func put(
        _ element: MeasuredElement, _ fitting: MeasuredElement.Fitting?, in slot: Rect,
        _ alignment: Alignment, _ scene: inout Scene
    ) {
        let name = element.element.name
        let color = color(of: element.element, &scene)
        switch element.content {
        case .icon(let icon):
            let frame = Rect(
                x: slot.x, y: slot.midY - element.height / 2, width: element.natural, height: element.height)
            var item = Scene.Item(form: .icon(icon), element: name, frame: frame, color: color, behind: behind)
            if case .field = element.element.color { item.isDecoration = true }
            scene.items.append(item)
        case .bar(let parts): put(parts, name, element, in: slot, color, &scene)
        case .text:
            guard let fitting else { return }
            put(fitting, element, in: slot, alignment, color, &scene)
        }
    }

    private func put(
        _ parts: [Double], _ name: String, _ element: MeasuredElement, in slot: Rect, _ color: Color,
        _ scene: inout Scene
    ) {
        let gap = parts.count > 1 ? 4.0 : 0
        let width = (slot.width - gap * Double(parts.count - 1)) / Double(parts.count)
        for (index, share) in parts.enumerated() {
            let frame = Rect(
                x: slot.x + Double(index) * (width + gap), y: slot.midY - element.height / 2, width: width,
                height: element.height)
            let radius = element.height / 2
            let track = palette.primary.mixed(0.22, with: behind)
            scene.items.append(
                .init(form: .box(radius: radius), element: name, frame: frame, color: track, behind: behind))
            guard share > 0 else { continue }
            var filled = frame
            filled.width = max(element.height, frame.width * share)
            scene.items.append(
                .init(
                    form: .box(radius: radius), element: name, frame: filled, color: color, behind: track, isFill: true)
            )
        }
    }

    private func put(
        _ fitting: MeasuredElement.Fitting, _ element: MeasuredElement, in slot: Rect,
        _ alignment: Alignment, _ color: Color, _ scene: inout Scene
    ) {
        let name = element.element.name
        var (color, behind) = (color, behind)
        let height = Double(fitting.lines.count) * fitting.lineHeight
        let top = slot.midY - height / 2
        var x = slot.x
        if element.isHighlighted {
            let padding = MeasuredElement.pillPadding
            let pill = Rect(
                x: x, y: top - padding.y, width: fitting.width + 2 * padding.x, height: height + 2 * padding.y)
            behind = palette.shownAccent
            color = behind.opposite
            scene.items.append(
                .init(
                    form: .box(radius: min(8, pill.height / 2)), element: name, frame: pill, color: behind,
                    behind: self.behind))
            x += padding.x
        }
        for (index, line) in fitting.lines.enumerated() {
            let width = measure.width(of: line, size: fitting.size, weight: element.element.style.weight)
            let rest = fitting.width - width
            let offset = alignment == .leading ? 0 : alignment == .center ? rest / 2 : rest
            let frame = Rect(
                x: x + offset, y: top + Double(index) * fitting.lineHeight, width: width, height: fitting.lineHeight)
            var item = Scene.Item(
                form: .text(line, size: fitting.size, weight: element.element.style.weight), element: name,
                frame: frame, color: color, behind: behind)
            if case .timer = element.element.form { item.isTimer = true }
            item.whole = fitting.whole
            if fitting.isTooWide {
                item.overflow = width
                scene.find(
                    .overflow, name, "“\(line)” needs \(width.points) points of \(max(0, fitting.room).points)")
            }
            scene.items.append(item)
        }
        if let strange = measure.missing(fitting.lines.joined(), weight: element.element.style.weight) {
            scene.findMissing(strange)
        }
    }

    private var behind: Color { palette.background }

    private func color(of element: CardElement, _ scene: inout Scene) -> Color {
        switch element.color {
        // Stale content looks old, on surfaces without room for a word, too (rule L6).
        case .primary: content.isStale ? palette.secondary : palette.primary
        case .secondary: palette.secondary
        case .accent: palette.shownAccent
        case .fixed(let color): color
        case .field(let key): color(of: key, element, &scene)
        }
    }

    private func color(of key: String, _ element: CardElement, _ scene: inout Scene) -> Color {
        guard let value = content.state[key], value != .null else { return palette.secondary }
        if let color = value.stringValue.flatMap(Color.init(hex:)) { return color }
        scene.find(
            .color, element.name,
            "\(key) is “\(value.asText)”, which is no colour; expected one such as #1F5AE0")
        return palette.secondary
    }
}
