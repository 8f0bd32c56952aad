/// Pushes and alerts, counted since the start. `Engine.counts` returns the sum over all shards and apps.
public struct ShardCounts: Sendable, Equatable {
    /// Requests to APNs by outcome.
    public var pushes: PushCounts
    /// Alerts by outcome.
    public var alerts: AlertCounts
    /// Number of activities known now.
    public var activities: Int
    /// Number of activities that show lineups, and of the different lineups that they show.
    public var lineups: LineupCounts
    /// Number of activities without an update token: a push has started or will start them, and the app has not reported the token.
    public var tokenless: Int
    /// Number of activities to which a state is still to be delivered; its push may be in flight. An upper bound while lineups lack news: an activity
    /// that lacks news of several topics may count once for each of them.
    public var owed: Int
    /// Number of activities whose newest state APNs refused for good: they show an older state until a newer one is sent.
    public var refusedStates: Int
    /// Figures of the shard's transport; all zero if it has no connections.
    public var transport: TransportFigures
}

// The initialiser is in an extension, so that the memberwise one remains, and no count has a default value: without a value for a new count,
// neither zero nor a sum compiles.

extension ShardCounts {
    /// Creates counts of zero.
    public init() {
        self.init(
            pushes: PushCounts(), alerts: AlertCounts(), activities: 0, lineups: LineupCounts(), tokenless: 0, owed: 0,
            refusedStates: 0, transport: TransportFigures())
    }

    package static func + (a: ShardCounts, b: ShardCounts) -> ShardCounts {
        func sum(_ count: (ShardCounts) -> Int) -> Int { count(a) + count(b) }
        return ShardCounts(
            pushes: a.pushes + b.pushes, alerts: a.alerts + b.alerts, activities: sum(\.activities),
            lineups: a.lineups + b.lineups, tokenless: sum(\.tokenless), owed: sum(\.owed),
            refusedStates: sum(\.refusedStates), transport: a.transport + b.transport)
    }
}
