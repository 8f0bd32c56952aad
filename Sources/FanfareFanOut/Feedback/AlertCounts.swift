/// Alerts by outcome. Each pair of alert and activity is counted once, when the push that settled it has been answered. `unclaimed` is no outcome.
public struct AlertCounts: Sendable, Equatable {
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
    /// Alerts that left without a claim, because the store had not answered for two seconds. A crash before its answer may repeat them. They are
    /// counted when their push leaves, once for each push, and by their outcome as well.
    public var unclaimed: Int
}

// The initialiser is in an extension, so that the memberwise one remains, and no count has a default value: without a value for a new count,
// neither zero nor a sum compiles.

extension AlertCounts {
    /// Creates counts of zero.
    public init() {
        self.init(
            accepted: 0, superseded: 0, revoked: 0, stale: 0, uncertain: 0, refused: 0, silenced: 0, limited: 0,
            unclaimed: 0)
    }

    static func + (a: AlertCounts, b: AlertCounts) -> AlertCounts {
        func sum(_ count: (AlertCounts) -> Int) -> Int { count(a) + count(b) }
        return AlertCounts(
            accepted: sum(\.accepted), superseded: sum(\.superseded), revoked: sum(\.revoked),
            stale: sum(\.stale), uncertain: sum(\.uncertain), refused: sum(\.refused),
            silenced: sum(\.silenced), limited: sum(\.limited), unclaimed: sum(\.unclaimed))
    }
}
