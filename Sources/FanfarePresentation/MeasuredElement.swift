import FanfareModel

/// An element with its content, measured: as large as it is by itself, and as it is in the width that is left for it.
struct MeasuredElement {
    /// A text as it will be drawn.
    struct Fitting {
        var lines: [String]
        var size: Double
        var lineHeight: Double
        var width: Double
        /// Width that the text may have.
        var room: Double
        /// Whole text, where the short form stands for it.
        var whole: String?
        /// Is `true` when the text is wider than the space for it.
        var isTooWide = false
    }

    /// Texts of timers: of the moment, or the longest while the card is shown.
    enum TimerTexts { case shown, longest }

    enum Content {
        case text(full: String, short: String?)
        case bar(parts: [Double])
        case icon(Icon)
    }

    let element: CardElement
    let content: Content
    let isHighlighted: Bool
    /// Width that the element has by itself; of a bar 0, because it takes the width that is left.
    let natural: Double
    let height: Double

    /// Space between a highlighted text and the edges of its pill.
    static let pillPadding = (x: 6.0, y: 1.0)
    static let barHeight = 6.0

    var isBar: Bool { if case .bar = content { true } else { false } }
    /// Is `true` if an update can change the element or the phone runs it.
    var isLive: Bool { !element.form.fields.isEmpty }
    var isText: Bool { if case .text = content { true } else { false } }
    /// The whole text, as people compare it with another.
    var words: String? { if case .text(let full, _) = content { full.lowercased() } else { nil } }
    private var padding: Double { isHighlighted && isText ? 2 * MeasuredElement.pillPadding.x : 0 }

    /// - Returns: `nil` for an element that is not shown in this state.
    init?(
        _ element: CardElement, _ content: CardContent, _ template: CardTemplate, _ timers: TimerTexts,
        _ measure: TextMeasure
    ) {
        guard element.isShown(in: content.state),
            let shown = MeasuredElement.content(of: element, content, words: template.words, timers, measure)
        else { return nil }
        self.element = element
        self.content = shown
        isHighlighted = content.highlight.map { element.highlights.contains($0) } ?? false
        switch (shown, element.form) {
        case (.text(let full, _), _):
            let (size, lineHeight) = element.style.measures
            let padding = isHighlighted ? 2 * MeasuredElement.pillPadding.x : 0
            let lines = full.split(separator: "\n").map(String.init)
            natural =
                (lines.map { measure.width(of: $0, size: size, weight: element.style.weight) }.max() ?? 0) + padding
            height = lineHeight
        case (.icon, .icon(_, let size)): (natural, height) = (size, size)
        default: (natural, height) = (0, MeasuredElement.barHeight)
        }
    }

    private static func content(
        of element: CardElement, _ content: CardContent, words: [String: [String: String]], _ timers: TimerTexts,
        _ measure: TextMeasure
    ) -> Content? {
        let state = content.state
        // A line break is kept where the element has lines for it.
        func filled(_ text: Template, lines: Int = 1) -> String {
            text.text(topic: content.topic, state: state.worded(words)).split(whereSeparator: \.isNewline)
                .map { $0.split { $0 == " " || $0 == "\t" }.joined(separator: " ") }.filter { !$0.isEmpty }
                .joined(separator: lines > 1 ? "\n" : " ")
        }
        func bar(_ share: Double) -> Content { .bar(parts: [min(max(share, 0), 1)]) }
        switch element.form {
        case .text(let template):
            let full = filled(template, lines: element.lines)
            return full.isEmpty ? nil : .text(full: full, short: element.short.map { filled($0) })
        case .timer(let timer):
            switch timers {
            case .shown: return timer.text(in: state, at: content.at).map { .text(full: $0, short: nil) }
            case .longest:
                let digit = measure.widestDigit(element.style.weight)
                return timer.longestText(in: state, at: content.at).map { text in
                    .text(full: String(text.map { $0.isNumber ? digit : $0 }), short: nil)
                }
            }
        case .progress(let field): return state[field]?.doubleValue.map(bar)
        case .interval(let from, let until):
            guard let start = state[from]?.dateValue, let end = state[until]?.dateValue, start < end else { return nil }
            return bar(Double((content.at - start).milliseconds) / Double((end - start).milliseconds))
        case .steps(let field, let values):
            guard let value = state[field]?.asText, let step = values.firstIndex(of: value) else { return nil }
            return .bar(parts: values.indices.map { $0 <= step ? 1 : 0 })
        case .icon(let icon, _): return .icon(icon)
        }
    }

