import FanfareFanOut

/// A look at an engine while it runs.
struct EngineLook {
    var now: Int64
    var events: Int
    var counts: ShardCounts
    var freshness: FreshnessReport
    var commandsWaiting: Int
    var arrivalsWaiting: Int
    /// Updates and alerts of the decisions that were not sent, so far.
    var suppressed: [Count] = []
}
