import FanfareFanOut
public import FanfareModel

extension Engine {
    /// Request that changes what the engine does. `offer(_:)` hands it in at once or not at all; `send(_:within:)` waits for room. The engine carries
    /// out commands in the order of their receipts, with one exception: an event in an engine with a store does not wait for the rows of all cards. A
    /// command for a card is carried out after the events before it, and before events that are handed in after its receipt says `durable`.
    ///
    /// A command is a value, so a program can keep it and hand it in again. The engine checks it when it is handed in, not when it is made.
    ///
    /// The engine carries out a command with an `IdempotencyKey` once within 24 hours of log time, however often a program hands it in, to this
    /// process or to the next one with the same store. It refuses a command with the same key and different content (`Refusal.Cause.key`); an offered
    /// command, which is answered before the engine knows, is reported to operators and not carried out. Calls for a card state a result and need no
    /// key, except `start`.
    public struct Command: Sendable {
        enum Body: Sendable {
            case event(FeedEvent)
            /// Event that happens when the core takes it.
            case happening(@Sendable (_ now: FeedTime) -> FeedEvent)
            case follow(Subscription, SubscriberID)
            case card(ShardCommand, SubscriberID)
            case confirmDeadTokens
            case refused(Refusal)
        }

        let body: Body
        /// App that the command concerns; `nil` stands for the first one.
        let app: AppID?
        let key: IdempotencyKey?

        init(_ body: Body, of app: AppID? = nil, key: IdempotencyKey? = nil) {
            self.body = body
            self.app = app
            self.key = key
        }
    }
}

// MARK: - Feeds and operators

extension Engine.Command {
    /// Hands in a feed event. The core decides it in its turn and reports the outcome in a `DecisionRecord`. An event with an `id` needs no key
    /// while its topic knows that id.
    public static func ingest(_ event: FeedEvent, key: IdempotencyKey? = nil) -> Self { Self(.event(event), key: key) }

    /// Gives an operator's order, which the decision log records like any event. An order for an app that the engine does not push to is refused. A
    /// program may hand in an order with an `id` or a `key` again, as after a crash: the engine takes it once. With a `key` the receipt reports the
    /// repetition (`Receipt.isRepeat`).
    public static func order(
        _ operation: FeedEvent.Operation, for scope: Scope, id: String? = nil, key: IdempotencyKey? = nil
    ) -> Self {
        let (topic, kind, app): (TopicID, TopicKind?, AppID?) =
            switch scope {
            case .topic(let topic): (topic, nil, nil)
            case .kind(let kind): (.every, kind, nil)
            case .app(let app): (.every, nil, app)
            case .all: (.every, nil, nil)
            }
        let body = Body.happening {
            FeedEvent(
                topic: topic, topicKind: kind, at: $0, id: id, kind: operation.rawValue, change: .operation(operation),
                app: app)
        }
        return Self(body, of: app, key: key)
    }

    /// Corrects the feed on an operator's behalf, by a fact that the feed missed, the retraction of a fact, or a patch. People see the correction at
    /// once; the topic's rules decide if it alerts. An operation is refused, because it is an `order` and not a correction. A program may hand in a
    /// correction with an `id` or a `key` again, as after a crash: the topic takes it once. With a `key` the receipt reports the repetition
    /// (`Receipt.isRepeat`).
    public static func correct(
        _ topic: TopicID, _ change: FeedEvent.Change, id: String? = nil, key: IdempotencyKey? = nil
    ) -> Self {
        if case .operation(let operation) = change {
            return Self(.refused(Refusal(.correction, "\(operation) is an order, not a correction")))
        }
        return Self(
            .happening { now in
                var at = now
                if case .fact(let fact) = change { at = fact.at }
                return FeedEvent(topic: topic, at: at, id: id, kind: "correct", change: change, isCorrection: true)
            }, key: key)
    }

    /// Confirms that tokens which APNs calls dead are dead: the engine removes their activities as it finds them. The engine keeps the activities
    /// without this command, and reports that, while APNs calls more than half of the tokens dead, because a wrong environment or bundle id is then
    /// likelier.
    public static var confirmDeadTokens: Self { Self(.confirmDeadTokens) }
}

// MARK: - Activities

