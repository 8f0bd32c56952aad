/// Log time of an engine that runs live: what its decisions wait by.
///
/// It goes with the monotonic clock, whatever the wall clock does: an interval of two seconds lasts two seconds, and a step of eight
/// hours is not eight hours in which nothing happened. Where it lies behind the wall it goes a sixteenth faster, where it lies ahead a
/// sixteenth more slowly, until the two agree again. It never goes back.
package struct LogClock: Sendable {
    // Nanoseconds: Unix time, and from the monotonic clock's start.
    private var log: Int64
    private var at: Int64

    /// Begins with the wall.
    package init(at moment: Moment) {
        log = ClockBounds.wall(moment.wallMilliseconds)
        at = moment.monotonicNanoseconds
    }

    package var now: FeedTime { FeedTime(milliseconds: log / 1_000_000) }

    /// - Parameter moment: as `WallEstimate` believes it.
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

    /// What waits a minute waits four seconds more or less then, and an hour's difference is gone after sixteen. Nobody is in a hurry:
    /// an event's own time is compared with the wall as well (`DecisionCore.apply`).
    private static let share: Int64 = 16
}
