import FanfareLoop
import FanfareModel

/// The goals of a small topic, one after the other, while the activities of other topics are served.
struct SmallTopic {
    /// Pause between two goals.
    static let pause = Duration.milliseconds(20)

    /// Ends the pause.
    var timer: LoopTimer?
    /// Number of the latest goal.
    private(set) var round = 0
    /// Time of the goal that is on its way.
    private var publishedAt: MonotonicTime?
    /// Seconds from each goal to its last accepted push.
    private(set) var seconds: [Double] = []

    var isOnItsWay: Bool { publishedAt != nil }

    /// - Returns: the goal's number.
    mutating func begin(at now: MonotonicTime) -> Int {
        round += 1
        publishedAt = now
        return round
    }

    /// Notes that all activities have the goal on its way.
    ///
    /// - Parameter moment: time of the last accepted push; `nil` if it is unknown.
    /// - Returns: `false` if there is nothing to measure.
    mutating func complete(at moment: MonotonicTime?) -> Bool {
        guard let since = publishedAt.take(), let moment else { return false }
        seconds.append(Double(moment.nanoseconds(since: since)) / 1e9)
        return true
    }
}
