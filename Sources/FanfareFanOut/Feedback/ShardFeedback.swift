package import FanfareModel

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
    /// The followers of these topics, in this shard, have the topics' versions, or earlier reports of them are void. Sent if
    /// the engine's store keeps people.
    indirect case topicsCompleted([TopicCompletion])
    /// All topics' states are sent again, and earlier `topicsCompleted` are void. Sent if the engine's store keeps people.
    case showsAgain
    /// The shard is about to use stamps that the store has not reserved, and requests all up to this one. Sent if the engine's store keeps people.
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
