public import FanfareFanOut
public import FanfareModel

/// Questions, each in two forms: one that waits for the answer, and one that calls back on the core thread and itself returns at once.
///
/// The first throws `EngineError.stopped` when the engine stops before it has taken the question, `.cancelled` when the task does not want
/// the answer any more. In the second a question that was taken is answered, also when the engine stops.
extension Engine {
    /// Figures over all shards, a tenth of a second old at most.
    public func counts() async throws(EngineError) -> ShardCounts { try await ask { .counts($0) } }

    /// The same for a closure.
    public func counts(_ answer: @escaping @Sendable (ShardCounts) -> Void) -> Admission { post(.counts(answer)) }

    /// How fresh people are kept, over all shards, by topic kind; a tenth of a second old at most.
    public func freshness() async throws(EngineError) -> FreshnessReport { try await ask { .freshness($0) } }

    /// The same for a closure.
    public func freshness(_ answer: @escaping @Sendable (FreshnessReport) -> Void) -> Admission {
        post(.freshness(answer))
    }

    /// What a topic shows once everything that was handed in before has been decided. The answer costs the core a copy of the state.
    ///
    /// - Returns: `nil` for a topic of which nothing was heard, or which was forgotten since its end.
    public func topicState(_ topic: TopicID) async throws(EngineError) -> TopicState? {
        try await ask { .topicState(topic, $0) }
    }

    /// What becomes of an alert for an activity, so that a notification of the backend's own can stay quiet (rule A3). Known of the
    /// last eight alerts of the topic or lineup that the activity shows, since it shows that.
    ///
    /// Ask when a `DecisionRecord` has told that an alert was granted, and again later for what has come of it: an activity that
    /// has ended meanwhile is `noActivity`. With the first question the engine begins to take notes: eight bytes per activity.
    ///
    /// - Parameters:
    ///   - cause: `DecisionRecord.alertCause`.
    ///   - topic: whose alert it is.
    ///   - activity: the app's id of the Live Activity.
    ///   - subscriber: the install that shows it, and its app.
    /// - Throws: `.stopped` also when the engine stops before it knows.
    public func alertDisposition(
        of cause: String, in topic: TopicID, activity: ActivityID, subscriber: SubscriberID
    ) async throws(EngineError) -> AlertDisposition {
        let index = try index(of: subscriber.app).get()
        let answer: AlertDisposition? = try await ask {
            .disposition(
                activity, subscriber: subscriber.key, app: index, cause: cause, topic, $0)
        }
        guard let answer else { throw .stopped }
        return answer
    }

    /// The same for a closure.
    ///
    /// - Parameters:
    ///   - cause: `DecisionRecord.alertCause`.
    ///   - topic: whose alert it is.
    ///   - activity: the app's id of the Live Activity.
    ///   - subscriber: the install that shows it, and its app.
    ///   - answer: given `nil` if the engine stops before it knows.
    public func alertDisposition(
        of cause: String, in topic: TopicID, activity: ActivityID, subscriber: SubscriberID,
        _ answer: @escaping @Sendable (AlertDisposition?) -> Void
    ) -> Admission {
        switch index(of: subscriber.app) {
        case .failure(let error):
            guard case .refused(let refusal) = error else { return .stopped }
            return .refused(refusal)
        case .success(let index):
            return post(
                .disposition(
                    activity, subscriber: subscriber.key, app: index, cause: cause, topic, answer))
        }
    }

    /// Waits for room, and for the answer.
    private func ask<Answer: Sendable>(
        _ question: (@escaping @Sendable (Answer) -> Void) -> CoreTurn.Request
    ) async throws(EngineError) -> Answer {
        let reply = Reply<Answer>()
        _ = try await hand(in: question { reply.give($0) }, until: .max)
        guard let answer = await reply.value() else { throw .cancelled }
        return answer
    }
}
