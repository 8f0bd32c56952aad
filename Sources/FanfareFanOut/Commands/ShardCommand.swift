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
    /// Requests a `topicsCompleted` for the topic of this publication, if it is the topic's latest one and no follower here lacks it.
    case reportCompletion(Publication)
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
    indirect case prefer(ActivityID, Preferences)
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
    case trustDeadAnswers
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

/// Deliveries to an activity by the process before this one.
package struct EarlierDelivery: Sendable, Hashable {
    /// Alerts of that process that were granted up to that log time do not concern the activity.
    package var settledThrough: FeedTime?
    /// Is `true` if it has the newest version of its audience, provided that `ResumedPublication.isComplete`.
    package var hasNewest: Bool
    /// Is `true` if it joined at the log time of the last entry, at which others may still join.
    package var hasJoinedLast: Bool
    /// Is `true` if the activity was being ended. Its end follows at once, and no alert concerns it.
    package var isLeaving = false

    package init(settledThrough: FeedTime? = nil, hasNewest: Bool = false, hasJoinedLast: Bool = false) {
        (self.settledThrough, self.hasNewest, self.hasJoinedLast) = (settledThrough, hasNewest, hasJoinedLast)
    }
}

/// A report from a shard to the core, for people and the store. Reports never change a decision. The content of rare, large ones is
/// boxed, as it is for commands.
package enum ShardFeedback: Sendable {
    /// Each activity of this shard that was to get this publication has it, or a newer one. The time is `nil` if no activity lacked it.
    case completed(serial: UInt64, at: MonotonicTime?)
    /// The publication is no longer tracked, because too many newer versions have followed: activities that lack it get a newer one, whose
    /// completion is reported.
    case overtaken(serial: UInt64)
    /// The activity was removed because its token is dead. Reported once.
    case deadToken(ActivityID)
    indirect case fate(ActivityID, ActivityFate)
    /// The shard has removed the activity, whatever the reason: bits of its id, and hash of the token that it had. Reported if the
    /// engine's store keeps people, of a few activities before the core asks about the first of them (`RemovedActivities`).
    case removed(UInt64, token: UInt64)
    /// Answer to `ShardCommand.checkRemoval`: `isOver` if the shard has no activity with that id and that token.
    case removalChecked(UInt64, token: UInt64, isOver: Bool)
    indirect case disposition(UInt64, AlertDisposition)
    /// The followers of these topics, in this shard, have the topics' versions. Sent if the engine's store keeps people.
    indirect case topicsCompleted([TopicCompletion])
    /// All topics' states are sent again, and earlier `topicsCompleted` are void. Sent if the engine's store keeps people.
    case showsAgain
    /// The shard comes to stamps that the store has not reserved; it wants all up to this one. Sent if the engine's store keeps people.
    case stampsReach(Int64)
    /// The shard wants claims to be durable. Sent if the engine's store keeps people.
    indirect case claims(ClaimRequest)
    /// Answers this question and all before it. `isComplete` is `true` if no activity was refused its newest state for good.
    case quiet(UInt64, isComplete: Bool)
    indirect case counted(ShardCounts)
    indirect case fresh(FreshnessReport)
    /// The transport can deliver. Reported once.
    case ready
    /// All cards of the store have been loaded into this shard. Reported once, after `ShardCommand.load`.
    case loaded
    /// Reports a line for operators.
    indirect case report(String)
}
