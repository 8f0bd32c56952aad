import FanfareDecisions
import FanfareModel
import Testing

/// Checkpoints: a core that was restored from one decides as the one that wrote it.
@Suite struct CheckpointTests {
    /// Restores rows into a new core.
    static func restored(_ rows: [[UInt8]], rules: Rules, isLive: Bool = false) throws -> Scripted {
        var story = Scripted(rules: rules, isLive: isLive)
        for row in rows { try story.core.restore(row) }
        try story.core.endRestoring()
        return story
    }

    /// Rows of a checkpoint that is written at once.
    static func rows(of core: DecisionCore) -> [[UInt8]] {
        var core = core
        core.beginCheckpoint()
        core.continueCheckpoint(upTo: .max)
        #expect(core.isCheckpointWhole)
        return core.takeCheckpointRows()
    }

    static func describe(_ publication: Publication) -> String {
        let it = publication
        return
            "\(decisionLog([.publish(it)])) \(it.topicKind) \(it.relevance ?? -1) \(it.prominence) \(it.short) \(it.stateSizeMax)"
            + " \(it.staleAfter ?? .zero) \(it.dismissal ?? .after(.zero)) \(it.freesID) \(it.expiry) \(it.isRepublished)"
            + " \(it.scheduledAt?.description ?? "unscheduled")"
            + " \(it.state.highlight ?? 0..<0) \(it.state.deepLink ?? 0..<0) \(it.state.highlightSizeMax)"
    }

    static func describe(_ topic: TopicView) -> String {
        "\(topic.id) \(topic.birth) \(topic.kind) \(topic.version) \(topic.ended) \(topic.state) \(String(describing: topic.published))"
    }

