package import FanfareModel

/// Snapshot of a topic.
package struct TopicView: Sendable {
    package let id: TopicID
    /// Birth number of the topic, which counts up over all topics; an id that is used again has a new one.
    package let birth: UInt64
    package let kind: TopicKind
    /// Version of the last publication; 0 before the first.
    package let version: UInt32
    package let ended: Bool
    /// Content state as phones would get it, from all facts and patches, also those after the end.
    package let state: JSONObject
    /// Content state of the last publication.
    package let published: JSONObject?
    /// Short forms of `published`.
    package let short: ShortForms?

    init(_ topic: Topic) {
        id = topic.id
        birth = topic.birth
        kind = topic.kind
        version = topic.shown.version
        ended = topic.shown.ended
        state = topic.fold.withShortForms(topic.fold.state)
        published = topic.shown.state.map(topic.fold.withShortForms)
        short = topic.shown.state.map(topic.fold.shortForms)
    }
}
