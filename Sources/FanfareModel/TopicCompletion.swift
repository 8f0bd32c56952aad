/// Report that the followers of a topic have its version, so that a restart need not send it to them once more.
package struct TopicCompletion: Sendable {
    /// Names the topic and the version.
    package let publication: Publication
    /// All that joined before this log time have the version, except `exceptions`.
    package let before: FeedTime
    package let exceptions: [ActivityMark]

    /// Greatest number of exceptions. If more lack the version, it is not complete.
    package static let exceptionsMax = 256

    package init(_ publication: Publication, before: FeedTime, except exceptions: [ActivityMark] = []) {
        self.publication = publication
        self.before = before
        self.exceptions = exceptions
    }
}
