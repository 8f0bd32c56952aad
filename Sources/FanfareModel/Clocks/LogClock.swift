/// Log time of a live engine, by which its decisions wait.
///
/// It follows the monotonic clock, whatever the wall clock does: an interval of two seconds lasts two seconds, and a step of eight
/// hours is not eight hours of silence. It runs a sixteenth faster while it is behind the wall clock, and a sixteenth slower while
/// it is ahead, until both agree again. It never goes back.
package struct LogClock: Sendable {
    // Both in nanoseconds: Unix time, and time from the monotonic clock's start.
    private var log: Int64
    private var at: Int64

    /// Creates a clock that starts at the wall clock's time, or at a later one.
    ///
    /// - Parameter earliest: log time of an earlier run. The wall clock may have been set back since, and log time never goes back.
    package init(at moment: Moment, notBefore earliest: FeedTime? = nil) {
        log = max(ClockBounds.wall(moment.wallMilliseconds), earliest.map { ClockBounds.wall($0.milliseconds) } ?? .min)
        at = moment.monotonicNanoseconds
    }

    package var now: FeedTime { FeedTime(milliseconds: log / 1_000_000) }

    /// - Parameter moment: the clocks, as `WallEstimate` believes them.
    /// - Returns: log time at that moment.
    package mutating func advance(to moment: Moment) -> FeedTime {
        let elapsed = ClockBounds.elapsed(from: at, to: moment.monotonicNanoseconds)
        let wall = ClockBounds.wall(moment.wallMilliseconds)
        at = max(at, moment.monotonicNanoseconds)
        let adjustment = elapsed / LogClock.share
        let next =
            wall > log + elapsed
            ? min(wall, log + elapsed + adjustment) : max(wall, log + elapsed - adjustment)
        log = min(next, ClockBounds.latest)
        return now
    }

    /// Divisor of the correction. While it lasts, a wait of a minute is up to four seconds off; a difference of an hour takes
    /// sixteen hours. Nothing needs it faster, because `DecisionCore.apply` compares an event's time with the wall clock as well.
    private static let share: Int64 = 16
}
