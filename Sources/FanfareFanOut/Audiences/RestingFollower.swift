import FanfareModel

/// The state of an audience at rest that is a topic's only follower (`RestingFollowers`).
struct RestingFollower {
    let topic: TopicIndex
    let member: ActivitySlot
    /// Number of the newest version, whose content is the topic's latest publication; 0 before the first.
    let number: UInt32
    /// Index of the kind's figures in the shard's `FreshnessTable`.
    let freshness: UInt8
    /// The audience's alerts; `nil` if there have been none, as in most such topics.
    let alerts: Alerts?

    /// The alerts of an audience at rest.
    final class Alerts {
        let history: AlertHistory
        init(_ history: AlertHistory) { self.history = history }
    }
}
