import FanfareFeeds
import FanfareModel
import Testing

@Suite struct MatchDayTests {
    private static let seeds: [UInt64] = [1, 42, .max]

    private static func bytes(seed: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        MatchDay(seed: seed).write { bytes += $0 }
        return bytes
    }

    private func events(seed: UInt64) throws -> [FeedEvent] {
        var decoder = NativeLineDecoder(name: "match day")
        var items: [FeedItem] = []
        MatchDay(seed: seed).write { decoder.decode($0, into: &items) }
        decoder.finish(into: &items)
        return try items.map { try #require($0.event) }
    }

    /// The facts that stand when all is delivered, each once.
    private func facts(_ events: [FeedEvent]) -> [Fact] {
        var facts: [String: Fact] = [:]
        for event in events { if let fact = event.fact { facts[fact.id] = fact } }
        for event in events { if case .retraction(let id) = event.change { facts[id] = nil } }
        return Array(facts.values)
    }

    @Test func theSameSeedGivesTheSameMatchDay() {
        let bytes = MatchDayTests.bytes(seed: 7)
        #expect(bytes == MatchDayTests.bytes(seed: 7))
        #expect(bytes != MatchDayTests.bytes(seed: 8))
    }

    @Test(arguments: seeds)
    func aMatchDayHasTheRatesOfRealMatches(seed: UInt64) throws {
        let events = try events(seed: seed)
        let topics = Dictionary(grouping: events, by: \.topic)
        #expect(topics.count == 10)
        let visible = events.filter { $0.change != .nothing }
        #expect(visible.count * 100 < events.count, "\(visible.count) of \(events.count)")
        for (topic, events) in topics {
            let raw = Set(events.filter { $0.change == .nothing }.map(\.id)).count
            let playing = try minutesOfPlay(events)
            #expect((15.5...18.5).contains(Double(raw) / playing), "\(topic): \(raw) in \(playing) minutes")
            let seconds = Set(events.filter { $0.change != .nothing }.map { $0.at.milliseconds / 2000 })
            #expect(seconds.count >= 10, "\(topic): \(seconds.count) visible versions")
        }
    }

    private func minutesOfPlay(_ events: [FeedEvent]) throws -> Double {
        func start(_ period: String) -> FeedTime? { events.first { $0.fact?.id == "period/\(period)" }?.at }
        var minutes = 0.0
        for (from, to) in [("1H", "HT"), ("2H", "FT")] {
            let end = to == "FT" ? start("ETB") ?? start("FT") : start(to)
            minutes += Double((try #require(end) - (try #require(start(from)))).milliseconds) / 60_000
        }
        if let first = start("ET1"), let kicks = start("PEN") {
            minutes += Double((kicks - first).milliseconds) / 60_000 - 5
        }
        return minutes
    }

    @Test(arguments: seeds)
    func everyMatchBeginsAndEndsOnce(seed: UInt64) throws {
        for (topic, events) in Dictionary(grouping: try events(seed: seed), by: \.topic) {
            #expect(events.first?.topicKind == .football, "\(topic)")
            #expect(events.first?.kind == "start", "\(topic)")
            #expect(events.first?.at == MatchDay.kickoffDefault + .seconds(-600))
            #expect(events.filter { $0.lifecycle == .start }.map(\.fact?.id) == ["teams"], "\(topic)")
            #expect(events.filter { $0.lifecycle == .end }.map(\.fact?.id) == ["period/FT"], "\(topic)")
            let periods = events.compactMap(\.fact).filter { $0.kind == "period" }.map(\.id)
            #expect(
                periods == ["1H", "HT", "2H", "FT"].map { "period/\($0)" }
                    || periods == ["1H", "HT", "2H", "ETB", "ET1", "ET2", "PEN", "FT"].map { "period/\($0)" })
        }
    }

    @Test(arguments: seeds)
    func aMatchDayHasWhatMakesRealFeedsHard(seed: UInt64) throws {
        let events = try events(seed: seed)
        let topics = Dictionary(grouping: events, by: \.topic)

        let goalSeconds = Dictionary(grouping: events.filter { $0.kind == "goal" }) { $0.at.milliseconds / 1000 }
        #expect(goalSeconds.values.contains { Set($0.map(\.topic)).count == 2 }, "two goals in one second")

        let cancellations = events.filter { $0.kind == "goalCancelled" }
        #expect(cancellations.count == 1)
        if let cancelled = cancellations.first, case .retraction(let goal) = cancelled.change {
            let of = try #require(topics[cancelled.topic]?.first { $0.id == goal })
            #expect((70.0...150.0).contains(Double((cancelled.at - of.at).milliseconds) / 1000))
        }

        let sentOff = try #require(events.first { $0.fact?.values["color"] == "secondYellow" })
        let yellows = topics[sentOff.topic, default: []].compactMap(\.fact)
            .filter { $0.values["player"] == sentOff.fact?.values["player"] && $0.values["color"] == "yellow" }
        #expect(yellows.contains { $0.at < sentOff.at })

        let shootouts = topics.values.filter { $0.contains { $0.fact?.id == "period/PEN" } }
        #expect(shootouts.count == 1)
        for events in shootouts {
            let facts = facts(events)
            func count(_ kind: String, _ side: String) -> Int {
                facts.filter {
                    $0.kind == kind && $0.values["side"]?.stringValue == side && $0.values["scored"] != false
                }
                .count
            }
            #expect(count("goal", "home") == count("goal", "away"))
            #expect(count("shootoutKick", "home") != count("shootoutKick", "away"))
        }

        var now = FeedTime(milliseconds: 0)
        var seen: Set<String> = []
        var lateCards = 0
        var repeatedGoals = 0
        var cardsAfterTheEnd = 0
        var ended: Set<TopicID> = []
        for event in events {
            if event.kind == "card", now - event.at > .seconds(60) { lateCards += 1 }
            if event.kind == "card", ended.contains(event.topic) { cardsAfterTheEnd += 1 }
            if !seen.insert("\(event.topic) \(event.id ?? "")").inserted, event.kind == "goal" { repeatedGoals += 1 }
            if event.lifecycle == .end { ended.insert(event.topic) }
            now = max(now, event.at)
        }
        #expect(lateCards >= 1)
        #expect(repeatedGoals == 1)
        #expect(cardsAfterTheEnd == 1)
        #expect(seen.count < events.count, "some lines come twice")
    }

    @Test func aDayTakesAboutTwoHoursAndAShootoutLonger() throws {
        let events = try events(seed: 42)
        let ends = events.filter { $0.lifecycle == .end }.map {
            Double(($0.at - MatchDay.kickoffDefault).milliseconds) / 60_000
        }
        #expect(ends.filter { (105...122).contains($0) }.count == 9)
        #expect(ends.filter { (145...175).contains($0) }.count == 1)
    }
}
