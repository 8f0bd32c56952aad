public import FanfareModel

/// What the feed event of a content state says beside the state:
///
/// ```swift
/// _ = try await engine.publish(ride, for: TopicID("ride/17"), as: StateEvent(lifecycle: .end))
/// ```
public struct StateEvent: Sendable, Hashable {
    /// The topic's kind, on its first event; without a kind everything is visible and nothing is folded.
    public var topicKind: TopicKind?
    /// Time by the program's clock; `nil`: now. The topic drops a state older than the newest as `late`.
    public var at: FeedTime?
    /// Makes it safe to hand in the state again, as after a crash: the topic takes it once, with one alert.
    public var id: String?
    /// `.start` begins the topic; `.end` makes this the last state.
    public var lifecycle: FeedEvent.Lifecycle?
    /// Request for attention. The topic's budget may demote it; the decision record says so. The record also says if the state has more bytes than the
    /// topic's rules allow.
    public var alert: AlertText?

    /// Creates an event of the present time that says nothing beside the state, unless arguments say more.
    public init(
        topicKind: TopicKind? = nil, at: FeedTime? = nil, id: String? = nil, lifecycle: FeedEvent.Lifecycle? = nil,
        alert: AlertText? = nil
    ) {
        self.topicKind = topicKind
        self.at = at
        self.id = id
        self.lifecycle = lifecycle
        self.alert = alert
    }
}
