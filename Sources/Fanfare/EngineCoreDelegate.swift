package import FanfareDecisions
package import FanfareFanOut
package import FanfareModel

/// What an `EngineCore` tells its owner, on the core's thread.
///
/// A delegate and not an event value for one closure: a record is lent to the delegate, whereas an event would be a copy of it, a million
/// times a second. A delegate implements what it wants to hear; everything else is ignored.
package protocol EngineCoreDelegate: AnyObject {
    /// Called once per record, in the order of the decisions.
    ///
    /// - Parameter publication: the one that the record tells of.
    func coreDidRecord(_ record: DecisionRecord, of publication: Publication?)
    /// Called before any shard is told of the publication.
    func coreWillPublish(_ publication: Publication)
    /// Called with everything that one event or moment led to, after the shards were told of it.
    func coreDidDecide(_ decisions: [Decision])
    /// - Parameter topic: as it stood when the core forgot it.
    func coreDidForget(_ topic: DecisionCore.TopicView)
    /// The last activity anywhere has this publication or a newer one.
    ///
    /// - Parameter moment: monotonic nanoseconds; `nil`: there was nobody who lacked it.
    func coreDidComplete(_ serial: UInt64, of topic: TopicID, at moment: Int64?)
    /// A newer publication's completion stands for that of this one, which is not told.
    func coreDidOvertake(_ serial: UInt64, of topic: TopicID)
    func coreDidLoseToken(of activity: ActivityID)
    func coreDidLearn(_ fate: ActivityFate, of activity: ActivityID)
    /// - Parameter line: for operators. An equal one may come any number of times.
    func coreDidReport(_ line: String)
    /// Every shard's transport could deliver now. Called once.
    func coreDidBecomeReady()
    /// Shards have taken what they had no room for: events may come in again.
    func coreDidRelieve()
}

extension EngineCoreDelegate {
    package func coreDidRecord(_ record: DecisionRecord, of publication: Publication?) {}
    package func coreWillPublish(_ publication: Publication) {}
    package func coreDidDecide(_ decisions: [Decision]) {}
    package func coreDidForget(_ topic: DecisionCore.TopicView) {}
    package func coreDidComplete(_ serial: UInt64, of topic: TopicID, at moment: Int64?) {}
    package func coreDidOvertake(_ serial: UInt64, of topic: TopicID) {}
    package func coreDidLoseToken(of activity: ActivityID) {}
    package func coreDidLearn(_ fate: ActivityFate, of activity: ActivityID) {}
    package func coreDidReport(_ line: String) {}
    package func coreDidBecomeReady() {}
    package func coreDidRelieve() {}
}
