import FanfareModel

/// The true time of a season, and what an engine makes of it by a machine's clock, which is wrong now and then.
struct SeasonClock {
    private(set) var now: SeasonTime
    private var estimate: WallEstimate
    private(set) var moment: Moment

    init(at now: SeasonTime) {
        self.now = now
        var estimate = WallEstimate(
            wallMilliseconds: now.unixMilliseconds, monotonicNanoseconds: now.milliseconds * 1_000_000)
        moment = estimate.read(
            wallMilliseconds: now.unixMilliseconds, monotonicNanoseconds: now.milliseconds * 1_000_000)
        self.estimate = estimate
    }

    /// Log time, which follows the monotonic clock.
    var log: FeedTime { FeedTime(milliseconds: now.unixMilliseconds) }

    /// Passes to a later time, and reads the machine's clock.
    mutating func pass(to next: SeasonTime) {
        now = max(now + .milliseconds(1), next)
        let wall = now + Troubles.clockError(at: now)
        moment = estimate.read(
            wallMilliseconds: wall.unixMilliseconds, monotonicNanoseconds: now.milliseconds * 1_000_000)
    }
}
