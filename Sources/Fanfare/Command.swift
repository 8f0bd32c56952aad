import FanfareFanOut
public import FanfareModel

extension Engine {
    /// Something that changes what the engine does: `offer(_:)` hands it in at once or not at all, `send(_:within:)` waits for room. What
    /// was taken is carried out in the order of the receipts.
    ///
    /// A value, so that a program can keep commands, and hand them in again. Making one checks nothing; the engine does, when it is handed
    /// in.
    public struct Command: Sendable {
        enum Body: Sendable {
            case event(FeedEvent)
            /// One that happens when the core takes it.
            case happening(@Sendable (_ now: FeedTime) -> FeedEvent)
            case follow(Subscription)
            case card(ShardCommand, subscriber: UInt64)
            case trustDeadAnswers
            case refused(Refusal)
        }

        let body: Body
        /// `nil`: the first.
        let app: AppID?

        init(_ body: Body, of app: AppID? = nil) {
            self.body = body
            self.app = app
        }
    }
}

// MARK: - Feeds and operators

extension Engine.Command {
    /// A feed event. The core decides it in its turn, and a `DecisionRecord` says what became of it.
    public static func ingest(_ event: FeedEvent) -> Self { Self(.event(event)) }

    /// An operator steps in; it stands in the decision log like any event. Refused for an app that the engine does not push to.
    public static func order(_ operation: FeedEvent.Operation, for scope: Scope) -> Self {
        let (topic, kind, app): (TopicID, TopicKind?, AppID?) =
            switch scope {
            case .topic(let topic): (topic, nil, nil)
            case .kind(let kind): (.every, kind, nil)
            case .app(let app): (.every, nil, app)
            case .all: (.every, nil, nil)
            }
        let body = Body.happening {
            FeedEvent(
                topic: topic, topicKind: kind, at: $0, kind: operation.rawValue, change: .operation(operation), app: app
            )
        }
        return Self(body, of: app)
    }

    /// An operator puts the feed right: with a fact it missed, the retraction of one, or a patch. People see it at once; whether it
    /// alerts, the topic's rules say. An operation is no correction and refused: it is for `order`.
    public static func correct(_ topic: TopicID, _ change: FeedEvent.Change) -> Self {
        if case .operation(let operation) = change {
            return Self(.refused(Refusal(.correction, "\(operation) is an order, not a correction")))
        }
        return Self(
            .happening { now in
                var at = now
                if case .fact(let fact) = change { at = fact.at }
                return FeedEvent(topic: topic, at: at, kind: "correct", change: change, isCorrection: true)
            })
    }

    /// When so many tokens are answered as dead that a wrong environment or bundle id is likelier, their activities are kept and a report
    /// says so. This says that they did die: they are removed as they are found.
    public static var trustDeadAnswers: Self { Self(.trustDeadAnswers) }
}

// MARK: - Activities

extension Engine.Command {
    /// An activity exists on a phone, and shows this topic or lineup from now on. For one that is known already it is a `move` and a
    /// `replaceToken` in one, so a backend may send it again with all that it knows, as after a restart of either.
    ///
    /// - Parameters:
    ///   - audience: what it shows.
    ///   - activity: the app's id of the Live Activity; no other activity of any subscriber or app has it.
    ///   - subscriber: the install that shows it, and its app.
    ///   - token: the activity's update token, raw bytes (not hex), 1 to 512.
    ///   - preferences: the person's; `nil` leaves them as they are, which is the default for a new activity.
    ///   - startedAt: when the app started the activity, by its own clock or the backend's: the system ends it eight hours after
    ///     that (spec §3.4, documented by Apple). `nil`: just now. Counts when the activity is new to the engine. A time before
    ///     there were Live Activities, or more than five minutes ahead, is a unit or a default mistaken for a time: a report says so,
    ///     and the activity counts as started just now.
    public static func follow(
        _ audience: AudienceKey, activity: ActivityID, subscriber: SubscriberID, token: [UInt8],
        preferences: Preferences? = nil, startedAt: FeedTime? = nil
    ) -> Self {
        let subscription = Subscription(
            audience: audience, activity: activity, subscriber: subscriber, token: token,
            preferences: preferences, startedAt: startedAt)
        return Self(.follow(subscription), of: subscriber.app)
    }

