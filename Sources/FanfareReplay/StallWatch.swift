import FanfareModel

/// Detects a stalled transport: no push was accepted for `patience` although an activity lacks an update.
struct StallWatch {
    /// Longest time without an accepted push; `nil` for no limit.
    private let patience: Duration?
    /// Number of accepted pushes at its last change, which was at `since`.
    private var accepted = 0
    private var since = MonotonicTime.always

    init(patience: Duration?) { self.patience = patience }

    mutating func begin(at now: MonotonicTime) { since = now }

    /// - Parameters:
    ///   - accepted: pushes accepted so far.
    ///   - owed: activities that lack an update.
    ///   - isFeedOver: `true` after the feed's end. Before it, the watch never reports a stall:
    ///     activities are served when the trouble is over.
    mutating func isStalled(accepted: Int, owed: Int, isFeedOver: Bool, at now: MonotonicTime) -> Bool {
        guard accepted == self.accepted, owed > 0, isFeedOver else {
            (self.accepted, since) = (accepted, now)
            return false
        }
        return patience.map { now - since > $0 } ?? false
    }
}
