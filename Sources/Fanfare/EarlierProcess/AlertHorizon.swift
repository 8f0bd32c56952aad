import FanfareModel

/// Bounds on the alerts of an earlier process that go on to activities that they have not reached.
package struct AlertHorizon {
    /// Log time since when all alerts have left with claims.
    let since: FeedTime
    /// Log time of the last entry.
    let now: FeedTime
    /// Wall clock, asked once the log has been read.
    let wall: () -> FeedTime
}