    /// A known activity shows another topic or lineup from now on: one silent push. Of one that is not known, or gone,
    /// `ActivityFate.refused` is told.
    public static func move(activity: ActivityID, subscriber: SubscriberID, to audience: AudienceKey) -> Self {
        card(.move(activity, audience), of: subscriber)
    }

    /// A known activity has another update token, as happens now and then while it runs. What was on its way to the old one goes to this,
    /// too. Of an activity that is not known, or gone, `ActivityFate.refused` is told.
    ///
    /// - Parameters:
    ///   - activity: the app's id, as `follow` or `start` was given it.
    ///   - subscriber: the install that shows it, and its app.
    ///   - token: raw bytes (not hex), 1 to 512.
    public static func replaceToken(activity: ActivityID, subscriber: SubscriberID, with token: [UInt8]) -> Self {
        card(.replaceToken(activity, token: token), of: subscriber)
    }

    /// The app has reported the update token of an activity that a push has made appear, by `start` or as the successor of one that has
    /// lasted eight hours: the card exists. It gets the newest state, if that is another one than it was started with.
    ///
    /// - Parameters:
    ///   - activity: the id that stands in the attributes: of a successor its own (`StartRequest.name(_:edition:)`).
    ///   - subscriber: the install that was given the start, and its app.
    ///   - token: raw bytes (not hex), 1 to 512.
    public static func confirmStart(activity: ActivityID, subscriber: SubscriberID, token: [UInt8]) -> Self {
        card(.replaceToken(activity, token: token), of: subscriber)
    }

    /// What the person wants of this activity from now on (rule A5). A push that is on its way already is not called back.
    public static func prefer(_ preferences: Preferences, activity: ActivityID, subscriber: SubscriberID) -> Self {
        card(.prefer(activity, preferences), of: subscriber)
    }

    /// An activity is to appear on a phone by a push, and shows this topic or lineup from now on.
    ///
    /// One start is sent, as soon as there is something to show, and never a second one unless the first was certainly not taken:
    /// a 200 of APNs is not yet a card, and a second start may be a second card. When the app reports the new activity's update
    /// token, together with the id that stands in its attributes, `confirmStart` it. Until then it is sent nothing, and after eight hours
    /// it is forgotten. Some people never allow it updates (spec §1.1, observed).
    ///
    /// Where the topic's rules say that activities are renewed, one that has lasted almost eight hours is started anew in the
    /// same way, with an id of its own (`StartRequest.name(_:edition:)`), and ends when the new one's token is reported. Each id it
    /// had goes on to mean it, in all calls here. An `ActivityEvent` tells when the old card has gone and the new one may be there:
    /// `.renewed`; after an outage that is later than the system has ended the old one. For an activity that the app has started
    /// itself, sending this after `follow` says how to renew it; nothing is started then. The name of one that is being ended is
    /// taken until it is gone: an `ActivityEvent` tells.
    public static func start(_ audience: AudienceKey, _ request: StartRequest, subscriber: SubscriberID) -> Self {
        card(.start(request, audience), of: subscriber)
    }

    /// One private end, dismissed at once, and the activity is gone. If its update token is not known yet, the end waits for it.
    public static func unfollow(activity: ActivityID, subscriber: SubscriberID) -> Self {
        card(.unfollow(activity), of: subscriber)
    }

    private static func card(_ command: ShardCommand, of subscriber: SubscriberID) -> Self {
        Self(.card(command, subscriber: subscriber.key), of: subscriber.app)
    }
}