extension Engine.Command {
    /// Registers an activity that exists on a phone and shows this topic or lineup from now on. The command is a `move` and a `replaceToken` in one
    /// for a known activity, so a backend may repeat all of its calls, for example after a restart of either side.
    ///
    /// - Parameters:
    ///   - audience: topic or lineup that the activity shows.
    ///   - activity: the app's id of the Live Activity, unique over all subscribers and apps.
    ///   - subscriber: the install that shows it, and its app.
    ///   - token: the activity's update token, raw bytes (not hex), 1 to 512.
    ///   - preferences: the person's preferences; `nil` keeps those of a known activity, and gives a new one the default.
    ///   - startedAt: time at which the app started the activity, by its own clock or the backend's: the system ends it eight hours later (spec §3.4,
    ///     documented by Apple). `nil`: just now. Used if the activity is new to the engine. A time before Live Activities existed, or more than five
    ///     minutes ahead, is taken for a wrong unit or a default: a report says so, and the activity counts as started just now.
    public static func follow(
        _ audience: AudienceKey, activity: ActivityID, subscriber: SubscriberID, token: [UInt8],
        preferences: Preferences? = nil, startedAt: FeedTime? = nil
    ) -> Self {
        let subscription = Subscription(
            audience: audience, activity: activity, subscriber: subscriber, token: token,
            preferences: preferences, startedAt: startedAt)
        return Self(.follow(subscription, subscriber), of: subscriber.app)
    }

    /// Makes a known activity show another topic or lineup from now on, by one silent push. The move waits while the activity's end is in flight, and
    /// the engine carries it out if that end does not arrive. The engine announces `ActivityFate.refused` for an unknown or ended activity.
    public static func move(activity: ActivityID, subscriber: SubscriberID, to audience: AudienceKey) -> Self {
        card(.move(activity, audience), of: subscriber)
    }

    /// Replaces the update token of a known activity: the system changes it now and then while the activity runs. Pending pushes go to the new token.
    /// The engine announces `ActivityFate.refused` for an unknown or ended activity.
    ///
    /// - Parameters:
    ///   - activity: the app's id, as given to `follow` or `start`.
    ///   - subscriber: the install that shows the activity, and its app.
    ///   - token: raw bytes (not hex), 1 to 512.
    public static func replaceToken(activity: ActivityID, subscriber: SubscriberID, with token: [UInt8]) -> Self {
        card(.replaceToken(activity, token: token), of: subscriber)
    }

    /// Reports the update token of an activity whose card a push has made appear, by `start` or as the successor of an activity that has lasted eight
    /// hours. The activity gets the newest state if that differs from the state it was started with.
    ///
    /// - Parameters:
    ///   - activity: the id in the activity's attributes; a successor has its own (`StartRequest.name(_:edition:)`).
    ///   - subscriber: the install that received the start, and its app.
    ///   - token: raw bytes (not hex), 1 to 512.
    public static func confirmStart(activity: ActivityID, subscriber: SubscriberID, token: [UInt8]) -> Self {
        card(.replaceToken(activity, token: token), of: subscriber)
    }

    /// Sets the person's preferences for this activity from now on (rule A5). A push that is in flight is not recalled.
    public static func setPreferences(
        _ preferences: Preferences, activity: ActivityID, subscriber: SubscriberID
    ) -> Self {
        card(.setPreferences(activity, preferences), of: subscriber)
    }

    /// Starts an activity on a phone by a push; it shows this topic or lineup from now on.
    ///
    /// The engine sends one start as soon as there is something to show. It sends a second one only if the first was certainly not accepted, because
    /// a 200 of APNs does not prove that a card appeared, and a second start may be a second card. The app then reports the activity's update token
    /// with the id in its attributes, which the backend passes on with `confirmStart`. The activity gets no push until then, and the engine forgets
    /// it after eight hours. Some people never allow an activity updates (spec §1.1, observed).
    ///
    /// The engine starts a successor when an activity has lasted almost eight hours, if the topic's rules renew activities. The successor has an id
    /// of its own (`StartRequest.name(_:edition:)`), and the old activity ends when the successor's token is reported. All earlier ids continue to
    /// work in all calls here. An `ActivityEvent` with `.renewed` says that the old card is gone and the new one may be there; after an outage that
    /// is later than the system has ended the old card. A `start` after `follow` only tells the engine how to renew an activity that the app has
    /// started itself; it starts nothing. The id of an activity that is being ended cannot be started again until that activity is gone; an
    /// `ActivityEvent` reports such a start.
    ///
    /// A program may hand in a start with a `key` again, also to the engine that follows a crash: the phone gets one start at most, whatever token
    /// the repeated call has. A start that has not left goes on after a restart, without a report. A start that `ActivityFate.notStarted` reports is
    /// over: another one needs another key.
    public static func start(
        _ audience: AudienceKey, _ request: StartRequest, subscriber: SubscriberID, key: IdempotencyKey? = nil
    ) -> Self {
        card(.start(request, audience), of: subscriber, key: key)
    }

    /// Ends one activity privately: it gets one end that dismisses it at once, and is removed. The end waits for the activity's update token if the
    /// engine does not know it.
    public static func unfollow(activity: ActivityID, subscriber: SubscriberID) -> Self {
        card(.unfollow(activity), of: subscriber)
    }

    private static func card(
        _ command: ShardCommand, of subscriber: SubscriberID, key: IdempotencyKey? = nil
    ) -> Self {
        Self(.card(command, subscriber), of: subscriber.app, key: key)
    }
}
