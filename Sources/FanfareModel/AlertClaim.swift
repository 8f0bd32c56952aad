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

/// Name of a start in four bytes, the same in every process: of the activity and the number of its first request.
package struct StartMark: Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// - Parameter number: `StartRequest.number` of the first request.
    package init(_ activity: ActivityMark, number: UInt32) {
        rawValue = UInt32(truncatingIfNeeded: (UInt64(activity.rawValue) << 32 | UInt64(number)).mixed >> 32)
    }
}

/// Name of an activity in four bytes, the same in every process. Of a million activities some two hundred share theirs with another one;
/// for two that do, one's claim counts for both.
package struct ActivityMark: Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    init(of bytes: some Sequence<UInt8>) { rawValue = UInt32(truncatingIfNeeded: bytes.fnv1a.mixed >> 32) }

    /// - Parameter token: names an activity whose id was made from bits.
    package init(_ id: ActivityID, token: [UInt8]) { self = id.mark ?? ActivityMark(of: token) }
}
