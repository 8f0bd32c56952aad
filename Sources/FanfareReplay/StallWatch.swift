import FanfareModel

/// Detects a stalled transport: no push was accepted for `patience` although an activity lacks an update.
struct StallWatch {
    /// Longest time without an accepted push; `nil` for no limit.
    private let patience: Duration?
    /// Number of accepted pushes at its last change; `since` is that moment in monotonic nanoseconds.
    private var accepted = 0
    private var since: Int64 = 0

    init(patience: Duration?) { self.patience = patience }

    /// - Parameter now: monotonic nanoseconds.
    mutating func begin(at now: Int64) { since = now }

    /// - Parameters:
    ///   - accepted: pushes accepted so far.
    ///   - owed: activities that lack an update.
    ///   - isFeedOver: `true` after the feed's end. Before it, the watch never reports a stall:
    ///     activities are served when the trouble is over.
    ///   - now: monotonic nanoseconds.
    mutating func isStalled(accepted: Int, owed: Int, isFeedOver: Bool, at now: Int64) -> Bool {
        guard accepted == self.accepted, owed > 0, isFeedOver else {
            (self.accepted, since) = (accepted, now)
            return false
        }
        return patience.map { now - since > $0.milliseconds * 1_000_000 } ?? false
    }
}
