/// Log time of a live engine, by which its decisions wait.
///
/// It follows the monotonic clock, whatever the wall clock does: an interval of two seconds lasts two seconds, and a step of eight
/// hours is not eight hours of silence. It runs a sixteenth faster while it is behind the wall clock, and a sixteenth slower while
/// it is ahead, until both agree again. It never goes back.
package struct LogClock: Sendable {
    /// Unix nanoseconds.
    private var log: Int64
    private var at: MonotonicTime

    /// Creates a clock that goes on with the log time of an earlier run. It begins at the wall clock's time, but not before that log time,
    /// and at most 30 s after it: neither a long pause nor a wrong clock is hours of silence of all feeds.
    package init(at moment: Moment, continuing latest: FeedTime) {
        self.init(at: moment)
        let latest = ClockBounds.wall(latest.milliseconds)
        log = min(max(ClockBounds.wall(moment.wallMilliseconds), latest), latest + LogClock.stepMax)
    }

    private static let stepMax: Int64 = 30_000_000_000

    /// Beginning of log time if the wall clock shows a time that no event may have: no timer would ever fire then. The year 2026, because
    /// log time never goes back.
    private static let unknown: Int64 = 1_767_225_600_000_000_000
    private static let latest = FeedTime.plausible.upperBound.milliseconds * 1_000_000 - 1

    /// Creates a clock that starts at the wall clock's time.
    package init(at moment: Moment) {
        let wall = ClockBounds.wall(moment.wallMilliseconds)
        log = wall <= LogClock.latest ? wall : LogClock.unknown
        at = moment.monotonic
    }

    package var now: FeedTime { FeedTime(milliseconds: log / 1_000_000) }

    /// - Parameter moment: the clocks, as `WallEstimate` believes them.
    /// - Returns: log time at that moment.
    package mutating func advance(to moment: Moment) -> FeedTime {
        let elapsed = ClockBounds.elapsed(from: at, to: moment.monotonic)
        let wall = ClockBounds.wall(moment.wallMilliseconds)
        at = max(at, moment.monotonic)
        let adjustment = elapsed / LogClock.share
        let next =
            wall > log + elapsed
            ? min(wall, log + elapsed + adjustment) : max(wall, log + elapsed - adjustment)
        log = min(next, LogClock.latest)
        return now
    }

    /// Divisor of the correction. While it lasts, a wait of a minute is up to four seconds off; a difference of an hour takes
    /// sixteen hours. Nothing needs it faster, because `DecisionCore.apply` compares an event's time with the wall clock as well.
    private static let share: Int64 = 16
}
