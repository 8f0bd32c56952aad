import FanfareModel

/// Mapping from moments of the feed to times of the replay: log time divided by the speed, with long gaps shortened. The timetable is ideal: a late
/// step shortens the next wait, so there is no drift.
struct TimeScale {
    private let speed: ReplayTimetable.Speed
    private let gapMax: Duration
    private let from: FeedTime?
    private var last: FeedTime?
    /// Time at which `last` is due.
    private var lastDue = MonotonicTime.always

    init(speed: ReplayTimetable.Speed, gapMax: Duration, from: FeedTime?) {
        self.speed = speed
        self.gapMax = gapMax
        self.from = from
    }

    /// - Parameter isLive: `true` for a live feed, whose events are decided as soon as they arrive.
    init(_ timetable: ReplayTimetable, isLive: Bool) {
        self.init(speed: isLive ? .max : timetable.speed, gapMax: timetable.gapMax, from: timetable.from)
    }

    /// Longest wait, 28 years, in nanoseconds. A slower feed makes no progress.
    private static let longest = 9e17

    /// Returns the time until `moment` is due; zero or less if it is due now.
    mutating func wait(until moment: FeedTime, now: MonotonicTime) -> Duration {
        guard case .times(let factor) = speed else { return .zero }
        guard let last, from.map({ moment > $0 }) ?? true else {
            self.last = moment
            lastDue = now
            return .zero
        }
        if moment > last {
            let gap = min(moment - last, gapMax)
            let wait = min(Double(gap.milliseconds) * 1e6 / factor, TimeScale.longest)
            lastDue = min(lastDue, now + .nanoseconds(Int64(TimeScale.longest))) + .nanoseconds(Int64(wait))
            self.last = moment
        }
        return lastDue - now
    }
}
