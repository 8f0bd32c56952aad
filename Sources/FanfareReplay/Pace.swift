import FanfareModel

/// When the replay comes to a moment of the feed: log time stretched by the speed, with long waits shortened. An ideal
/// timetable: a late step makes the next wait shorter, so nothing drifts.
struct Pace {
    private let speed: ReplayOptions.Speed
    private let gapMax: Duration
    private let from: FeedTime?
    private var last: FeedTime?
    /// Monotonic nanoseconds at which `last` is due.
    private var lastDue: Int64 = 0

    init(speed: ReplayOptions.Speed, gapMax: Duration, from: FeedTime?) {
        self.speed = speed
        self.gapMax = gapMax
        self.from = from
    }

    /// Nanoseconds, 28 years: a feed that is slower stands still, whatever its speed.
    private static let longest = 9e17

    /// Nanoseconds to wait until `moment` is due; 0 or less when it is.
    mutating func wait(until moment: FeedTime, now: Int64) -> Int64 {
        guard case .times(let factor) = speed else { return 0 }
        guard let last, from.map({ moment > $0 }) ?? true else {
            self.last = moment
            lastDue = now
            return 0
        }
        if moment > last {
            let gap = min(moment - last, gapMax)
            let wait = min(Double(gap.milliseconds) * 1e6 / factor, Pace.longest)
            lastDue = min(lastDue, now + Int64(Pace.longest)) + Int64(wait)
            self.last = moment
        }
        return lastDue - now
    }
}
