import FanfareModel

/// What a world knows of the alerts of its topics, in all lives of the engine.
struct KnownAlerts {
    /// Alerts that were granted while the app was muted.
    var withheld: Set<String> = []
    /// Alerts from before lives that began with the app muted.
    var passedOver: Set<String> = []
    /// Time of the event of each alert.
    var happenedAt: [String: FeedTime] = [:]
    /// Alerts that were granted: topic, and log time.
    var granted: [String: (topic: TopicID, at: FeedTime)] = [:]
}
