/// Note that alerts of a topic are about to leave for some activities. It is durable before the first of them leaves. After a crash the named
/// activities are alerted no more, and all others still are.
package struct AlertClaim: Sendable, Hashable {
    package let topic: TopicID
    /// The newest alert that may leave was granted at this log time.
    package let through: FeedTime
    /// Age up to which an alert goes on after a crash, however long it would be fresh.
    package static let ageMax = Duration.seconds(600)

    /// Log time from which on no alert of the claim goes on.
    package let expires: FeedTime
    /// Activities that the claim names; none: all that follow the topic.
    package let activities: [ActivityMark]

    package init(topic: TopicID, through: FeedTime, expires: FeedTime, activities: [ActivityMark]) {
        self.topic = topic
        self.through = through
        self.expires = expires
        self.activities = activities
    }
}
