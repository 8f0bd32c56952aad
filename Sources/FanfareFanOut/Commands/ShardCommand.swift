package import FanfareModel

/// A command from the core to a shard; commands keep their order. There may be a million publications in a second, so a place in the ring
/// has their size: the content of larger commands is boxed.
package enum ShardCommand: Sendable {
    case publish(Publication)
    /// Publishes a topic's newest version, after a restart, with alerts for cards of the store that they have not reached.
    case publishResumed(ResumedPublication)
    /// Everything of the process before this one has been published. The store's cards are loaded from here on.
    case load
    /// All cards of the store have been loaded.
    case endLoading
    /// All follows, starts and moves that were taken before that log time have been sent. The last one so far was sent at log time `sent`, and not
    /// taken later. Sent if the engine's store keeps people.
    case followed(before: FeedTime, sent: FeedTime)
    /// Requests a `topicsCompleted` for the topic of this publication, if it is the topic's latest one and nobody of the scope lacks it here.
    case reportCompletion(Publication, of: CompletionScope = .followers)
    /// All claims up to that ticket are durable.
    case claimed(UInt64)
    /// Revokes the alert caused by this fact of this topic: no further push carries it.
    indirect case revokeAlert(topic: TopicID, cause: String)
    /// The topic ended long ago, or its feed fell silent: it is published no more, unless its id is reused for a new topic.
    case forget(TopicID)
    /// Sends the newest state of every topic that has not ended once more, silently.
    case republish
    /// The activity exists on a phone, has this update token, and shows this audience's state from now on. If the activity is known already,
    /// the command moves it and replaces a different token; its start is ignored, and `nil` keeps its preferences.
    /// `earlier` has its deliveries by the process before this one, if it is loaded from a store.
    indirect case follow(
        ActivityID, AudienceKey, token: [UInt8], preferences: Preferences? = nil, startedAt: FeedTime? = nil,
        earlier: EarlierDelivery? = nil)
    /// Starts the activity on a phone by a push; it shows this audience's state from now on.
    indirect case start(StartRequest, AudienceKey)
    indirect case setPreferences(ActivityID, Preferences)
    /// A known activity shows another audience's state from now on. A removed activity stays removed.
    indirect case move(ActivityID, AudienceKey)
    /// Ends the activity by a push of its own, dismissed at once, and removes it.
    indirect case unfollow(ActivityID)
    indirect case replaceToken(ActivityID, token: [UInt8])
    /// Requests a `disposition` with the same number for the alert with this cause.
    indirect case reportDisposition(UInt64, ActivityID, TopicID, cause: String)
    /// Requests a `removalChecked` for an activity that was `removed`: a follow or a start may have come since. Each `removed` is followed by one.
    case checkRemoval(UInt64, token: UInt64)
    /// Confirms that the tokens answered as dead are dead, so that the guard no longer keeps their activities from being removed.
    case confirmDeadTokens
    /// Requests a `quiet` with the same number once each activity has everything sent so far or newer content, or was refused it for good.
    /// Numbers count up.
    case reportQuiet(UInt64)
}

extension ShardCommand {
    /// Is `true` if an activity may join an audience by the command.
    package var joins: Bool {
        switch self {
        case .follow, .start, .move, .replaceToken: true
        default: false
        }
    }
}
