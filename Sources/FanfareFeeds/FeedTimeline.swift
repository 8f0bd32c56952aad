import FanfareModel

/// Log time of a recorded feed: the running maximum of its event times, without implausible ones.
///
/// One event with a wrong year must not advance log time: every deadline would pass, and each event after it would be in the past.
/// An event that is far ahead of both its predecessor *and* its successor leaves log time unchanged.
struct FeedTimeline: Sendable {
    /// Step beyond which a time is doubted. Between two matches of a day there are hours, which the next event confirms.
    static let stepMax = Duration.seconds(600)
    /// Step beyond which the last event's time is ignored, because no event after it can confirm it.
    static let lastStepMax = Duration.seconds(24 * 3600)

    /// Log time so far; 1970 before the first event.
    private(set) var now = FeedTime(milliseconds: 0)

    init() {}

    /// Returns `true` if `pass` needs the time of the event after one with this time.
    @inline(__always)
    func doubts(_ at: FeedTime) -> Bool {
        let (latest, isTooMuch) = now.milliseconds.addingReportingOverflow(FeedTimeline.stepMilliseconds)
        return !isTooMuch && at.milliseconds > latest
    }

    // Stored in milliseconds, because every event reads it and a `Duration` is 128 bits wide.
    private static let stepMilliseconds = stepMax.milliseconds

    /// Advances log time for an event.
    ///
    /// - Parameter next: time of the event after it, needed if `doubts` returns `true`; `nil` if there is none.
    @inline(__always)
    mutating func pass(_ at: FeedTime, before next: FeedTime?) {
        guard doubts(at) else {
            now = max(now, at)
            return
        }
        let isFirst = now == FeedTime(milliseconds: 0)
        if let next {
            // The event's neighbours agree with each other, but not with it.
            now = max(now, next + FeedTimeline.stepMax < at ? next : at)
        } else if isFirst || at <= now + FeedTimeline.lastStepMax {
            now = at
        }
    }
}
