/// Report that the followers of a topic, or its lineups, have its version, so that a restart need not send it to them once more.
package struct TopicCompletion: Sendable {
    /// Names the topic and the version.
    package let publication: Publication
    package let scope: CompletionScope
    /// All joiners before this log time have the version, except `exceptions`.
    package let before: FeedTime
    package let exceptions: [ActivityMark]
    /// Is `true` for the sake of joiners of a shard: other shards may have reported an earlier time last.
    package let isForJoiners: Bool
    /// Is `true` if earlier reports of the version are void, so that a restart sends it once more: the report speaks of nobody.
    package let isVoid: Bool

    /// Greatest number of exceptions. A version that more followers lack is not complete.
    package static let exceptionsMax = 256

    /// Is `true` if the core is to ask shards that have not reported as much. A shard without lineups of the topic reports nothing of lineups by
    /// itself.
    package var asksOthers: Bool { !isVoid && (isForJoiners || scope == .lineups) }

    package init(
        _ publication: Publication, of scope: CompletionScope = .followers, before: FeedTime,
        except exceptions: [ActivityMark] = [], isForJoiners: Bool = false
    ) {
        self.publication = publication
        self.scope = scope
        self.before = before
        self.exceptions = exceptions
        self.isForJoiners = isForJoiners
        isVoid = false
    }

    /// Makes the report that earlier ones of the version are void.
    package init(voiding publication: Publication, of scope: CompletionScope) {
        self.publication = publication
        self.scope = scope
        before = FeedTime(milliseconds: 0)
        exceptions = []
        isForJoiners = false
        isVoid = true
    }
}
