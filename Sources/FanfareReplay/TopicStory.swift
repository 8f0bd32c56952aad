package import FanfareDecisions
package import FanfareFeeds
package import FanfareModel

/// The story of one topic: each event and timer with its changes, the reason why it was or was not sent,
/// and the content of the alert buckets after it.
package struct TopicStory: Sendable {
    package struct Step: Sendable {
        package var record: DecisionRecord
        /// Is `true` for an operator's order or correction.
        package var isByOperator: Bool
        /// Changes of the topic's state, in the order of the keys.
        package var changes: [Change]
        /// Alert buckets after the event; empty unless the event requested an alert.
        package var buckets: [AlertBucket]
        /// Words of the alert that was granted.
        package var alert: AlertText?
        /// Time for which the card stays; `nil` unless the step ends the topic.
        package var dismissAfter: Duration?
    }

    package struct Change: Sendable, Equatable {
        package var key: String
        package var before: JSONValue?
        package var after: JSONValue?
    }

    package private(set) var steps: [Step] = []
    /// The topic at the end of the story, or when it was forgotten; `nil` if the feed has no such topic.
    package private(set) var end: TopicView?
    /// Alert buckets at the end of the story.
    package private(set) var buckets: [AlertBucket] = []
    /// Time at which waiting changes are due; `nil` if none wait.
    package private(set) var waitsUntil: FeedTime?
    package private(set) var gaps = FeedGaps()
    /// The topic's version with the largest push.
    package private(set) var dearest: (version: UInt32, cost: PushCost)?

    /// Plays the feed to its end or up to a moment.
    ///
    /// - Throws: `ReplayError`, one line for people.
    package init(
        of topic: TopicID, in paths: [String], feed: FeedOptions = FeedOptions(), rules: Rules = .builtIn,
        until: FeedTime? = nil
    ) throws(ReplayError) {
        var replay = try DecisionReplay(paths: paths, feed: feed, rules: rules, until: until)
        var state = JSONObject()
        /// Topic kinds of orders for a whole kind, by the index of their step.
        var kinds: [Int: TopicKind] = [:]
        while let (item, decisions) = replay.next() {
            var event: FeedEvent?
            if case .event(let taken) = item { event = taken }
            decisions.forEachRecord { record, publication in
                guard record.topic == topic || record.topic == .every else { return }
                if let publication, let cost = PushCost(publication), cost.bodySize > dearest?.cost.bodySize ?? .zero {
                    dearest = (publication.version, cost)
                }
                // A timer's record precedes the record of the event that triggered it, and changes no state.
                let isEvent = record.origin == .event
                var step = Step(
                    record: record, isByOperator: isEvent && event?.isByOperator == true, changes: [], buckets: [],
                    alert: publication?.alert?.text, dismissAfter: publication?.dismissal?.duration(from: record.now))
                // A topic that comes under the same id afterwards has another story.
                if record.topic == topic, record.forgets { state = JSONObject() }
                if record.topic == .every { kinds[steps.count] = event?.topicKind }
                if record.topic == topic, let view = replay.core.topic(topic) {
                    if record.alert != nil { step.buckets = replay.core.alertBuckets(of: topic) }
                    if isEvent {
                        step.changes = TopicStory.changes(from: state, to: view.state)
                        state = view.state
                    }
                }
                steps.append(step)
            }
            end = replay.core.forgotten.last { $0.id == topic } ?? end
        }
        gaps = replay.gaps
        end = replay.core.topic(topic) ?? end
        guard let kind = end?.kind else {
            steps.removeAll { $0.record.topic != topic }
            return
        }
        steps = steps.enumerated().filter { kinds[$0.offset].map { $0 == kind } ?? true }.map(\.element)
        buckets = replay.core.alertBuckets(of: topic)
        waitsUntil = replay.core.waitsUntil(topic)
    }

    private static func changes(from before: JSONObject, to after: JSONObject) -> [Change] {
        let keys = Set(before.members.map(\.key)).union(after.members.map(\.key))
        return keys.sorted().compactMap { key in
            before[key] == after[key] ? nil : Change(key: key, before: before[key], after: after[key])
        }
    }
}

extension FeedEvent {
    fileprivate var isByOperator: Bool {
        if case .operation = change { return true }
        return isCorrection
    }
}
