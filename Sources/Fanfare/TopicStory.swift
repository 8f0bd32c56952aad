public import FanfareCore
public import FanfareFeeds

/// What became of one topic: each event and timer, what it changed, why it was sent or not, and what the alert buckets held
/// after it.
public struct TopicStory: Sendable {
    public struct Step: Sendable {
        public var record: DecisionRecord
        /// Of the topic's state, in the order of the keys.
        public var changes: [Change]
        /// Present when the event asked for an alert.
        public var buckets: [AlertBucket]
    }

    public struct Change: Sendable, Equatable {
        public var key: String
        public var before: JSONValue?
        public var after: JSONValue?
    }

    public private(set) var steps: [Step] = []
    /// As it stands at the end of the story; `nil` when the feed knows no such topic.
    public private(set) var end: DecisionCore.TopicView?
    /// What the buckets hold then.
    public private(set) var buckets: [AlertBucket] = []
    /// When what waits goes out.
    public private(set) var waitsUntil: FeedTime?

    /// Plays the feed, to its end or up to a moment.
    ///
    /// - Throws: `ReplayError`, one line for people.
    public init(
        of topic: TopicID, in paths: [String], feed: FeedOptions = FeedOptions(), rules: Rules = .builtIn,
        until: FeedTime? = nil
    ) throws(ReplayError) {
        var replay = try DecisionReplay(paths: paths, feed: feed, rules: rules, until: until)
        var state = JSONObject()
        while let (_, decisions) = replay.next() {
            for case .record(let record) in decisions where record.topic == topic {
                guard let index = replay.core.index(of: topic), let view = replay.core.topic(index) else {
                    steps.append(Step(record: record, changes: [], buckets: []))
                    continue
                }
                // Timers stand before the event that brings them, and change no state.
                let isEvent = record.origin == .event
                steps.append(
                    Step(
                        record: record, changes: isEvent ? TopicStory.changes(from: state, to: view.state) : [],
                        buckets: record.alert == nil ? [] : replay.core.alertBuckets(of: index)))
                if isEvent { state = view.state }
            }
        }
        guard let index = replay.core.index(of: topic) else { return }
        end = replay.core.topic(index)
        buckets = replay.core.alertBuckets(of: index)
        waitsUntil = replay.core.waitsUntil(index)
    }

    private static func changes(from before: JSONObject, to after: JSONObject) -> [Change] {
        let keys = Set(before.members.map(\.key)).union(after.members.map(\.key))
        return keys.sorted().compactMap { key in
            before[key] == after[key] ? nil : Change(key: key, before: before[key], after: after[key])
        }
    }
}
