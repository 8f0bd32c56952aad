import FanfareModel
import FanfareQueues

/// Topics of lineups whose completion is to be noted, or noted anew: the topic has a new version, or activities have joined lineups that show it.
///
/// A note covers only joiners before the log time that the core has sent, so a topic is listed for its joiners once log time has passed their
/// joining.
struct UnnotedTopics {
    /// What a topic is to be noted for, beside its newest version.
    struct Reasons: OptionSet {
        let rawValue: UInt8
        /// Activities have joined, which other shards may be asked about.
        static let joiners = Reasons(rawValue: 1)
        /// Another shard has joiners, and the core has asked.
        static let question = Reasons(rawValue: 2)
    }

    private struct Row {
        var isListed = false
        var reasons: Reasons = []
        /// Batch of the last joiner.
        var batch: UInt32 = 0
    }

    /// Rows by place of the topic.
    private var rows: [Row] = []
    private var listed: [TopicIndex] = []
    /// Is `true` if a topic has been listed since the last call of `takeNews`, other than by a pass that could not note it.
    private(set) var hasNews = false
    /// Topics joined since the last `advance`.
    private var joined: [TopicIndex] = []
    /// Topics joined between two calls of `advance`, with the log time after which no activity of the batch has joined.
    private var batches = Queue<(sent: FeedTime, topics: [TopicIndex])>()
    /// Number of the present batch.
    private var batch: UInt32 = 1

    var isEmpty: Bool { listed.isEmpty }
    var count: Int { listed.count }

    private mutating func reserve(_ topic: TopicIndex) {
        let missing = topic.place + 1 - rows.count
        if missing > 0 { rows.append(contentsOf: repeatElement(Row(), count: missing)) }
    }

    /// Lists a topic whose completion is to be noted.
    ///
    /// - Parameter isNews: `false` for a topic that a pass has just found to be incomplete.
    mutating func list(_ topic: TopicIndex, for reasons: Reasons = [], isNews: Bool = true) {
        reserve(topic)
        if isNews { hasNews = true }
        rows[topic.place].reasons.formUnion(reasons)
        guard !rows[topic.place].isListed else { return }
        rows[topic.place].isListed = true
        listed.append(topic)
    }

    /// Notes that an activity has joined a lineup that shows the topic.
    mutating func noteJoined(_ topic: TopicIndex) {
        reserve(topic)
        guard rows[topic.place].batch != batch else { return }
        rows[topic.place].batch = batch
        joined.append(topic)
    }

    /// Notes that all joiners before that log time have come.
    ///
    /// - Parameter sent: log time after which no applied call was taken.
    mutating func advance(to before: FeedTime, sent: FeedTime) {
        if !joined.isEmpty {
            batches.append((sent, joined))
            joined = []
            batch &+= 1
        }
        while let first = batches.first, before > first.sent {
            batches.removeFirst()
            for topic in first.topics { list(topic, for: .joiners) }
        }
    }

    /// Returns `hasNews`, and forgets them.
    mutating func takeNews() -> Bool {
        defer { hasNews = false }
        return hasNews
    }

    /// Removes and returns the topics that were listed first, at most so many, and what each is to be noted for.
    mutating func take(most: Int) -> [(topic: TopicIndex, reasons: Reasons)] {
        var taken: [(topic: TopicIndex, reasons: Reasons)] = []
        let count = min(most, listed.count)
        taken.reserveCapacity(count)
        for topic in listed.prefix(count) {
            taken.append((topic, rows[topic.place].reasons))
            rows[topic.place].isListed = false
            rows[topic.place].reasons = []
        }
        listed.removeFirst(count)
        return taken
    }

    /// Describes a topic that is listed twice, or not at all; `nil` if there is none.
    func violation() -> String? {
        let marked = rows.count { $0.isListed }
        guard marked == listed.count, listed.allSatisfy({ rows[$0.place].isListed }) else {
            return "\(listed.count) topics of lineups are to be noted, \(marked) are marked"
        }
        return nil
    }
}
