import FanfareDecisions
public import FanfareModel

/// What a topic shows, as of the moment at which the core was asked.
public struct TopicState: Sendable, Hashable {
    /// Decides which rules the topic follows.
    public let kind: TopicKind
    /// Of the newest content state; 0 before the first.
    public let version: UInt32
    /// Whether the newest content state is the topic's last.
    public let isEnded: Bool
    /// The newest content state that went to the fan-out, without what is redacted; `nil` before the first.
    public let contentState: JSONObject?

    /// For programs that make up states, as tests do.
    public init(kind: TopicKind, version: UInt32, isEnded: Bool, contentState: JSONObject?) {
        self.kind = kind
        self.version = version
        self.isEnded = isEnded
        self.contentState = contentState
    }

    init(_ topic: DecisionCore.TopicView) {
        self.init(kind: topic.kind, version: topic.version, isEnded: topic.ended, contentState: topic.published)
    }
}
