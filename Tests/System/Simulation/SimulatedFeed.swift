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
    /// Matches that have teams and have not been kicked off.
    private var early: Set<TopicID> = []
    private(set) var history: MatchHistory
    private(set) var disorder: FeedDisorder
    private var random: SplitMix64
    private var silences: FeedSilences
    private var kickOffs: FeedKickOffs
    private var falsehood: String?
    private(set) var now = FeedTime(seconds: 1_800_000_000)
    private(set) var alerts = ToldAlerts()

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
        history = MatchHistory(beginsAfresh: options.reopens == .afresh)
        disorder = FeedDisorder(isOn: options.disordersEvents)
        random = SplitMix64(seed: seed.mixed)
        silences = FeedSilences(
            isOn: options.silences, random: SplitMix64(seed: (seed &+ 1 << 32).mixed), judge: SilenceJudge(football))
        kickOffs = FeedKickOffs(isOn: options.plansKickOffs, random: SplitMix64(seed: (seed &+ 2 << 32).mixed))
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
        if falsehood == nil { falsehood = silences.judge.overdue(at: now) }
        if silences.isOn {
            for index in topics.indices where !isSilent(index) {
                // Most events of a feed change nothing.
                if silences.judge.silence(of: topics[index], at: now) ?? 0 > 20_000 { apply(index, "clock", .nothing) }
            }
        }
        return commands()
    }

    private mutating func advance(to time: FeedTime) {
        let known = decisions.count
        now = time
        core.advance(to: time, into: &decisions)
        for case .publish(let publication) in decisions[known...] where publication.event == .end {
            falsehood = falsehood ?? silences.judge.lapsed(publication.topicID, at: time)
            silences.until[publication.topicID] = FeedTime.plausible.upperBound
        }
    }

    /// Silences a feed now and then, for a while or for too long. A topic that has ended by its silence makes room for a new one.
    mutating func fallSilent() -> [ShardCommand] {
        guard silences.isOn else { return [] }
        for index in topics.indices where !silences.judge.isAwaited(topics[index]) {
            history.over.append(topics[index])
            kickOff(index)
        }
        let index = Int.random(in: 0..<topics.count, using: &silences.random)
        if silences.random.chance(0.05), !isSilent(index), !early.contains(topics[index]) {
            silences.until[topics[index]] = now + .milliseconds(Int64.random(in: 1...90_000, using: &silences.random))
        }
        return commands()
    }

    /// Moves a kick-off now and then, also that of a match that runs.
    mutating func moveKickOff() -> [ShardCommand] {
        guard kickOffs.isOn else { return [] }
        let index = Int.random(in: 0..<topics.count, using: &kickOffs.random)
        if kickOffs.random.chance(0.2), !isSilent(index) { planKickOff(index) }
        return commands()
    }

    /// Plans a kick-off for one of few times, so that many are equal, or for a time that nobody knows yet.
    private mutating func planKickOff(_ index: Int) {
        let time = FeedTime(seconds: 1_800_000_000 + 60 * Int64.random(in: 0..<4, using: &kickOffs.random))
        let value: JSONValue = kickOffs.random.chance(0.2) ? .null : .double(time.activityKitSeconds)
        apply(index, "plan", .patch([SimulatedFeed.kickOffKey: value]))
    }

    private static let kickOffKey = "kickOff"

    private func isSilent(_ index: Int) -> Bool { silences.until[topics[index]].map { $0 > now } ?? false }

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
        if !disorder.isOn || !random.chance(0.1) {
            fact(index, "period", ["period": "FT"])
            apply(index, "end", .nothing, lifecycle: .end)
            history.over.append(topics[index])
            history.endedAt[topics[index]] = now
        }
        kickOff(index)
        return commands()
    }

    /// Reopens a match that was over, in place of another one, whose feed then falls silent.
    mutating func reopen(using random: inout SplitMix64) -> [ShardCommand] {
        guard let topic = history.over.suffix(8).randomElement(using: &random) else { return [] }
        history.over.removeAll { $0 == topic }
        let index = Int.random(in: 0..<topics.count, using: &random)
        if history.forgotten.remove(topic) != nil {
            history.reborn.insert(topic)
        } else {
            history.reopened.insert(topic)
        }
        topics[index] = topic
        goals[index] = []
        silences.until[topic] = nil
        // A new name makes its texts unique again.
        history.comebacks += 1
        begin(index, "\(topic.rawValue.drop { $0 != "/" }.dropFirst()), again \(history.comebacks)", lifecycle: .start)
        endAgain(index)
        return commands()
    }

    /// Delivers the end of the tenure before once more.
    private mutating func endAgain(_ index: Int) {
        guard disorder.isOn, history.beginsAfresh, let ended = history.endedAt[topics[index]], random.chance(0.5),
            now - ended > TopicRules.football.pace.lateAfter
        else { return }
        let known = decisions.count
        core.apply(
            FeedEvent(topic: topics[index], topicKind: .football, at: ended, kind: "end", lifecycle: .end), now: now,
            into: &decisions)
        silences.judge.heard(FeedEvent(topic: topics[index], topicKind: .football, at: ended, kind: "end"), at: now)
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
        if kickOffs.isOn, kickOffs.random.chance(0.7) { planKickOff(index) }
        if silences.isOn, lifecycle == nil, silences.random.chance(0.3) {
            // No event of this match comes before its kick-off, and some matches never kick off, or too late.
            early.insert(topics[index])
            silences.until[topics[index]] = now + .milliseconds(Int64.random(in: 1...400_000, using: &silences.random))
        } else if disorder.isOn, lifecycle == nil, random.chance(0.2) {
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
        guard disorder.isOn, kind != "teams", kind != "period" else { return now }
        let milliseconds: Int64
        switch Int.random(in: 0..<40, using: &random) {
        case 0...2: milliseconds = Int64.random(in: -999 ... -1, using: &random)
        case 3: milliseconds = Int64.random(in: -600_000 ... -1000, using: &random)
        case 4: milliseconds = Int64.random(in: 1...100_000_000, using: &random)
        default: return now
        }
        disorder.isPending = true
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
        silences.judge.heard(event, at: now)
        for case .publish(let publication) in decisions[known...] where publication.event == .end {
            guard lifecycle != .end || publication.topicID != topics[index] else { continue }
            falsehood = falsehood ?? "\(publication.topicID) ends, and nobody has said that it is over"
        }
    }

    private mutating func commands() -> [ShardCommand] {
        defer {
            decisions.removeAll()
            disorder.isPending = false
        }
        return decisions.compactMap {
            switch $0 {
            case .publish(let publication):
                history.kept.insert(publication.topicID)
                if disorder.isPending { disorder.serials.insert(publication.serial) }
                if let alert = publication.alert { alerts.note(alert, of: publication.topicID) }
                return .publish(publication)
            case .revokeAlert(let topic, let cause): return .revokeAlert(topic: topic, cause: cause)
            case .forget(let topic):
                history.forgotten.insert(topic)
                history.kept.remove(topic)
                return .forget(topic)
            case .order, .record: return nil
            }
        }
    }
}
