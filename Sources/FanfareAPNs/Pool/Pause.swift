import FanfareModel

/// A pause after useless attempts, which becomes longer if it recurs soon afterwards.
///
/// All times are monotonic nanoseconds.
struct Pause {
    private var wait = Backoff(first: .seconds(60), most: .seconds(3600))
    private var ends = Int64.min
    /// Time without a pause after which the next one is short again.
    private static let forgottenAfter: Int64 = 3600 * 1_000_000_000

    func isOver(at now: Int64) -> Bool { now >= ends }

    /// Begins a pause. A current pause stays unchanged, because the cause is the same.
    mutating func begin(at now: Int64, using random: inout some RandomNumberGenerator) {
        guard isOver(at: now) else { return }
        if ends > .min, now - ends > Pause.forgottenAfter { wait.reset() }
        ends = now + wait.next(using: &random).nanoseconds
    }
}
