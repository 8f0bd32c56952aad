import FanfareModel

/// A pause after useless attempts, which becomes longer if it recurs soon afterwards.
struct Pause {
    private var wait = Backoff(first: .seconds(60), most: .seconds(3600))
    private var ends = MonotonicTime.always
    /// Time without a pause after which the next one is short again.
    private static let forgottenAfter = Duration.seconds(3600)

    func isOver(at now: MonotonicTime) -> Bool { now >= ends }

    /// Begins a pause. A current pause stays unchanged, because the cause is the same.
    mutating func begin(at now: MonotonicTime, using random: inout some RandomNumberGenerator) {
        guard isOver(at: now) else { return }
        if now - ends > Pause.forgottenAfter { wait.reset() }
        ends = now + wait.next(using: &random)
    }
}