    /// The restored core decides byte for byte alike, whatever happens before, after and during the writing of a checkpoint.
    @Test(arguments: [UInt64(1), 1001, 2001, 3001]) func aRestoredCoreDecidesAlike(first: UInt64) throws {
        var checkpoints = 0
        for seed in first..<first + 150 {
            let feed = MixedFeed(seed: seed)
            var random = SplitMix64(seed: seed)
            var rules = feed.rules
            var story = Scripted(rules: rules)
            var rows: [[UInt8]] = []
            var cut = random.number(below: feed.steps.count)
            var rulesAtCut = rules
            var hasBegun = false
            for (index, step) in feed.steps.enumerated() {
                if index == cut, !hasBegun {
                    story.core.beginCheckpoint()
                    hasBegun = true
                    rows = []
                    rulesAtCut = rules
                    story.decisions = []
                }
                feed.take(step, into: &story, rules: &rules)
                if story.core.hasGivenUpCheckpoint {
                    // An order for all topics, or other rules: another checkpoint begins behind it.
                    story.core.endCheckpoint()
                    (hasBegun, cut) = (false, index + 1)
                }
                guard story.core.isWritingCheckpoint, random.chance(50) else { continue }
                story.core.continueCheckpoint(upTo: .bytes(random.number(below: 600)))
                rows += story.core.takeCheckpointRows()
            }
            guard hasBegun else { continue }
            checkpoints += 1
            story.core.continueCheckpoint(upTo: .max)
            rows += story.core.takeCheckpointRows()
            #expect(story.core.unwritableTopic == nil)
            story.finish()

            var other = try Self.restored(rows, rules: rulesAtCut)
            rules = rulesAtCut
            for step in feed.steps[cut...] { feed.take(step, into: &other, rules: &rules) }
            other.finish()
            #expect(other.log == story.log, "seed \(seed)")
            #expect(other.core.topics.map(Self.describe) == story.core.topics.map(Self.describe), "seed \(seed)")
            #expect(
                other.core.newestPublicationsAsShown.map(Self.describe)
                    == story.core.newestPublicationsAsShown.map(Self.describe),
                "seed \(seed)")
            #expect(Self.rows(of: other.core).sorted() == Self.rows(of: story.core).sorted(), "seed \(seed)")
        }
        #expect(checkpoints > 130)
    }

    /// Nobody waits for all topics: an order for all of them gives the checkpoint up instead of writing each before it changes.
    @Test func anOrderForAllTopicsGivesTheCheckpointUp() {
        var story = Scripted()
        for number in 0..<200 { story.apply(PatchFeed(topic: TopicID("order/\(number)")).set(0, ["eta": 1])) }
        story.core.beginCheckpoint()
        story.core.continueCheckpoint(upTo: .bytes(1000))
        let bytes = story.core.takeCheckpointRows().reduce(0) { $0 + $1.count }
        #expect(bytes >= 1000 && bytes < 2000 && !story.core.isCheckpointWhole)
        story.apply(
            FeedEvent(topic: .every, at: at(1), kind: "pause", change: .operation(.pause)))
        #expect(story.core.hasGivenUpCheckpoint && !story.core.isCheckpointWhole)
        story.core.continueCheckpoint(upTo: .max)
        #expect(story.core.takeCheckpointRows().isEmpty)
    }

    /// A restored topic's publication lacks the fields that present rules hide, whichever rules it was published by.
    @Test func aRestoredPublicationHidesWhatTheRulesHide() throws {
        var hiding = Rules.builtIn
        hiding.other.content.fields["courier"] = .redacted(Redaction(.removed))
        var story = Scripted()
        let orders = PatchFeed()
        story.apply(orders.set(0, ["eta": 5, "courier": "Sofia"]))
        story.apply(orders.event(1, "pause", .operation(.pause)))
        story.adopt(hiding, now: at(2))
        let other = try Self.restored(Self.rows(of: story.core), rules: hiding)
        let states = other.core.newestPublications.map { String(decoding: $0.state.bytes, as: UTF8.self) }
        #expect(states == [#"{"eta":5}"#])
    }

    /// Limits of orders are those of the program that restores them, and orders that stand remain.
    @Test func restoredOrdersHaveThePresentLimits() throws {
        var few = Rules.builtIn
        few.limits.orderedKindsMax = 1
        var story = Scripted(rules: few)
        func mute(_ kind: String, in story: inout Scripted) -> Outcome {
            story.apply(
                FeedEvent(topic: .every, topicKind: TopicKind(kind), at: at(1), kind: "mute", change: .operation(.mute))
            ).outcome
        }
        #expect(mute("football", in: &story) == .unchanged)
        #expect(mute("ride", in: &story) == .rejected)
        var other = try Self.restored(Self.rows(of: story.core), rules: .builtIn)
        #expect(mute("ride", in: &other) == .unchanged)
        other.apply(FootballFeed().start())
        #expect(other.apply(FootballFeed().goal(1, "g")).alert == .demoted)
    }

    /// The mixed feeds of `aRestoredCoreDecidesAlike` have what checkpoints are made of.
    @Test func mixedFeedHasWhatCheckpointsAreMadeOf() {
        var outcomes: [Outcome: Int] = [:]
        var (versions, ends, forgotten, alerts, kinds) = (0, 0, 0, 0, Set<String>())
        for seed in UInt64(1)...60 {
            let feed = MixedFeed(seed: seed)
            var story = Scripted(rules: feed.rules)
            var rules = feed.rules
            for step in feed.steps { feed.take(step, into: &story, rules: &rules) }
            for record in story.records { outcomes[record.outcome, default: 0] += 1 }
            versions += story.publications.count
            ends += story.publications.count { $0.event == .end }
            alerts += story.publications.count { $0.alert != nil }
            forgotten += story.forgotten.count
            kinds.formUnion(story.publications.map(\.topicKind.rawValue))
        }
        #expect(
            versions > 2000 && ends > 100 && forgotten > 50 && alerts > 300,
            "\(versions) \(ends) \(forgotten) \(alerts)")
        #expect(kinds.isSuperset(of: ["football", "volleyball", "transit", "generic"]))
        for outcome in [Outcome.published, .conflated, .duplicate, .late, .rejected, .unchanged] {
            #expect(outcomes[outcome, default: 0] > 50, "\(outcome): \(outcomes[outcome, default: 0])")
        }
    }

    /// A reducer of a program that has no serial form keeps a checkpoint from being written, and says of which topic.
    @Test func aReducerWithoutMemoryIsNamed() throws {
        var rules = Rules.builtIn
        rules.kinds[TopicKind("chess")] = TopicRules(reducer: Moves(keeps: false))
        var story = Scripted(rules: rules)
        let move = Fact(id: "m1", kind: "move", at: at(1), values: [:])
        story.apply(
            FeedEvent(
                topic: TopicID("chess/1"), topicKind: TopicKind("chess"), at: at(1), kind: "move", change: .fact(move)))
        story.core.beginCheckpoint()
        story.core.continueCheckpoint(upTo: .max)
        #expect(story.core.unwritableTopic == TopicID("chess/1"))

        // Rules may have another reducer for the kind by now, which could not read what this one writes.
        rules.kinds[TopicKind("chess")] = TopicRules(reducer: Moves(keeps: true))
        story = Scripted(rules: rules)
        story.apply(
            FeedEvent(
                topic: TopicID("chess/1"), topicKind: TopicKind("chess"), at: at(1), kind: "move", change: .fact(move)))
        var others = rules
        others.kinds[TopicKind("chess")] = TopicRules()
        var changed = story
        changed.adopt(others, now: at(2))
        changed.core.beginCheckpoint()
        changed.core.continueCheckpoint(upTo: .max)
        #expect(changed.core.unwritableTopic == TopicID("chess/1"))

        // A later release may find fault with what an earlier one has taken.
        let rows = Self.rows(of: story.core)
        rules.kinds[TopicKind("chess")] = TopicRules(reducer: Moves(keeps: true, findsFault: true))
        let other = try Self.restored(rows, rules: rules)
        #expect(other.topic("chess/1")?.state == ["moves": 1])
    }

    /// Damaged rows are refused and end no process.
    @Test func damagedRowsAreRefused() {
        var refused = 0
        for seed in UInt64(1)...40 {
            let feed = MixedFeed(seed: seed)
            var story = Scripted(rules: feed.rules)
            var rules = feed.rules
            for step in feed.steps { feed.take(step, into: &story, rules: &rules) }
            var random = SplitMix64(seed: seed)
            let good = Self.rows(of: story.core)
            for _ in 0..<40 {
                var rows = good
                let row = random.number(below: rows.count)
                for _ in 0...random.number(below: 3) {
                    rows[row][random.number(below: rows[row].count)] = UInt8(random.number(below: 256))
                }
                do {
                    var other = try Self.restored(rows, rules: rules)
                    for step in feed.steps.suffix(20) { feed.take(step, into: &other, rules: &rules) }
                    other.finish()
                } catch { refused += 1 }
            }
        }
        #expect(refused > 100)
    }
}

