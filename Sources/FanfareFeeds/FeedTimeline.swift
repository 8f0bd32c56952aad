import FanfareModel

/// Log time of a recorded feed: the running maximum of its own times, but for what cannot be.
///
/// One event with a wrong year must not take log time along: every deadline would be over, and each event after it would come in
/// the past. An event that lies far ahead of what came before it *and* of what comes after it moves nothing.
struct FeedTimeline: Sendable {
    /// A step of more than this is looked at twice. Between two matches of a day there are hours, and they stay there.
    static let stepMax = Duration.seconds(600)
    /// The same of a feed's last event, after which nothing tells.
    static let lastStepMax = Duration.seconds(24 * 3600)

    /// 1970 before the first event.
    private(set) var now = FeedTime(milliseconds: 0)

    init() {}

    /// Whether `pass` wants to know the time of the event after one with this time.
    @inline(__always)
    func doubts(_ at: FeedTime) -> Bool {
        let (latest, isTooMuch) = now.milliseconds.addingReportingOverflow(FeedTimeline.stepMilliseconds)
        return !isTooMuch && at.milliseconds > latest
    }

    // Every event asks, and a `Duration` is 128 bits wide.
    private static let stepMilliseconds = stepMax.milliseconds

    /// An event comes.
    ///
    /// - Parameter next: time of the event after it; `nil` where there is none. Asked for where `doubts` says so.
    @inline(__always)
    mutating func pass(_ at: FeedTime, before next: FeedTime?) {
        guard doubts(at) else {
            now = max(now, at)
            return
        }
        let isFirst = now == FeedTime(milliseconds: 0)
        if let next {
            // Its neighbours agree with each other, and not with it.
            now = max(now, next + FeedTimeline.stepMax < at ? next : at)
        } else if isFirst || at <= now + FeedTimeline.lastStepMax {
            now = at
        }
    }
}