    /// Fits the text into a width: whole, then in its short form, then in several lines, then smaller; else as it is.
    func fitting(_ room: Double, _ measure: TextMeasure) -> Fitting? {
        guard case .text(let full, let short) = content else { return nil }
        let (size, lineHeight) = element.style.measures
        let weight = element.style.weight
        let room = room - padding
        // Sums of rounded sizes may differ by a hair.
        let slack = 0.005
        func width(_ text: String, _ size: Double) -> Double { measure.width(of: text, size: size, weight: weight) }
        func whole(_ text: String) -> Fitting? {
            let width = width(text, size)
            return width <= room + slack
                ? Fitting(lines: [text], size: size, lineHeight: lineHeight, width: width, room: room) : nil
        }
        let single = full.replacing("\n", with: " ")
        if single == full, let fitting = whole(full) { return fitting }
        // Its own line breaks give way where there are not enough lines for them.
        for text in [full, single] where element.lines > 1 {
            let lines = text.split(separator: "\n").flatMap { wrapped($0, room + slack) { width($0, size) } }
            let widest = lines.map { width($0, size) }.max() ?? 0
            if lines.count <= element.lines, widest <= room + slack {
                return Fitting(lines: lines, size: size, lineHeight: lineHeight, width: widest, room: room)
            }
        }
        if let short, var fitting = whole(short) {
            fitting.whole = full
            return fitting
        }
        let last = short ?? single
        let needed = width(last, size)
        let scale = max(element.shrink, min(1, room / needed))
        let isTooWide = needed * scale > room + slack
        return Fitting(
            lines: [last], size: size * scale, lineHeight: lineHeight, width: needed * scale, room: room,
            whole: short == nil ? nil : full, isTooWide: isTooWide)
    }

    private func wrapped(_ text: Substring, _ room: Double, _ width: (String) -> Double) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            for (index, part) in word.unbreakableParts.enumerated() {
                let joined = (lines.last ?? "") + (lines.isEmpty || index > 0 ? "" : " ") + part
                if !lines.isEmpty, width(joined) <= room {
                    lines[lines.count - 1] = joined
                } else {
                    lines.append(String(part))
                }
            }
        }
        return lines
    }
}

extension Substring {
    /// Signs that stand at no line's beginning, and after which a line of Chinese or Japanese may end.
    private static let closing: Set<Character> = Set("、。，．・：；？！」』）］｝〉》】〕ー々〜…")
    private static let opening: Set<Character> = Set("「『（［｛〈《【〔")

    /// Parts of a word between which a line may end: those of Chinese, Japanese and Korean have no spaces between their words.
    fileprivate var unbreakableParts: [Substring] {
        // Most texts have only letters of words, and no byte beyond ASCII.
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return [self] }
        var parts: [Substring] = []
        var start = startIndex
        for (index, next) in zip(indices.dropFirst(), indices.dropFirst().map { self[$0] }) {
            let last = self[self.index(before: index)]
            guard last.isEastAsianLetter || Substring.closing.contains(last),
                next.isEastAsianLetter || Substring.opening.contains(next), !Substring.closing.contains(next)
            else { continue }
            parts.append(self[start..<index])
            start = index
        }
        return parts + [self[start...]]
    }
}

extension CardTemplate {
    /// Returns the element of that name, measured; `nil` if the template has none, or the state does not show it.
    func measured(
        _ name: String, _ content: CardContent, _ timers: MeasuredElement.TimerTexts, _ measure: TextMeasure
    ) -> MeasuredElement? {
        elements[name].flatMap { MeasuredElement($0, content, self, timers, measure) }
    }
}
