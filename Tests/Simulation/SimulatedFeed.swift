import FanfareCore

/// Football matches that are played at random and decided by the real decision core: goals and their cancellations, cards,
/// full time. A match that has ended makes room for the next one.
struct SimulatedFeed {
    private var core: DecisionCore
    private var decisions: [Decision] = []
    private(set) var topics: [TopicID] = []
    private var goals: [[String]] = []
    private var matches = 0
    private var facts = 0
    private(set) var now = FeedTime(seconds: 1_800_000_000)
    /// Which alert a text belongs to: player names are unique, so texts are. And the text of a line that names one of several.
    private(set) var alerts: [AlertText: (topic: TopicID, alert: Alert)] = [:]
    private var lines: [String: AlertText] = [:]

    /// The alerts that a push names, the leading one first; `nil` when it says something else.
    func told(by text: AlertText) -> [AlertText]? {
        if alerts[text] != nil { return [text] }
        var lines = text.body.description.split(separator: "\n").map(String.init)
        var lead = AlertText(title: text.title, body: "", sound: text.sound)
        if alerts[lead] == nil, !lines.isEmpty { lead.body = .text(lines.removeFirst()) }
        let beside = lines.compactMap { self.lines[$0] }
        return alerts[lead] != nil && beside.count == lines.count ? [lead] + beside : nil
    }

    /// Matches that are over are soon dismissed, and a push has little room: a lineup of many does not fit.
    private static func rules(renews: Bool) -> Rules {
        var football = TopicRules.football
        football.renews = renews
        football.dismissal = .after(.seconds(30))
        football.attributesReserve = TopicRules.attributesReserveRange.upperBound
        return Rules(kinds: [.football: football], other: .generic)
    }

    init(topics count: Int, renews: Bool) {
        core = DecisionCore(rules: SimulatedFeed.rules(renews: renews))
        for _ in 0..<count {
            topics.append(TopicID(""))
            goals.append([])
        }
    }

    /// Log time goes on; what waited for its interval comes out.
    mutating func pass(milliseconds: Int64) -> [ShardCommand] {
        now = now + .milliseconds(milliseconds)
        core.advance(to: now, into: &decisions)
        return commands()
    }

    /// Milliseconds until the decision core's next deadline.
    var untilDeadline: Int64? { core.nextDeadline.map { max(0, ($0 - now).milliseconds) } }

    /// Whatever was due until now has happened.
    func violatedInvariant() -> String? {
        guard let deadline = core.nextDeadline, deadline <= now else { return nil }
        return "a timer of \(deadline) has not fired at \(now)"
    }

    /// When nothing waits for its interval any more, what is published of a running match is what its facts say.
    func pendingChange() -> String? {
        for topic in topics {
            guard let index = core.index(of: topic), let view = core.topic(index) else { continue }
            if !view.ended, view.published != view.state { return "a change of \(topic) was never published" }
        }
        return nil
    }

    /// Starts the matches that are not running.
    mutating func start() -> [ShardCommand] {
        for index in topics.indices where topics[index].rawValue.isEmpty { kickOff(index) }
        return commands()
    }

    mutating func card(using random: inout SplitMix64) -> [ShardCommand] {
        let index = Int.random(in: 0..<topics.count, using: &random)
        fact(index, "card", ["side": side(&random), "color": random.chance(0.1) ? "red" : "yellow"])
        return commands()
    }

    mutating func goal(using random: inout SplitMix64) -> [ShardCommand] {
        let index = Int.random(in: 0..<topics.count, using: &random)
        goals[index].append(fact(index, "goal", ["side": side(&random)]))
        return commands()
    }

    /// In several matches at once.
    mutating func goals(using random: inout SplitMix64) -> [ShardCommand] {
        (0..<Int.random(in: 2...4, using: &random)).flatMap { _ in goal(using: &random) }
    }

    mutating func cancelGoal(using random: inout SplitMix64) -> [ShardCommand] {
        let index = Int.random(in: 0..<topics.count, using: &random)
        guard let goal = goals[index].popLast() else { return [] }
        apply(index, "videoReview", .retraction(of: goal))
        return commands()
    }

    mutating func end(using random: inout SplitMix64) -> [ShardCommand] {
        let index = Int.random(in: 0..<topics.count, using: &random)
        fact(index, "period", ["period": "FT"])
        apply(index, "end", .nothing, lifecycle: .end)
        kickOff(index)
        return commands()
    }

    private mutating func kickOff(_ index: Int) {
        matches += 1
        topics[index] = TopicID("match/\(matches)")
        goals[index] = []
        fact(index, "teams", ["home": .string("Home \(matches)"), "away": .string("Away \(matches)")])
        fact(index, "period", ["period": "1H"])
    }

    private func side(_ random: inout SplitMix64) -> JSONValue { random.chance(0.5) ? "home" : "away" }

    @discardableResult
    private mutating func fact(_ index: Int, _ kind: String, _ values: JSONObject) -> String {
        facts += 1
        var values = values
        if kind != "teams" && kind != "period" { values["player"] = .string("Player \(facts)") }
        let id = "\(kind)/\(facts)"
        apply(index, kind, .fact(Fact(id: id, kind: kind, at: now, values: values)))
        return id
    }

    private mutating func apply(
        _ index: Int, _ kind: String, _ change: FeedEvent.Change, lifecycle: FeedEvent.Lifecycle? = nil
    ) {
        let event = FeedEvent(
            topic: topics[index], topicKind: .football, at: now, kind: kind, lifecycle: lifecycle, change: change)
        core.apply(event, now: now, into: &decisions)
    }

    private mutating func commands() -> [ShardCommand] {
        defer { decisions.removeAll() }
        return decisions.compactMap {
            switch $0 {
            case .publish(let publication):
                if let alert = publication.alert {
                    alerts[alert.text] = (publication.topicID, alert)
                    let body = alert.text.body.description
                    lines[alert.text.title.description + (body.isEmpty ? "" : " · \(body)")] = alert.text
                }
                return .publish(publication)
            case .revokeAlert(let topic, let cause): return .revokeAlert(topic: topic, cause: cause)
            case .order, .record: return nil
            }
        }
    }
}
