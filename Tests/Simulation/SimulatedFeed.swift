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
    private var comebacks = 0
    /// Matches that have teams and have not been kicked off.
    private var early: Set<TopicID> = []
    /// Matches that have ended, the newest last; and those of all that the core has forgotten since, or that came back.
    private var over: [TopicID] = []
    private var forgotten: Set<TopicID> = []
    private(set) var reopened: Set<TopicID> = []
    private(set) var reborn: Set<TopicID> = []
    /// Those that were published and not forgotten since.
    private(set) var kept: Set<TopicID> = []
    /// Publications that an event out of its order has led to.
    private(set) var disordered: Set<UInt64> = []
    private var isDisordered = false
    private let disorders: Bool
    private var random: SplitMix64
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
    private static func rules(_ options: World.Options) -> Rules {
        var football = TopicRules.football
        football.renews = options.renews
        football.reopens = options.reopens
        football.forgetAfter = options.forgetAfter
        football.dismissal = .after(.seconds(30))
        football.attributesReserve = TopicRules.attributesReserveRange.upperBound
        return Rules(kinds: [.football: football], other: .generic)
    }

    init(_ options: World.Options, seed: UInt64) {
        core = DecisionCore(rules: SimulatedFeed.rules(options))
        disorders = options.disordersEvents
        random = SplitMix64(seed: seed.mixed)
        for _ in 0..<options.topics {
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
            guard let view = core.topic(topic) else { continue }
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
        let index = running(using: &random)
        fact(index, "card", ["side": side(&random), "color": random.chance(0.1) ? "red" : "yellow"])
        return commands()
    }

    mutating func goal(using random: inout SplitMix64) -> [ShardCommand] {
        let index = running(using: &random)
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
        // Of some nobody says that they are over.
        if !disorders || !random.chance(0.1) {
            fact(index, "period", ["period": "FT"])
            apply(index, "end", .nothing, lifecycle: .end)
            over.append(topics[index])
        }
        kickOff(index)
        return commands()
    }

    /// A match that was over goes on, in the place of another one, of which nothing is heard any more.
    mutating func reopen(using random: inout SplitMix64) -> [ShardCommand] {
        guard let topic = over.suffix(8).randomElement(using: &random) else { return [] }
        over.removeAll { $0 == topic }
        let index = Int.random(in: 0..<topics.count, using: &random)
        if forgotten.remove(topic) != nil { reborn.insert(topic) } else { reopened.insert(topic) }
        topics[index] = topic
        goals[index] = []
        // By another name, or what is said of it would be said twice.
        comebacks += 1
        begin(index, "\(topic.rawValue.drop { $0 != "/" }.dropFirst()), again \(comebacks)", lifecycle: .start)
        return commands()
    }

    private mutating func kickOff(_ index: Int) {
        matches += 1
        topics[index] = TopicID("match/\(matches)")
        goals[index] = []
        begin(index, "\(matches)")
    }

    private mutating func begin(_ index: Int, _ name: some StringProtocol, lifecycle: FeedEvent.Lifecycle? = nil) {
        let teams: JSONObject = ["home": .string("Home \(name)"), "away": .string("Away \(name)")]
        fact(index, "teams", teams, lifecycle: lifecycle)
        if disorders, lifecycle == nil, random.chance(0.2) {
            early.insert(topics[index])
        } else {
            fact(index, "period", ["period": "1H"])
        }
    }

    /// Whichever something happens in has been kicked off by then.
    private mutating func running(using random: inout SplitMix64) -> Int {
        let index = Int.random(in: 0..<topics.count, using: &random)
        if early.remove(topics[index]) != nil { fact(index, "period", ["period": "1H"]) }
        return index
    }

    /// When something is said to have happened: mostly now, else some milliseconds or minutes before, or still to come.
    private mutating func time(of kind: String) -> FeedTime {
        guard disorders, kind != "teams", kind != "period" else { return now }
        let milliseconds: Int64
        switch Int.random(in: 0..<40, using: &random) {
        case 0...2: milliseconds = Int64.random(in: -999 ... -1, using: &random)
        case 3: milliseconds = Int64.random(in: -600_000 ... -1000, using: &random)
        case 4: milliseconds = Int64.random(in: 1...100_000_000, using: &random)
        default: return now
        }
        isDisordered = true
        return now + .milliseconds(milliseconds)
    }

    private func side(_ random: inout SplitMix64) -> JSONValue { random.chance(0.5) ? "home" : "away" }

    @discardableResult
    private mutating func fact(
        _ index: Int, _ kind: String, _ values: JSONObject, lifecycle: FeedEvent.Lifecycle? = nil
    ) -> String {
        facts += 1
        var values = values
        if kind != "teams" && kind != "period" { values["player"] = .string("Player \(facts)") }
        let id = "\(kind)/\(facts)"
        let at = time(of: kind)
        apply(index, kind, .fact(Fact(id: id, kind: kind, at: at, values: values)), at: at, lifecycle: lifecycle)
        return id
    }

    private mutating func apply(
        _ index: Int, _ kind: String, _ change: FeedEvent.Change, at: FeedTime? = nil,
        lifecycle: FeedEvent.Lifecycle? = nil
    ) {
        let event = FeedEvent(
            topic: topics[index], topicKind: .football, at: at ?? now, kind: kind, lifecycle: lifecycle, change: change)
        core.apply(event, now: now, into: &decisions)
    }

    private mutating func commands() -> [ShardCommand] {
        defer {
            decisions.removeAll()
            isDisordered = false
        }
        return decisions.compactMap {
            switch $0 {
            case .publish(let publication):
                kept.insert(publication.topicID)
                if isDisordered { disordered.insert(publication.serial) }
                if let alert = publication.alert {
                    alerts[alert.text] = (publication.topicID, alert)
                    let body = alert.text.body.description
                    lines[alert.text.title.description + (body.isEmpty ? "" : " · \(body)")] = alert.text
                }
                return .publish(publication)
            case .revokeAlert(let topic, let cause): return .revokeAlert(topic: topic, cause: cause)
            case .forget(let topic):
                forgotten.insert(topic)
                kept.remove(topic)
                return .forget(topic)
            case .order, .record: return nil
            }
        }
    }
}
