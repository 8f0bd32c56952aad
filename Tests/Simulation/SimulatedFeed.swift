import FanfareCore

/// Topics that change at random: what the decision core would publish, without a feed behind it.
struct SimulatedFeed {
    struct Topic {
        var id: TopicID
        var version: UInt32 = 0
        var alerts: [String] = []
        var hasEnded = false
    }

    private(set) var topics: [Topic]
    private var serial: UInt64 = 0
    private var matches: Int

    init(topics count: Int) {
        topics = (0..<count).map { Topic(id: TopicID("match/\($0)")) }
        matches = count
    }

    mutating func publish(alert alerts: Bool, using random: inout SplitMix64) -> ShardCommand? {
        let index = Int.random(in: 0..<topics.count, using: &random)
        guard !topics[index].hasEnded else { return replace(index) }
        var alert: Alert?
        if alerts {
            let cause = "\(topics[index].id)/goal/\(topics[index].version + 1)"
            topics[index].alerts.append(cause)
            alert = Alert(
                cause: cause, class: random.chance(0.7) ? .essential : .ordinary,
                text: AlertText(title: cause, body: "Goal!"), freshFor: .seconds(3600), highlight: "homeScore")
        }
        return publish(index, event: .update, alert: alert, priority: random.chance(0.5) ? .immediate : .conserving)
    }

    mutating func revoke(using random: inout SplitMix64) -> ShardCommand? {
        let index = Int.random(in: 0..<topics.count, using: &random)
        guard let cause = topics[index].alerts.popLast() else { return nil }
        return .revokeAlert(topic: topics[index].id, cause: cause)
    }

    mutating func end(using random: inout SplitMix64) -> ShardCommand? {
        let index = Int.random(in: 0..<topics.count, using: &random)
        guard topics[index].version > 3, !topics[index].hasEnded else { return nil }
        topics[index].hasEnded = true
        return publish(index, event: .end, alert: nil, priority: .immediate)
    }

    /// A topic that has ended makes room for the next match.
    private mutating func replace(_ index: Int) -> ShardCommand? {
        matches += 1
        topics[index] = Topic(id: TopicID("match/\(matches)"))
        return nil
    }

    private mutating func publish(
        _ index: Int, event: Publication.Event, alert: Alert?, priority: Priority
    ) -> ShardCommand {
        serial += 1
        topics[index].version += 1
        let version = topics[index].version
        return .publish(
            Publication(
                serial: serial, topic: TopicIndex(UInt32(index)), topicID: topics[index].id, topicKind: .football,
                version: version, event: event,
                state: EncodedState([
                    "match": .string(topics[index].id.rawValue), "version": .int(Int64(version)), "highlight": "period",
                ]),
                priority: priority, alert: alert, staleAfter: .seconds(600),
                dismissAfter: event == .end ? .seconds(900) : nil))
    }
}
