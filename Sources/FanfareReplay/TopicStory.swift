package import FanfareDecisions
package import FanfareFeeds
package import FanfareModel

/// What became of one topic: each event and timer, what it changed, why it was sent or not, and what the alert buckets held
/// after it.
package struct TopicStory: Sendable {
    package struct Step: Sendable {
        package var record: DecisionRecord
        /// An order or a correction, by hand.
        package var isByOperator: Bool
        /// Of the topic's state, in the order of the keys.
        package var changes: [Change]
        /// Present when the event asked for an alert.
        package var buckets: [AlertBucket]
    }

    package struct Change: Sendable, Equatable {
        package var key: String
        package var before: JSONValue?
        package var after: JSONValue?
    }

    package private(set) var steps: [Step] = []
    /// As it stands at the end of the story, or stood when it was forgotten before that; `nil` when the feed knows no such topic.
    package private(set) var end: DecisionCore.TopicView?
    /// What the buckets hold then.
    package private(set) var buckets: [AlertBucket] = []
    /// When what waits goes out.
    package private(set) var waitsUntil: FeedTime?
    /// Of the topic's versions the one that is dearest to send.
    package private(set) var dearest: (version: UInt32, cost: PushCost)?

    /// Plays the feed, to its end or up to a moment.
    ///
    /// - Throws: `ReplayError`, one line for people.
    package init(
        of topic: TopicID, in paths: [String], feed: FeedOptions = FeedOptions(), rules: Rules = .builtIn,
        until: FeedTime? = nil
    ) throws(ReplayError) {
        var replay = try DecisionReplay(paths: paths, feed: feed, rules: rules, until: until)
        var state = JSONObject()
        /// Of orders for a whole kind, by the step that tells of them.
        var kinds: [Int: TopicKind] = [:]
        while let (item, decisions) = replay.next() {
            var event: FeedEvent?
            if case .event(let taken) = item { event = taken }
            for case .publish(let publication) in decisions where publication.topicID == topic {
                guard let cost = PushCost(publication), cost.bodyBytes > dearest?.cost.bodyBytes ?? 0 else { continue }
                dearest = (publication.version, cost)
            }
            for case .record(let record) in decisions where record.topic == topic || record.topic == .every {
                // Timers stand before the event that brings them, and change no state.
                let isEvent = record.origin == .event
                var step = Step(
                    record: record, isByOperator: isEvent && event?.isByOperator == true, changes: [], buckets: [])
                // What comes under the same id then is another story.
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
