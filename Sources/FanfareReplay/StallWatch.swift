import FanfareModel

/// Finds out that a transport is to be given up: nothing has been accepted for longer than people have patience, although somebody is owed
/// an update.
struct StallWatch {
    /// `nil`: without end.
    private let patience: Duration?
    /// The last number of accepted pushes that was seen to change, and when, in monotonic nanoseconds.
    private var accepted = 0
    private var since: Int64 = 0

    init(patience: Duration?) { self.patience = patience }

    /// - Parameter now: monotonic nanoseconds.
    mutating func begin(at now: Int64) { since = now }

    /// - Parameters:
    ///   - accepted: pushes so far.
    ///   - owed: activities that lack an update.
    ///   - isFeedOver: while the feed goes on, so does the replay: what is mended meanwhile is served.
    ///   - now: monotonic nanoseconds.
    mutating func isStalled(accepted: Int, owed: Int, isFeedOver: Bool, at now: Int64) -> Bool {
        guard accepted == self.accepted, owed > 0, isFeedOver else {
            (self.accepted, since) = (accepted, now)
            return false
        }
        return patience.map { now - since > $0.milliseconds * 1_000_000 } ?? false
    }
}
