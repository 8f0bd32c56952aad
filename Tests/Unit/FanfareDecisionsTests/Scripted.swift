import FanfareDecisions
import FanfareModel

/// A decision core and all its decisions, for tests that tell a story.
struct Scripted {
    var core: DecisionCore
    var decisions: [Decision] = []

    init(rules: Rules = .builtIn, isLive: Bool = false) { core = DecisionCore(rules: rules, isLive: isLive) }

    /// Applies an event with `now` = its time, or the given one, and returns its record.
    @discardableResult
    mutating func apply(_ event: FeedEvent, now: FeedTime? = nil, wall: FeedTime? = nil) -> DecisionRecord {
        core.apply(event, now: now ?? event.at, wall: wall, into: &decisions)
        guard case .record(let record)? = decisions.last else {
            preconditionFailure("an event always ends with a record")
        }
        return record
    }

    mutating func adopt(_ rules: Rules, now: FeedTime) { core.adopt(rules, now: now, into: &decisions) }
    mutating func advance(to now: FeedTime) { core.advance(to: now, into: &decisions) }
    mutating func finish() { core.finish(into: &decisions) }

    var records: [DecisionRecord] {
        decisions.compactMap { if case .record(let record) = $0 { record } else { nil } }
    }
    var publications: [Publication] {
        decisions.compactMap { if case .publish(let publication) = $0 { publication } else { nil } }
    }
    var revoked: [String] {
        decisions.compactMap { if case .revokeAlert(_, let cause) = $0 { cause } else { nil } }
    }
    var forgotten: [String] {
        decisions.compactMap { if case .forget(let topic) = $0 { topic.rawValue } else { nil } }
    }
    var log: String { decisionLog(decisions) }

    func topic(_ id: String) -> TopicView? { core.topics.first { $0.id.rawValue == id } }
    func state(_ id: String, _ key: String) -> JSONValue? { topic(id)?.state[key] }
}

/// Encodes all decisions as comparable bytes: the log's lines, and the publications with their states.
func decisionLog(_ decisions: [Decision]) -> String {
    var bytes: [UInt8] = []
    for decision in decisions {
        switch decision {
        case .record(let record): record.write(to: &bytes)
        case .revokeAlert(let topic, let cause): bytes += "revoke \(topic.rawValue) \(cause)\n".utf8
        case .forget(let topic): bytes += "forget \(topic.rawValue)\n".utf8
        case .order(let operation, let app): bytes += "order \(operation) \(app)\n".utf8
        case .publish(let it):
            bytes +=
                "publish #\(it.serial) \(it.topicID) v\(it.version) \(it.event) p\(it.priority.rawValue) \(it.alert?.cause ?? "-") "
                .utf8
            bytes += it.state.bytes + [10]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Log time zero of the stories: 2018-05-13 14:00 UTC.
let kickOffTime = FeedTime(seconds: 1_526_220_000)

/// Returns the time `seconds` after the story's zero.
func at(_ seconds: Double) -> FeedTime { kickOffTime + .milliseconds(Int64(seconds * 1000)) }

/// Short words for the events of a football feed.
struct FootballFeed {
    var topic = TopicID("match/1")

    func event(
        _ seconds: Double, _ kind: String, id: String? = nil, seq: UInt64? = nil, lifecycle: FeedEvent.Lifecycle? = nil,
        _ change: FeedEvent.Change = .nothing, alert: AlertText? = nil
    ) -> FeedEvent {
        FeedEvent(
            topic: topic, topicKind: .football, at: at(seconds), seq: seq, id: id, kind: kind, lifecycle: lifecycle,
            change: change, alert: alert)
    }

    func fact(_ seconds: Double, _ kind: String, _ id: String, _ values: JSONObject) -> FeedEvent {
        event(seconds, kind, id: id, .fact(Fact(id: id, kind: kind, at: at(seconds), values: values)))
    }

    /// The start, with both names.
    func start(_ seconds: Double = -600, home: String = "Home", away: String = "Away") -> FeedEvent {
        let values: JSONObject = ["home": .string(home), "away": .string(away)]
        return event(
            seconds, "start", id: "teams", lifecycle: .start,
            .fact(Fact(id: "teams", kind: "teams", at: at(seconds), values: values)))
    }
    func goal(_ seconds: Double, _ id: String, _ side: String = "home", player: String = "Kane") -> FeedEvent {
        fact(seconds, "goal", id, ["side": .string(side), "player": .string(player)])
    }
    func card(_ seconds: Double, _ id: String, _ color: String = "yellow", _ side: String = "home") -> FeedEvent {
        fact(seconds, "card", id, ["side": .string(side), "color": .string(color), "player": "Rice"])
    }
    func kick(_ seconds: Double, _ id: String, _ side: String, scored: Bool) -> FeedEvent {
        fact(seconds, "shootoutKick", id, ["side": .string(side), "scored": .bool(scored), "player": "Kroos"])
    }
    func substitution(_ seconds: Double, _ id: String, _ side: String = "away") -> FeedEvent {
        fact(seconds, "substitution", id, ["side": .string(side), "playerIn": "Origi", "playerOut": "Firmino"])
    }
    func period(_ seconds: Double, _ period: String) -> FeedEvent {
        fact(seconds, "period", "period-\(period)", ["period": .string(period)])
    }
    func pass(_ seconds: Double, _ id: String? = nil) -> FeedEvent { event(seconds, "pass", id: id) }
    func cancel(_ seconds: Double, _ fact: String, id: String? = nil) -> FeedEvent {
        event(seconds, "delete", id: id, .retraction(of: fact))
    }
    func end(_ seconds: Double) -> FeedEvent { event(seconds, "end", lifecycle: .end) }
}

/// Short words for a feed of patches.
struct PatchFeed {
    var topic = TopicID("order/1")
    var kind: TopicKind? = .generic

    func event(
        _ seconds: Double, _ kind: String = "patch", lifecycle: FeedEvent.Lifecycle? = nil,
        _ change: FeedEvent.Change = .nothing
    ) -> FeedEvent {
        FeedEvent(topic: topic, topicKind: self.kind, at: at(seconds), kind: kind, lifecycle: lifecycle, change: change)
    }

    func set(
        _ seconds: Double, _ patch: JSONObject, seq: UInt64? = nil, id: String? = nil, alert: AlertText? = nil
    ) -> FeedEvent {
        FeedEvent(
            topic: topic, topicKind: kind, at: at(seconds), seq: seq, id: id, kind: "patch", change: .patch(patch),
            alert: alert)
    }
    func start(_ seconds: Double = 0) -> FeedEvent { event(seconds, "start", lifecycle: .start) }
    func end(_ seconds: Double, _ patch: JSONObject = [:], seq: UInt64? = nil) -> FeedEvent {
        FeedEvent(
            topic: topic, topicKind: kind, at: at(seconds), seq: seq, kind: "end", lifecycle: .end,
            change: .patch(patch))
    }
}
