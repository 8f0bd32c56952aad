package import FanfareDecisions
package import FanfareFanOut
package import FanfareLog
package import FanfareModel

/// Receiver of an `EngineCore`'s reports, called on the core's thread.
///
/// It is a delegate because a record is lent to it; a single closure with an event value would copy the record, a million times a second.
/// Every method has a default that does nothing.
package protocol EngineCoreDelegate: AnyObject {
    /// Called once per record, in the order of the decisions.
    ///
    /// - Parameter publication: the publication that the record describes.
    func coreDidRecord(_ record: DecisionRecord, of publication: Publication?)
    /// Called before any shard gets the publication.
    func coreWillPublish(_ publication: Publication)
    /// Called with all decisions about one event or moment, after they have been sent to the shards.
    func coreDidDecide(_ decisions: [Decision])
    /// Called once a core has taken over a checkpoint.
    ///
    /// - Parameters:
    ///   - records: number of the records that precede it.
    ///   - publications: newest publication of each topic.
    func coreDidRestore(records: RecordCounts, _ publications: [Publication])
    /// - Parameter topic: the topic as it was when the core forgot it.
    func coreDidForget(_ topic: TopicView)
    /// Called when the last activity of all shards has this publication or a newer one.
    ///
    /// - Parameter moment: `nil` if no activity lacked it.
    func coreDidComplete(_ serial: UInt64, of topic: TopicID, at moment: MonotonicTime?)
    /// Called, if the shards report it, when the followers of topics in an app have the newest versions, or when earlier completions are void
    /// (`TopicCompletion.isVoid`).
    func coreDidComplete(_ completions: [TopicCompletion], app: Int)
    /// Called before all topics' states are sent again: earlier calls of `coreDidComplete(_:app:)` are void.
    func coreWillShowAgain()
    /// Called instead of `coreDidComplete` if the completion of a newer publication covers this one.
    func coreDidOvertake(_ serial: UInt64, of topic: TopicID)
    func coreDidLoseToken(of activity: ActivityID)
    /// Called for each activity that a shard has removed, if the shards report it.
    ///
    /// - Parameters:
    ///   - activity: bits of its id.
    ///   - token: `keyedHash` of the token that it had.
    ///   - shard: its index. The delegate asks the shard whether the removal holds (`EngineCore.checkRemoval`), and the shard reports few other
    ///     removals before that; `coreDidCheckRemoval` follows.
    func coreDidRemove(_ activity: UInt64, token: UInt64, shard: Int)
    /// Called with a shard's answer: `true` if it has no activity with that id and that token.
    func coreDidCheckRemoval(_ activity: UInt64, token: UInt64, isOver: Bool)
    func coreDidLearn(_ fate: ActivityFate, of activity: ActivityID)
    /// Called with claims to be made durable, if the shards make any; `EngineCore.confirmClaims` follows.
    func coreDidClaim(_ claims: StoredClaims, _ ticket: UInt64, shard: Int)
    /// Called, if the shards reserve stamps, with a stamp that is to be durable before pushes have it.
    func coreDidReach(stamp: Int64)
    /// - Parameter line: for operators. Equal lines may come any number of times.
    func coreDidReport(_ line: String)
    /// Called once, when every shard's transport is able to deliver.
    func coreDidBecomeReady()
    /// Called once, when all cards of the store are loaded, in an engine that has one.
    func coreDidLoad()
    /// Called when shards have taken commands for which they had no room: events may come in again.
    func coreDidRelieve()
}

extension EngineCoreDelegate {
    package func coreDidRecord(_ record: DecisionRecord, of publication: Publication?) {}
    package func coreWillPublish(_ publication: Publication) {}
    package func coreDidDecide(_ decisions: [Decision]) {}
    package func coreDidRestore(records: RecordCounts, _ publications: [Publication]) {}
    package func coreDidForget(_ topic: TopicView) {}
    package func coreDidComplete(_ serial: UInt64, of topic: TopicID, at moment: MonotonicTime?) {}
    package func coreDidComplete(_ completions: [TopicCompletion], app: Int) {}
    package func coreWillShowAgain() {}
    package func coreDidOvertake(_ serial: UInt64, of topic: TopicID) {}
    package func coreDidLoseToken(of activity: ActivityID) {}
    package func coreDidRemove(_ activity: UInt64, token: UInt64, shard: Int) {}
    package func coreDidCheckRemoval(_ activity: UInt64, token: UInt64, isOver: Bool) {}
    package func coreDidLearn(_ fate: ActivityFate, of activity: ActivityID) {}
    package func coreDidClaim(_ claims: StoredClaims, _ ticket: UInt64, shard: Int) {}
    package func coreDidReach(stamp: Int64) {}
    package func coreDidReport(_ line: String) {}
    package func coreDidBecomeReady() {}
    package func coreDidLoad() {}
    package func coreDidRelieve() {}
}
