/// Report that the followers of a topic have its version, so that a restart need not send it to them once more.
package struct TopicCompletion: Sendable {
    /// Names the topic and the version.
    package let publication: Publication
    /// All joiners before this log time have the version, except `exceptions`.
    package let before: FeedTime
    package let exceptions: [ActivityMark]
    /// Is `true` for the sake of joiners of a shard: other shards may have reported an earlier time last.
    package let isForJoiners: Bool

    /// Greatest number of exceptions. A version that more followers lack is not complete.
    package static let exceptionsMax = 256

    package init(
        _ publication: Publication, before: FeedTime, except exceptions: [ActivityMark] = [], isForJoiners: Bool = false
    ) {
        self.publication = publication
        self.before = before
        self.exceptions = exceptions
        self.isForJoiners = isForJoiners
    }
}
