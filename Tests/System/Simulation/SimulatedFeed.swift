import FanfareDecisions
import FanfareFanOut
import FanfareModel

/// Football matches that are played at random and decided by the real decision core: goals and their cancellations, cards, full time. A
/// match that has ended makes room for the next one.
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
    /// Matches that have ended, the newest last; `forgotten`, `reopened` and `reborn` have those that the core forgot, that came back
    /// before that, and that came back after it.
    private var over: [TopicID] = []
    private var forgotten: Set<TopicID> = []
    private(set) var reopened: Set<TopicID> = []
    private(set) var reborn: Set<TopicID> = []
    /// Topics that were published and not forgotten since.
    private(set) var kept: Set<TopicID> = []
    /// Publications caused by an event out of order.
    private(set) var disordered: Set<UInt64> = []
    private var isDisordered = false
    private let disorders: Bool
    private let beginsAfresh: Bool
    /// Time of the feed's end event, for matches that are over.
    private var endedAt: [TopicID: FeedTime] = [:]
    private var random: SplitMix64
    /// Time before which no event of a topic comes; a topic that ended by its silence stays silent.
    private var silentUntil: [TopicID: FeedTime] = [:]
    private let silences: Bool
    private var silence: SplitMix64
    private let plansKickOffs: Bool
    private var plan: SplitMix64
    private var silenceJudge: SilenceJudge
    private var falsehood: String?
    private(set) var now = FeedTime(seconds: 1_800_000_000)
    /// Alerts by their text, which is unique because player names are; `lines` has the text of each line that names one of several.
    private(set) var alerts: [AlertText: (topic: TopicID, alert: Alert)] = [:]
    private var lines: [String: AlertText] = [:]

    /// Returns the alerts that a push names, the leading one first; `nil` for an unknown text.
    func told(by text: AlertText) -> [AlertText]? {
        if alerts[text] != nil { return [text] }
        var lines = text.body.description.split(separator: "\n").map(String.init)
        var lead = AlertText(title: text.title, body: "", sound: text.sound)
        if alerts[lead] == nil, !lines.isEmpty { lead.body = .text(lines.removeFirst()) }
        let beside = lines.compactMap { self.lines[$0] }
        return alerts[lead] != nil && beside.count == lines.count ? [lead] + beside : nil
    }

    /// Rules in which a match is soon dismissed and a push has little room, so that a large lineup does not fit.
    private static func football(_ options: WorldOptions) -> TopicRules {
        var football = TopicRules.football
        football.lifetime.renews = options.renews
        football.lifetime.reopens = options.reopens
        football.lifetime.forgetAfter = options.forgetAfter
        if options.plansKickOffs { football.scheduledAt = SimulatedFeed.kickOffKey }
        if options.silences {
            football.lifetime.endsAfterSilence = .seconds(60)
            football.lifetime.beginsWithin = .seconds(300)
        }
        football.lifetime.dismissal = .after(.seconds(30))
        football.content.attributesReserve = TopicRules.Content.attributesReserveRange.upperBound
        return football
    }

    init(_ options: WorldOptions, seed: UInt64) {
        let football = SimulatedFeed.football(options)
        core = DecisionCore(rules: Rules(kinds: [.football: football], other: .generic), isLive: false)
        disorders = options.disordersEvents
        beginsAfresh = options.reopens == .afresh
        random = SplitMix64(seed: seed.mixed)
        silences = options.silences
        silence = SplitMix64(seed: (seed &+ 1 << 32).mixed)
        plansKickOffs = options.plansKickOffs
        plan = SplitMix64(seed: (seed &+ 2 << 32).mixed)
        silenceJudge = SilenceJudge(football)
        for _ in 0..<options.topics {
            topics.append(TopicID(""))
            goals.append([])
        }
    }

    /// Advances log time; changes that waited for their interval are published.
    mutating func pass(milliseconds: Int64) -> [ShardCommand] {
        let end = now + .milliseconds(milliseconds)
        // Advances from one deadline to the next, so that each end is seen at its time.
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
                // Most events of a feed change nothing.
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

    /// Silences a feed now and then, for a while or for too long. A topic that has ended by its silence makes room for a new one.
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

    /// Moves a kick-off now and then, also that of a match that runs.
    mutating func moveKickOff() -> [ShardCommand] {
        guard plansKickOffs else { return [] }
        let index = Int.random(in: 0..<topics.count, using: &plan)
        if plan.chance(0.2), !isSilent(index) { planKickOff(index) }
        return commands()
    }

    /// Plans a kick-off for one of few times, so that many are equal, or for a time that nobody knows yet.
    private mutating func planKickOff(_ index: Int) {
        let time = FeedTime(seconds: 1_800_000_000 + 60 * Int64.random(in: 0..<4, using: &plan))
        let value: JSONValue = plan.chance(0.2) ? .null : .double(time.activityKitSeconds)
        apply(index, "plan", .patch([SimulatedFeed.kickOffKey: value]))
    }

    private static let kickOffKey = "kickOff"

    private func isSilent(_ index: Int) -> Bool { silentUntil[topics[index]].map { $0 > now } ?? false }

    /// Milliseconds until the decision core's next deadline.
    var untilDeadline: Int64? { core.nextDeadline.map { max(0, ($0 - now).milliseconds) } }

    /// Checks that no timer is overdue.
    func violatedInvariant() -> String? {
        if let falsehood { return falsehood }
        guard let deadline = core.nextDeadline, deadline <= now else { return nil }
        return "a timer of \(deadline) has not fired at \(now)"
    }

    /// Checks that the published state of each running match equals its facts once nothing waits for its interval.
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

    /// Scores in several matches at once.
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
        // Some matches end without an event.
        if !disorders || !random.chance(0.1) {
            fact(index, "period", ["period": "FT"])
            apply(index, "end", .nothing, lifecycle: .end)
            over.append(topics[index])
            endedAt[topics[index]] = now
        }
        kickOff(index)
        return commands()
    }

    /// Reopens a match that was over, in place of another one, whose feed then falls silent.
    mutating func reopen(using random: inout SplitMix64) -> [ShardCommand] {
        guard let topic = over.suffix(8).randomElement(using: &random) else { return [] }
        over.removeAll { $0 == topic }
        let index = Int.random(in: 0..<topics.count, using: &random)
        if forgotten.remove(topic) != nil { reborn.insert(topic) } else { reopened.insert(topic) }
        topics[index] = topic
        goals[index] = []
        silentUntil[topic] = nil
        // A new name makes its texts unique again.
        comebacks += 1
        begin(index, "\(topic.rawValue.drop { $0 != "/" }.dropFirst()), again \(comebacks)", lifecycle: .start)
        endAgain(index)
        return commands()
    }

    /// Delivers the end of the tenure before once more.
    private mutating func endAgain(_ index: Int) {
        guard disorders, beginsAfresh, let ended = endedAt[topics[index]], random.chance(0.5),
            now - ended > TopicRules.football.pace.lateAfter
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
        if plansKickOffs, plan.chance(0.7) { planKickOff(index) }
        if silences, lifecycle == nil, silence.chance(0.3) {
            // No event of this match comes before its kick-off, and some matches never kick off, or too late.
            early.insert(topics[index])
            silentUntil[topics[index]] = now + .milliseconds(Int64.random(in: 1...400_000, using: &silence))
        } else if disorders, lifecycle == nil, random.chance(0.2) {
            early.insert(topics[index])
        } else {
            fact(index, "period", ["period": "1H"])
        }
    }

    /// Returns a match for an event, kicked off if necessary; `nil` if the drawn feed is silent.
    private mutating func running(using random: inout SplitMix64) -> Int? {
        let index = Int.random(in: 0..<topics.count, using: &random)
        guard !isSilent(index) else { return nil }
        if early.remove(topics[index]) != nil { fact(index, "period", ["period": "1H"]) }
        return index
    }

    /// Draws the time of an event: mostly now, otherwise some milliseconds or minutes before or after.
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
