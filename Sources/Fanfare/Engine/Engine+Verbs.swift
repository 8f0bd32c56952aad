public import FanfareModel

/// Verbs: each verb sends the `Command` of its name, waits for room and returns a receipt. A verb waits only while the mailbox is full, which is rare.
/// A verb of an engine with a store also waits until the command is durable, except `confirmDeadTokens`.
///
/// Every verb throws `EngineError.stopped` if the engine stops before there is room, `.cancelled` if the task is cancelled before that, and
/// `.refused` for a command that the engine can never carry out. The engine has taken nothing if a verb throws, with one exception: with a store,
/// `.stopped` may also mean that the store took nothing in time.
///
/// A verb with an `IdempotencyKey` waits for the core in an engine without a store, too: its receipt says if it repeats another call. While more
/// calls with keys come than an engine remembers, such a verb may throw `.full`, and the first call of its key may have been taken.
extension Engine {
    /// Hands in a feed event: `Command.ingest(_:key:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for a key that another call has used.
    public func ingest(_ event: FeedEvent, key: IdempotencyKey? = nil) async throws(EngineError) -> Receipt {
        guard key != nil else { return try await hand(in: .event(event), until: .never) }
        return try await send(.ingest(event, key: key))
    }

    /// Gives an operator's order: `Command.order(_:for:id:key:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for an unknown app, and for a key that another call has used.
    public func order(
        _ operation: FeedEvent.Operation, for scope: Scope, id: String? = nil, key: IdempotencyKey? = nil
    ) async throws(EngineError) -> Receipt {
        try await send(.order(operation, for: scope, id: id, key: key))
    }

    /// Corrects the feed on an operator's behalf: `Command.correct(_:_:id:key:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for an operation, and for a key that another call has used.
    public func correct(
        _ topic: TopicID, _ change: FeedEvent.Change, id: String? = nil, key: IdempotencyKey? = nil
    ) async throws(EngineError) -> Receipt {
        try await send(.correct(topic, change, id: id, key: key))
    }

    /// Confirms that the tokens which APNs calls dead are dead: `Command.confirmDeadTokens`.
    ///
    /// - Throws: `.stopped` or `.cancelled`.
    public func confirmDeadTokens() async throws(EngineError) -> Receipt { try await send(.confirmDeadTokens) }

    /// Registers an activity that exists on a phone: `Command.follow(_:activity:subscriber:token:preferences:startedAt:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for an invalid token, topic or lineup, and for an unknown app.
    public func follow(
        _ audience: AudienceKey, activity: ActivityID, subscriber: SubscriberID, token: [UInt8],
        preferences: Preferences? = nil, startedAt: FeedTime? = nil
    ) async throws(EngineError) -> Receipt {
        try await send(
            .follow(
                audience, activity: activity, subscriber: subscriber, token: token, preferences: preferences,
                startedAt: startedAt))
    }

    /// Makes a known activity show another topic or lineup: `Command.move(activity:subscriber:to:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for an invalid topic or lineup, and for an unknown app.
    public func move(
        activity: ActivityID, subscriber: SubscriberID, to audience: AudienceKey
    ) async throws(EngineError) -> Receipt {
        try await send(.move(activity: activity, subscriber: subscriber, to: audience))
    }

    /// Replaces the token of a known activity: `Command.replaceToken(activity:subscriber:with:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for an invalid token, and for an unknown app.
    public func replaceToken(
        activity: ActivityID, subscriber: SubscriberID, with token: [UInt8]
    ) async throws(EngineError) -> Receipt {
        try await send(.replaceToken(activity: activity, subscriber: subscriber, with: token))
    }

    /// Reports the update token of an activity that a push has started: `Command.confirmStart(activity:subscriber:token:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for an invalid token, and for an unknown app.
    public func confirmStart(
        activity: ActivityID, subscriber: SubscriberID, token: [UInt8]
    ) async throws(EngineError) -> Receipt {
        try await send(.confirmStart(activity: activity, subscriber: subscriber, token: token))
    }

    /// Sets a person's preferences for an activity: `Command.setPreferences(_:activity:subscriber:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for an unknown app.
    public func setPreferences(
        _ preferences: Preferences, activity: ActivityID, subscriber: SubscriberID
    ) async throws(EngineError) -> Receipt {
        try await send(.setPreferences(preferences, activity: activity, subscriber: subscriber))
    }

    /// Starts an activity on a phone by a push: `Command.start(_:_:subscriber:key:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for an invalid token, topic or lineup, for an unknown app, and for a key that another call has
    ///   used.
    public func start(
        _ audience: AudienceKey, _ request: StartRequest, subscriber: SubscriberID, key: IdempotencyKey? = nil
    ) async throws(EngineError) -> Receipt {
        try await send(.start(audience, request, subscriber: subscriber, key: key))
    }

    /// Ends an activity for one subscriber: `Command.unfollow(activity:subscriber:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for an unknown app.
    public func unfollow(activity: ActivityID, subscriber: SubscriberID) async throws(EngineError) -> Receipt {
        try await send(.unfollow(activity: activity, subscriber: subscriber))
    }

    /// Ends activities of one subscriber or of many, as when people turn Live Activities off in Settings: each activity gets one last end, in case
    /// the report was wrong, and nothing after that. A start that has not left never leaves.
    ///
    /// - Parameter cards: for each subscriber the ids of the activities that the backend has registered, or started.
    /// - Returns: a receipt for each activity, in the order in which the engine took the unfollows; none if there are no activities. The call waits for
    ///   the store once: if the last receipt says `durable`, all unfollows are in the store, although the receipts before it say `prompt`.
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for an unknown app, and then the call has ended no activity. A program may repeat the call after
    ///   another error, because an unfollow of an ended activity does nothing.
    /// - Complexity: O(n), n being the activities, and one wait for the store.
    public func unfollow(_ cards: [SubscriberID: [ActivityID]]) async throws(EngineError) -> [Receipt] {
        var requests: [CoreRequest] = []
        for (subscriber, activities) in cards {
            for activity in activities {
                requests.append(try request(for: .unfollow(activity: activity, subscriber: subscriber)).get())
            }
        }
        guard let last = requests.popLast() else { return [] }
        var receipts: [Receipt] = []
        receipts.reserveCapacity(requests.count + 1)
        // Only the last call waits for the store, because commands become durable in their order.
        for request in requests { receipts.append(try await queue(request, until: .never)) }
        receipts.append(try await hand(in: last, until: .never))
        return receipts
    }
}