/// Counts moves, for a kind that the rules do not know.
private struct Moves: Reducer {
    let keeps: Bool
    let findsFault: Bool
    var count: Int64 = 0

    init(keeps: Bool, findsFault: Bool = false) {
        self.keeps = keeps
        self.findsFault = findsFault
    }

    func understands(factKind: String) -> Bool { true }
    func fault(in fact: Fact) -> String? { findsFault ? "no such move" : nil }
    mutating func fold(_ entry: LedgerEntry) { count += 1 }
    var memory: [UInt8]? { keeps ? [UInt8(count)] : nil }
    mutating func restore(_ memory: [UInt8]) -> Bool {
        count = Int64(memory.first ?? 0)
        return memory.count == 1
    }
    var state: JSONObject { ["moves": .int(count)] }
    var isPresentable: Bool { true }
    var ending: String? { nil }
    func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? { nil }
}

extension [UInt8] {
    fileprivate static func < (a: [UInt8], b: [UInt8]) -> Bool { a.lexicographicallyPrecedes(b) }
}

extension [[UInt8]] {
    fileprivate func sorted() -> [[UInt8]] { sorted { $0.lexicographicallyPrecedes($1) } }
}

/// Topics of all kinds of reducers, with everything that a core is told of: facts before their kind is known, numbers that begin again, turns,
/// ends, orders, pieces that could not be read, time that passes, and rules that change.
struct MixedFeed {
    enum Step {
        case event(FeedEvent, now: FeedTime)
        case rejection(FeedRejection, now: FeedTime)
        case advance(FeedTime)
        /// Adopts the other of two sets of rules.
        case rules(now: FeedTime)
    }

