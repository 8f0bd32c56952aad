/// Pushes and alerts, counted since the start. `Engine.counts` returns the sum over all shards and apps.
public struct ShardCounts: Sendable, Equatable {
    /// Requests to APNs by outcome; a push that is sent again counts again.
    public struct Pushes: Sendable, Equatable {
        /// Pushes handed to the transport.
        public var sent: Int
        /// Pushes answered with 200. APNs does not report whether a phone has shown them.
        public var accepted: Int
        /// Pushes whose token APNs called dead, and whose activity was removed.
        public var dead: Int
        /// Pushes whose token APNs called dead while too many tokens were; the engine keeps their activities, which get the newest state later.
        public var held: Int
        /// Pushes that the service refused for the time being, for example with 429; the activities get the newest state later.
        public var throttled: Int
        /// Pushes refused for good, which indicates a bug of Fanfare; their activities lack the content until they get a newer state.
        public var failed: Int
        /// Pushes without an answer. The engine sends the state again, but neither an alert nor a start.
        public var uncertain: Int
        /// Pushes that APNs has certainly not processed; the engine sends them again.
        public var notProcessed: Int
        /// Pushes sent at priority 5 although their topics request 10, because the activity's budget was spent.
        public var downgradedToLowPriority: Int
    }

    /// Alerts by outcome. Each pair of alert and activity is counted once, when the push that settled it has been answered.
    public struct Alerts: Sendable, Equatable {
        /// Alerts accepted by the service with the push that carried them.
        public var accepted: Int
        /// Alerts that the engine does not send, because it has sent or keeps a newer one of the same or a higher class.
        public var superseded: Int
        /// Alerts whose cause was withdrawn before they left.
        public var revoked: Int
        /// Alerts older than their rule's `freshFor` by the time of the activity's push.
        public var stale: Int
        /// Alerts whose push got no answer; the engine does not send them again.
        public var uncertain: Int
        /// Alerts whose push was refused for good.
        public var refused: Int
        /// Alerts left out because of the person's mask or quiet hours; the update left silently.
        public var silenced: Int
        /// Alerts left out because the activity had reached its limits; the update left silently.
        public var limited: Int
    }

    /// Lineups at the moment of counting.
    public struct Lineups: Sendable, Equatable {
        /// Activities that show a lineup.
        public var activities: Int
        /// Distinct lineups of these activities, added up over the shards: the activities of one shard with the same lineup share an audience.
        public var distinct: Int
    }

    /// Requests to APNs by outcome.
    public var pushes: Pushes
    /// Alerts by outcome.
    public var alerts: Alerts
    /// Number of activities known now.
    public var activities: Int
    /// Number of activities that show lineups, and of the different lineups that they show.
    public var lineups: Lineups
    /// Number of activities without an update token: a push has started or will start them, and the app has not reported the token.
    public var tokenless: Int
    /// Number of activities to which a state is still to be delivered; its push may be in flight. An upper bound while lineups lack news: an activity
    /// that lacks news of several topics may count once for each of them.
    public var owed: Int
    /// Number of activities whose newest state APNs refused for good: they show an older state until a newer one is sent.
    public var refused: Int
    /// Figures of the shard's transport; all zero if it has no connections.
    public var transport: TransportFigures
}

// The initialisers are in extensions, so that the memberwise ones remain, and no count has a default value: without a value for a new count, neither
// zero nor a sum compiles.

extension ShardCounts {
    /// Creates counts of zero.
    public init() {
        self.init(
            pushes: Pushes(), alerts: Alerts(), activities: 0, lineups: Lineups(), tokenless: 0, owed: 0, refused: 0,
            transport: TransportFigures())
    }

    package static func + (a: ShardCounts, b: ShardCounts) -> ShardCounts {
        func sum(_ count: (ShardCounts) -> Int) -> Int { count(a) + count(b) }
        return ShardCounts(
            pushes: a.pushes + b.pushes, alerts: a.alerts + b.alerts, activities: sum(\.activities),
            lineups: a.lineups + b.lineups, tokenless: sum(\.tokenless), owed: sum(\.owed),
            refused: sum(\.refused), transport: a.transport + b.transport)
    }
}

extension ShardCounts.Pushes {
    /// Creates counts of zero.
    public init() {
        self.init(
            sent: 0, accepted: 0, dead: 0, held: 0, throttled: 0, failed: 0, uncertain: 0, notProcessed: 0,
            downgradedToLowPriority: 0)
    }

    fileprivate static func + (a: ShardCounts.Pushes, b: ShardCounts.Pushes) -> ShardCounts.Pushes {
        func sum(_ count: (ShardCounts.Pushes) -> Int) -> Int { count(a) + count(b) }
        return ShardCounts.Pushes(
            sent: sum(\.sent), accepted: sum(\.accepted), dead: sum(\.dead), held: sum(\.held),
            throttled: sum(\.throttled), failed: sum(\.failed), uncertain: sum(\.uncertain),
            notProcessed: sum(\.notProcessed),
            downgradedToLowPriority: sum(\.downgradedToLowPriority))
    }
}

extension ShardCounts.Alerts {
    /// Creates counts of zero.
    public init() {
        self.init(
            accepted: 0, superseded: 0, revoked: 0, stale: 0, uncertain: 0, refused: 0, silenced: 0, limited: 0)
    }

    fileprivate static func + (a: ShardCounts.Alerts, b: ShardCounts.Alerts) -> ShardCounts.Alerts {
        func sum(_ count: (ShardCounts.Alerts) -> Int) -> Int { count(a) + count(b) }
        return ShardCounts.Alerts(
            accepted: sum(\.accepted), superseded: sum(\.superseded), revoked: sum(\.revoked),
            stale: sum(\.stale), uncertain: sum(\.uncertain), refused: sum(\.refused),
            silenced: sum(\.silenced), limited: sum(\.limited))
    }
}

extension ShardCounts.Lineups {
    /// Creates counts of zero.
    public init() { self.init(activities: 0, distinct: 0) }

    fileprivate static func + (a: ShardCounts.Lineups, b: ShardCounts.Lineups) -> ShardCounts.Lineups {
        func sum(_ count: (ShardCounts.Lineups) -> Int) -> Int { count(a) + count(b) }
        return ShardCounts.Lineups(activities: sum(\.activities), distinct: sum(\.distinct))
    }
}
