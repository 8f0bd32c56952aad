public import FanfareFanOut
public import FanfareModel

/// Questions to the engine, each in two forms. One form waits for the answer; the other returns at once and calls a closure on the core
/// thread.
///
/// The waiting form throws `EngineError.stopped` if the engine stops before it has taken the question, and `.cancelled` if the task is
/// cancelled. The engine answers every question that it has taken in the closure form, even if it stops.
extension Engine {
    /// Returns the figures over all shards, at most a tenth of a second old.
    ///
    /// - Throws: `.stopped` or `.cancelled`.
    /// - Complexity: O(s) on the core thread, s being the shards of all apps.
    public func counts() async throws(EngineError) -> ShardCounts { try await ask { .counts($0) } }

    /// Passes the figures over all shards, at most a tenth of a second old, to a closure on the core thread.
    ///
    /// - Complexity: O(s) on the core thread, s being the shards of all apps.
    public func counts(_ answer: @escaping @Sendable (ShardCounts) -> Void) -> Admission { post(.counts(answer)) }

    /// Returns the delay of updates on their way to people, over all shards, by topic kind; the figures are at most a tenth of a second old.
    ///
    /// - Throws: `.stopped` or `.cancelled`.
    /// - Complexity: O(s · k) on the core thread, s being the shards of all apps and k the topic kinds that were pushed.
    public func freshness() async throws(EngineError) -> FreshnessReport { try await ask { .freshness($0) } }

    /// Passes the delay of updates on their way to people, at most a tenth of a second old, to a closure on the core thread.
    ///
    /// - Complexity: O(s · k) on the core thread, s being the shards of all apps and k the topic kinds that were pushed.
    public func freshness(_ answer: @escaping @Sendable (FreshnessReport) -> Void) -> Admission {
        post(.freshness(answer))
    }

    /// Returns a topic's state, after the core has decided all events from before the call. The answer costs the core a copy of the state.
    ///
    /// - Returns: the state; `nil` if the engine has heard nothing of the topic or has forgotten it since its end.
    /// - Throws: `.stopped` or `.cancelled`.
    /// - Complexity: O(n) on the core thread, n being the size of the topic's state.
    public func topicState(_ topic: TopicID) async throws(EngineError) -> TopicState? {
        try await ask { .topicState(topic, $0) }
    }

    /// Returns the outcome of an alert for one activity, so that the backend can suppress a notification of its own (rule A3). The engine knows the
    /// last eight alerts of the topic or lineup that the activity shows, from the moment at which the activity began to show it.
    ///
    /// A backend usually asks after a `DecisionRecord` with a granted alert, and once more later for the final outcome; the answer for an activity
    /// that has ended by then is `noActivity`. The engine keeps outcomes from the first question on, which costs eight bytes per activity.
    ///
    /// - Parameters:
    ///   - cause: `DecisionRecord.alertCause`.
    ///   - topic: topic that the alert belongs to.
    ///   - activity: the app's id of the Live Activity.
    ///   - subscriber: the install that shows the activity, and its app.
    /// - Throws: `.stopped`, also if the engine stops before it knows the outcome; `.cancelled`; `.refused` for an unknown app.
    /// - Complexity: O(1) in the activity's shard for an activity that shows a topic. The shard of a lineup first makes the lineup's newest version, as
    ///   for a push. The first question to a shard takes O(a), a being its activities.
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

    /// Passes the outcome of an alert for one activity to a closure on the core thread (rule A3). The engine keeps outcomes from the first
    /// question on.
    ///
    /// - Parameters:
    ///   - cause: `DecisionRecord.alertCause`.
    ///   - topic: topic that the alert belongs to.
    ///   - activity: the app's id of the Live Activity.
    ///   - subscriber: the install that shows the activity, and its app.
    ///   - answer: called with `nil` if the engine stops before it knows the outcome.
    /// - Complexity: O(1) in the activity's shard for an activity that shows a topic. The shard of a lineup first makes the lineup's newest version, as
    ///   for a push. The first question to a shard takes O(a), a being its activities.
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

    /// Waits for room and then for the answer.
    private func ask<Answer: Sendable>(
        _ question: (@escaping @Sendable (Answer) -> Void) -> CoreRequest
    ) async throws(EngineError) -> Answer {
        let reply = Reply<Answer>()
        _ = try await hand(in: question { reply.give($0) }, until: .never)
        guard let answer = await reply.value() else { throw .cancelled }
        return answer
    }
}

extension Engine {
    /// Returns what the store has, what waits for it, and how long its disk takes; `nil` without a store. Any thread, at any time, also after the
    /// engine has stopped.
    ///
    /// The call waits neither for the core nor for the disk, unlike the questions above: a question that a program asks behind an event waits until
    /// the event is durable, and gets no answer while the disk takes nothing.
    ///
    /// - Complexity: O(1).
    public func storeCounts() -> StoreCounts? { core.meters?.counts(changesWaiting: core.inbox.changesWaiting) }
}
