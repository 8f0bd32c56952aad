package import FanfareModel

/// Makes the events of a scenario's rates. Each event's values differ from those of the events before it, so that an update is always
/// a visible change.
package struct FeedScript: Sendable {
    private let kind: LoadFeed.Kind
    private let topics: [TopicID]
    /// Number of events made, which makes ids and values differ.
    private var made: Int64 = 0
    /// Number of the next period of each match.
    private var periods: [UInt32: Int] = [:]

    package init(_ kind: LoadFeed.Kind, topics: [TopicID]) {
        self.kind = kind
        self.topics = topics
    }

    /// Events that bring a topic to the state in which the run finds it: a match that has kicked off, an order on its way.
    package mutating func opening(of topic: Int, at: FeedTime) -> [FeedEvent] {
        let id = topics[topic]
        switch kind {
        case .football:
            return [
                event(
                    id, at, "teams", ["home": "Juniper Vale", "away": "Ravensmark"], kind: .football, lifecycle: .start),
                event(id, at, "period", ["period": "1H"]),
            ]
        case .delivery:
            let values: JSONObject = ["number": .int(Int64(topic)), "status": "outForDelivery", "stopsBefore": 9]
            return [patch(id, at, values, kind: .delivery)]
        case .generic: return [patch(id, at, ["number": .int(Int64(topic)), "status": "open"], kind: .generic)]
        }
    }

    package mutating func event(_ occasion: Occasion, topic: UInt32, at: FeedTime) -> FeedEvent {
        let id = topics[Int(topic)]
        made += 1
        switch (occasion, kind) {
        case (.noise, _): return FeedEvent(topic: id, at: at, id: "e\(made)", kind: "pass")
        case (.update, .football):
            return event(id, at, "substitution", ["side": "home", "playerIn": .string("P. \(made)")])
        case (.goal, .football):
            return event(id, at, "goal", ["side": made % 2 == 0 ? "home" : "away", "player": .string("P. \(made)")])
        case (.kick, .football):
            return event(
                id, at, "shootoutKick", ["side": made % 2 == 0 ? "home" : "away", "scored": .bool(made % 4 != 0)])
        case (.period, .football):
            let next = periods[topic, default: 0]
            periods[topic] = next + 1
            let names = ["HT", "2H", "ETB", "ET1", "ET2", "PEN"]
            return event(id, at, "period", ["period": .string(names[min(next, names.count - 1)])])
        case (.goal, .delivery): return patch(id, at, ["status": "arriving", "stopsBefore": 0])
        case (_, .delivery): return patch(id, at, ["stopsBefore": .int(made % 1000)])
        case (_, .generic): return patch(id, at, ["number": .int(made)])
        }
    }

    private mutating func event(
        _ topic: TopicID, _ at: FeedTime, _ fact: String, _ values: JSONObject, kind: TopicKind? = nil,
        lifecycle: FeedEvent.Lifecycle? = nil
    ) -> FeedEvent {
        made += 1
        let id = "f\(made)"
        return FeedEvent(
            topic: topic, topicKind: kind, at: at, id: id, kind: fact, lifecycle: lifecycle,
            change: .fact(Fact(id: id, kind: fact, at: at, values: values)))
    }

    private func patch(_ topic: TopicID, _ at: FeedTime, _ values: JSONObject, kind: TopicKind? = nil) -> FeedEvent {
        FeedEvent(topic: topic, topicKind: kind, at: at, kind: "patch", change: .patch(values))
    }
}
