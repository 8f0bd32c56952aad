import FanfareDecisions
import FanfareFanOut
import FanfareModel

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
    private let beginsAfresh: Bool
    /// When the feed has said so, of matches that are over.
    private var endedAt: [TopicID: FeedTime] = [:]
    private var random: SplitMix64
    /// Nothing is said of a topic before that time; of what has ended by its silence nothing more.
    private var silentUntil: [TopicID: FeedTime] = [:]
    private let silences: Bool
    private var silence: SplitMix64
    private var silenceJudge: SilenceJudge
    private var falsehood: String?
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
    private static func football(_ options: World.Options) -> TopicRules {
        var football = TopicRules.football
        football.renews = options.renews
        football.reopens = options.reopens
        football.forgetAfter = options.forgetAfter
        if options.silences {
            football.endsAfterSilence = .seconds(60)
            football.beginsWithin = .seconds(300)
        }
        football.dismissal = .after(.seconds(30))
        football.attributesReserve = TopicRules.attributesReserveRange.upperBound
        return football
    }

    init(_ options: World.Options, seed: UInt64) {
        let football = SimulatedFeed.football(options)
        core = DecisionCore(rules: Rules(kinds: [.football: football], other: .generic))
        disorders = options.disordersEvents
        beginsAfresh = options.reopens == .afresh
        random = SplitMix64(seed: seed.mixed)
        silences = options.silences
        silence = SplitMix64(seed: (seed &+ 1 << 32).mixed)
        silenceJudge = SilenceJudge(football)
        for _ in 0..<options.topics {
            topics.append(TopicID(""))
            goals.append([])
        }
    }

    /// Log time goes on; what waited for its interval comes out.
    mutating func pass(milliseconds: Int64) -> [ShardCommand] {
        let end = now + .milliseconds(milliseconds)
        // From one deadline to the next, so that each end is seen at its time.
        while let deadline = core.nextDeadline, deadline <= end {
            advance(to: max(now, deadline))
            guard core.nextDeadline == deadline, deadline <= now else { continue }
            falsehood = falsehood ?? "a timer of \(deadline) has not fired at \(now)"
            break
        }
        advance(to: end)
        if falsehood == nil { falsehood = silenceJudge.overdue(at: now) }
        if silences {
            for index in topics.indices where !isSilent(index) {
                // Nothing has happened, as most of what a feed says.
                if silenceJudge.silence(of: topics[index], at: now) ?? 0 > 20_000 { apply(index, "clock", .nothing) }
            }
        }
        return commands()
    }

    private mutating func advance(to time: FeedTime) {
        let known = decisions.count
        now = time
        core.advance(to: time, into: &decisions)
        for case .publish(let publication) in decisions[known...] where publication.event == .end {
            falsehood = falsehood ?? silenceJudge.lapsed(publication.topicID, at: time)
            silentUntil[publication.topicID] = FeedTime.plausible.upperBound
        }
    }

    /// Now and then one of the feeds falls silent, for a while or for too long; and what has ended by that makes room.
    mutating func fallSilent() -> [ShardCommand] {
        guard silences else { return [] }
        for index in topics.indices where !silenceJudge.isAwaited(topics[index]) {
            over.append(topics[index])
            kickOff(index)
        }
        let index = Int.random(in: 0..<topics.count, using: &silence)
        if silence.chance(0.05), !isSilent(index), !early.contains(topics[index]) {
            silentUntil[topics[index]] = now + .milliseconds(Int64.random(in: 1...90_000, using: &silence))
        }
        return commands()
    }

    private func isSilent(_ index: Int) -> Bool { silentUntil[topics[index]].map { $0 > now } ?? false }

    /// Milliseconds until the decision core's next deadline.
    var untilDeadline: Int64? { core.nextDeadline.map { max(0, ($0 - now).milliseconds) } }

    /// Whatever was due until now has happened.
    func violatedInvariant() -> String? {
        if let falsehood { return falsehood }
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
        guard let index = running(using: &random) else { return [] }
        fact(index, "card", ["side": side(&random), "color": random.chance(0.1) ? "red" : "yellow"])
        return commands()
    }

    mutating func goal(using random: inout SplitMix64) -> [ShardCommand] {
        guard let index = running(using: &random) else { return [] }
        goals[index].append(fact(index, "goal", ["side": side(&random)]))
        return commands()
    }

    /// In several matches at once.
    mutating func goals(using random: inout SplitMix64) -> [ShardCommand] {
        (0..<Int.random(in: 2...4, using: &random)).flatMap { _ in goal(using: &random) }
    }

    mutating func cancelGoal(using random: inout SplitMix64) -> [ShardCommand] {
        let index = Int.random(in: 0..<topics.count, using: &random)
        guard !isSilent(index), let goal = goals[index].popLast() else { return [] }
        apply(index, "videoReview", .retraction(of: goal))
        return commands()
    }

    mutating func end(using random: inout SplitMix64) -> [ShardCommand] {
        let index = Int.random(in: 0..<topics.count, using: &random)
        guard !isSilent(index) else { return [] }
        // Of some nobody says that they are over.
        if !disorders || !random.chance(0.1) {
            fact(index, "period", ["period": "FT"])
            apply(index, "end", .nothing, lifecycle: .end)
            over.append(topics[index])
            endedAt[topics[index]] = now
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
        silentUntil[topic] = nil
        // By another name, or what is said of it would be said twice.
        comebacks += 1
        begin(index, "\(topic.rawValue.drop { $0 != "/" }.dropFirst()), again \(comebacks)", lifecycle: .start)
        endAgain(index)
        return commands()
    }

    /// The end of the turn before is delivered once more.
    private mutating func endAgain(_ index: Int) {
        guard disorders, beginsAfresh, let ended = endedAt[topics[index]], random.chance(0.5),
            now - ended > TopicRules.football.lateAfter
        else { return }
        let known = decisions.count
        core.apply(
            FeedEvent(topic: topics[index], topicKind: .football, at: ended, kind: "end", lifecycle: .end), now: now,
            into: &decisions)
        silenceJudge.heard(FeedEvent(topic: topics[index], topicKind: .football, at: ended, kind: "end"), at: now)
        for case .publish(let publication) in decisions[known...] where publication.event == .end {
            falsehood = falsehood ?? "\(publication.topicID) ends, by an end from before it began again"
        }
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
        if silences, lifecycle == nil, silence.chance(0.3) {
            // Nothing more is said of it before its kick-off, and of some that never comes, or too late.
            early.insert(topics[index])
            silentUntil[topics[index]] = now + .milliseconds(Int64.random(in: 1...400_000, using: &silence))
        } else if disorders, lifecycle == nil, random.chance(0.2) {
            early.insert(topics[index])
        } else {
            fact(index, "period", ["period": "1H"])
        }
    }

    /// Whichever something happens in has been kicked off by then. `nil`: nothing is said of it.
    private mutating func running(using random: inout SplitMix64) -> Int? {
        let index = Int.random(in: 0..<topics.count, using: &random)
        guard !isSilent(index) else { return nil }
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
        let known = decisions.count
        core.apply(event, now: now, into: &decisions)
        silenceJudge.heard(event, at: now)
        for case .publish(let publication) in decisions[known...] where publication.event == .end {
            guard lifecycle != .end || publication.topicID != topics[index] else { continue }
            falsehood = falsehood ?? "\(publication.topicID) ends, and nobody has said that it is over"
        }
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