    let rules: Rules
    let others: Rules
    private(set) var steps: [Step] = []

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed ^ 0x5EED)
        var rules = Rules.builtIn
        // Few facts are kept, so that many are settled, and few ids and topics.
        rules.limits.factsMax = random.element(of: [4, 8, 400])
        rules.limits.eventIDsMax = random.element(of: [4, 64])
        rules.limits.topicsMax = random.element(of: [6, 100])
        rules.other.lifetime.reopens = .afresh
        rules.other.lifetime.endsAfterSilence = .seconds(900)
        rules.other.lifetime.forgetAfter = .seconds(60)
        self.rules = rules
        var others = rules
        others.other.pace.minimumInterval = .seconds(20)
        for kind in Array(others.kinds.keys) {
            others.kinds[kind]?.content.fields["homeScore"] = .ignored
            others.kinds[kind]?.content.fields["arrivesAt"] = .quantised(Quantiser(step: 300, hysteresis: 200))
            others.kinds[kind]?.alerts.ordinary = TokenBucket.Size(burst: 1, refill: .seconds(600))
        }
        self.others = others

        var timed: [(at: FeedTime, step: Step)] = []
        let football = RandomFeed(seed: seed, eventsPerTopic: 40)
        for (event, now) in football.arrivals {
            var event = event
            // Facts may come before the kind is known.
            if random.chance(20) { event.topicKind = nil }
            timed.append((now, .event(event, now: now)))
        }
        let span = max(60, Int(((timed.map(\.at).max() ?? at(60)) - at(-600)) / .seconds(1)))
        for number in 0..<160 {
            let now = at(-600 + Double(random.number(below: span * 10)) / 10)
            timed.append((now, MixedFeed.step(number, now, &random)))
        }
        timed.sort { $0.at < $1.at }
        steps = timed.map(\.step)
        // Ends are dismissed, and topics forgotten.
        let last = timed.last?.at ?? at(0)
        for minutes in [10, 60, 300, 600] where random.chance(50) {
            steps.insert(.advance(last + .seconds(Int64(minutes) * 60)), at: steps.count)
            let topic = TopicID("order/\(random.number(below: 4))")
            steps.append(
                .event(
                    FeedEvent(
                        topic: topic, topicKind: .generic, at: last + .seconds(Int64(minutes) * 60), kind: "start",
                        lifecycle: .start, change: .patch(["left": .int(Int64(minutes))])),
                    now: last + .seconds(Int64(minutes) * 60)))
        }
    }

    private static func step(_ number: Int, _ now: FeedTime, _ random: inout SplitMix64) -> Step {
        let order = TopicID("order/\(random.number(below: 4))")
        func patch(_ change: FeedEvent.Change, _ random: inout SplitMix64) -> FeedEvent {
            FeedEvent(
                topic: order, topicKind: random.chance(70) ? .generic : nil, at: now,
                seq: random.chance(60) ? UInt64(random.number(below: 40)) : nil,
                id: random.chance(50) ? "p\(random.number(below: 60))" : nil, kind: "patch",
                lifecycle: random.element(of: [nil, nil, nil, nil, .start, .end]), change: change,
                alert: random.chance(30) ? AlertText(title: "It is \(number)", body: "") : nil,
                isCorrection: random.chance(5))
        }
        switch random.number(below: 14) {
        case 0...3:
            return .event(
                patch(
                    .patch([
                        "left": .int(Int64(random.number(below: 9))),
                        "by": random.element(of: [JSONValue.null, "Anna", "é"]),
                        "share": .double(Double(random.number(below: 100)) / 7), "deepLink": .string("app://\(number)"),
                    ]), &random), now: now)
        case 4: return .event(patch(.contentState(["left": 3, "whole": true, "highlight": "left"]), &random), now: now)
        case 5, 6:
            let topic = TopicID("volleyball/\(random.number(below: 2))")
            let fact = Fact(
                id: "f\(random.number(below: 80))", kind: random.element(of: ["point", "set", "goal", "serve"]),
                at: now,
                values: [
                    "side": random.element(of: [JSONValue.string("home"), "away"]), "set": 1, "player": "Zaytsev",
                ])
            return .event(
                FeedEvent(
                    topic: topic, topicKind: random.chance(80) ? .volleyball : nil, at: now, id: fact.id,
                    kind: fact.kind, change: random.chance(80) ? .fact(fact) : .retraction(of: fact.id)), now: now)
        case 7, 8:
            let topic = TopicID("trip/\(random.number(below: 2))")
            let fact = Fact(
                id: "poll \(number)", kind: random.chance(80) ? "position" : "absent", at: now,
                values: [
                    "line": "A", "status": random.element(of: [JSONValue.string("enRoute"), "arriving"]),
                    "stopsLeft": .int(Int64(random.number(below: 9))),
                    "arrivesAt": .int(now.milliseconds / 1000 + Int64(random.number(below: 900))),
                ])
            return .event(
                FeedEvent(
                    topic: topic, topicKind: .transit, at: now, id: fact.id, kind: fact.kind, change: .fact(fact)),
                now: now)
        case 9, 10:
            let operation = random.element(of: FeedEvent.Operation.allCases)
            let kinds: [TopicKind?] = [nil, .football, .generic]
            let isForAll = random.chance(50)
            let app = isForAll && random.chance(20) ? AppID(bundleID: "com.example.app") : nil
            return .event(
                FeedEvent(
                    topic: isForAll ? .every : order,
                    topicKind: isForAll && app == nil ? random.element(of: kinds) : nil,
                    at: now, id: random.chance(30) ? "o\(random.number(below: 9))" : nil, kind: operation.rawValue,
                    change: .operation(operation), app: app), now: now)
        case 11: return .rejection(FeedRejection(location: "feed:\(number)", reason: "no JSON", topic: order), now: now)
        case 12: return .advance(now)
        default: return random.chance(40) ? .rules(now: now) : .advance(now)
        }
    }

    func take(_ step: Step, into story: inout Scripted, rules: inout Rules) {
        switch step {
        case .event(let event, let now): story.apply(event, now: now)
        case .rejection(let rejection, let now): story.core.reject(rejection, now: now, into: &story.decisions)
        case .advance(let now): story.advance(to: now)
        case .rules(let now):
            rules = rules.other.pace.minimumInterval == others.other.pace.minimumInterval ? self.rules : others
            story.adopt(rules, now: now)
        }
    }
}
