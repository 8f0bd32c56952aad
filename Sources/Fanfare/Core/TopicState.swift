import FanfareDecisions
public import FanfareModel

/// State of a topic at the moment at which the core answered.
public struct TopicState: Sendable, Hashable {
    /// Kind, which determines the topic's rules.
    public let kind: TopicKind
    /// Version of the newest content state; 0 before the first.
    public let version: UInt32
    /// Is `true` if the newest content state is the topic's last.
    public let isEnded: Bool
    /// Newest content state that went to the fan-out, without redacted fields; `nil` before the first.
    public let contentState: JSONObject?

    /// Creates a state for a program's tests; the engine creates its own.
    public init(kind: TopicKind, version: UInt32, isEnded: Bool, contentState: JSONObject?) {
        self.kind = kind
        self.version = version
        self.isEnded = isEnded
        self.contentState = contentState
    }

    init(_ topic: TopicView) {
        self.init(kind: topic.kind, version: topic.version, isEnded: topic.ended, contentState: topic.published)
    }
}
