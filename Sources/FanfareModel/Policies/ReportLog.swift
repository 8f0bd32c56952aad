/// Rate limit for messages to operators: passes on equal ones once a minute, with the number of repetitions.
package struct ReportLog {
    package static let repeatAfter = Duration.seconds(60)
    /// Maximum number of texts held; one more evicts the oldest. Texts contain no varying numbers, so there are only a handful.
    package static let textsMax = 32

    private var said: [(text: String, at: MonotonicTime, held: Int)] = []

    package init() {}

    /// Returns the line to print, or `nil` if the text was printed less than a minute ago.
    package mutating func admit(_ text: String, at now: MonotonicTime) -> String? {
        guard let index = said.firstIndex(where: { $0.text == text }) else {
            if said.count == Self.textsMax { said.removeFirst() }
            said.append((text, now, 0))
            return text
        }
        guard now - said[index].at >= Self.repeatAfter else {
            said[index].held += 1
            return nil
        }
        let held = said[index].held
        said[index].at = now
        said[index].held = 0
        return held == 0 ? text : "\(text) (and \(held) times since the last time this was said)"
    }
}
