/// Rate limit for messages to operators: passes on equal ones once a minute, with the number of repetitions.
package struct ReportLog {
    package static let repeatAfter = Duration.seconds(60)
    /// Maximum number of texts held; one more evicts the oldest. Texts contain no varying numbers, so there are only a handful.
    package static let textsMax = 32

    private var printed: [(text: String, at: MonotonicTime, suppressed: Int)] = []

    package init() {}

    /// Returns the line to print, or `nil` if the text was printed less than a minute ago.
    package mutating func admit(_ text: String, at now: MonotonicTime) -> String? {
        guard let index = printed.firstIndex(where: { $0.text == text }) else {
            if printed.count == Self.textsMax { printed.removeFirst() }
            printed.append((text, now, 0))
            return text
        }
        guard now - printed[index].at >= Self.repeatAfter else {
            printed[index].suppressed += 1
            return nil
        }
        let suppressed = printed[index].suppressed
        printed[index].at = now
        printed[index].suppressed = 0
        return suppressed == 0 ? text : "\(text) (and \(suppressed) times since the last time this was said)"
    }
}
