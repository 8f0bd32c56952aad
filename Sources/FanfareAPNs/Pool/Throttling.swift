import FanfareModel

/// Detects that APNs throttles most tokens and not a few: it answers 429 for a token that gets too many pushes, and single ones need no report.
struct Throttling {
    private var began = MonotonicTime.always
    private var throttled = 0
    /// Answers of any kind when the span began.
    private var before: UInt64 = 0

    /// Length of the spans that are judged.
    static let span = Duration.seconds(10)
    /// Minimum number of answers 429 in a span: fewer concern only some tokens.
    static let answersMin = 100

    /// Records an answer 429.
    ///
    /// - Parameter answered: answers of any kind so far, without this one.
    /// - Returns: whether a span is over, and most of its answers are 429.
    mutating func note(answered: UInt64, at now: MonotonicTime) -> Bool {
        // A span that no answer 429 has ended says nothing about the present.
        if now - began >= Throttling.span * 2 { (began, throttled, before) = (now, 0, answered) }
        throttled += 1
        guard now - began >= Throttling.span else { return false }
        let all = Int(answered - before) + 1
        defer { (began, throttled, before) = (now, 0, answered + 1) }
        return throttled >= Throttling.answersMin && throttled * 2 > all
    }
}
