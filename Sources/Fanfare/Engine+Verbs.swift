public import FanfareModel

/// Each verb is a `Command` of the same name, sent: it waits for room and gives a receipt. Only a full mailbox makes it wait, so mostly it
/// does not.
///
/// All of them throw `EngineError.stopped` when the engine stops before there is room, `.cancelled` when the task is cancelled before, and
/// `.refused` for what can never be carried out; nothing was taken then.
extension Engine {
    /// A feed event, `Command.ingest(_:)`.
    public func ingest(_ event: FeedEvent) async throws(EngineError) -> Receipt {
        try await hand(in: .event(event), until: .max)
    }

    /// An operator steps in, `Command.order(_:for:)`.
    public func order(_ operation: FeedEvent.Operation, for scope: Scope) async throws(EngineError) -> Receipt {
        try await send(.order(operation, for: scope))
    }

    /// An operator puts the feed right, `Command.correct(_:_:)`.
    public func correct(_ topic: TopicID, _ change: FeedEvent.Change) async throws(EngineError) -> Receipt {
        try await send(.correct(topic, change))
    }

    /// Tokens that were answered as dead did die, `Command.trustDeadAnswers`.
    public func trustDeadAnswers() async throws(EngineError) -> Receipt { try await send(.trustDeadAnswers) }

    /// An activity exists on a phone, `Command.follow(_:activity:subscriber:token:preferences:startedAt:)`.
    public func follow(
        _ audience: AudienceKey, activity: ActivityID, subscriber: SubscriberID, token: [UInt8],
        preferences: Preferences? = nil, startedAt: FeedTime? = nil
    ) async throws(EngineError) -> Receipt {
        try await send(
            .follow(
                audience, activity: activity, subscriber: subscriber, token: token, preferences: preferences,
                startedAt: startedAt))
    }

    /// A known activity shows something else, `Command.move(activity:subscriber:to:)`.
    public func move(
        activity: ActivityID, subscriber: SubscriberID, to audience: AudienceKey
    ) async throws(EngineError) -> Receipt {
        try await send(.move(activity: activity, subscriber: subscriber, to: audience))
    }

    /// A known activity has another token, `Command.replaceToken(activity:subscriber:with:)`.
    public func replaceToken(
        activity: ActivityID, subscriber: SubscriberID, with token: [UInt8]
    ) async throws(EngineError) -> Receipt {
        try await send(.replaceToken(activity: activity, subscriber: subscriber, with: token))
    }

    /// A started activity has reported its token, `Command.confirmStart(activity:subscriber:token:)`.
    public func confirmStart(
        activity: ActivityID, subscriber: SubscriberID, token: [UInt8]
    ) async throws(EngineError) -> Receipt {
        try await send(.confirmStart(activity: activity, subscriber: subscriber, token: token))
    }

    /// A person has chosen, `Command.prefer(_:activity:subscriber:)`.
    public func prefer(
        _ preferences: Preferences, activity: ActivityID, subscriber: SubscriberID
    ) async throws(EngineError) -> Receipt {
        try await send(.prefer(preferences, activity: activity, subscriber: subscriber))
    }

    /// An activity is to appear by a push, `Command.start(_:_:subscriber:)`.
    public func start(
        _ audience: AudienceKey, _ request: StartRequest, subscriber: SubscriberID
    ) async throws(EngineError) -> Receipt {
        try await send(.start(audience, request, subscriber: subscriber))
    }

    /// An activity is to end, `Command.unfollow(activity:subscriber:)`.
    public func unfollow(activity: ActivityID, subscriber: SubscriberID) async throws(EngineError) -> Receipt {
        try await send(.unfollow(activity: activity, subscriber: subscriber))
    }
}
