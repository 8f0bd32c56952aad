import FanfareDecisions
import FanfareModel
import Testing

/// Properties of the decisions on any feed. A failure names its seed; `RandomFeed(seed:)` makes the same feed again.
@Suite struct DecisionPropertyTests {
    static let seeds = Array(UInt64(1)...2000)

    @Test func theStateIsThatOfPencilAndPaper() {
        for seed in Self.seeds {
            let feed = RandomFeed(seed: seed, topics: 1)
            var story = Scripted()
            for (event, now) in feed.arrivals { story.apply(event, now: now) }
            for topic in story.core.topics {
                var state = topic.state
                // The wording is the reducer's own; `highlight` shows that it follows the newest event.
                let words = state["lastEvent"]
                state["lastEvent"] = nil
                // Derived from the other members.
                for form in ["compactLeading", "compactTrailing", "minimal"] { state[form] = nil }
                let expected = pencilAndPaper(feed.events, topic: topic.id)
                #expect(state == expected, "seed \(seed), \(topic.id)")
                #expect((words == nil) == (expected["highlight"] == nil), "seed \(seed), \(topic.id)")
            }
        }
    }

    @Test func theOrderOfArrivalDoesNotMatter() {
        for seed in Self.seeds.prefix(250) {
            var feed = RandomFeed(seed: seed)
            var first = Scripted()
            for (event, now) in feed.arrivals { first.apply(event, now: now) }
            let states = Dictionary(uniqueKeysWithValues: first.core.topics.map { ($0.id, $0.state) })
            for _ in 0..<3 {
                var story = Scripted()
                for event in feed.shuffled() { story.apply(event) }
                for topic in story.core.topics {
                    #expect(topic.state == states[topic.id], "seed \(seed), \(topic.id)")
                }
            }
        }
    }

    /// Ticks between events change the times of decisions, but not a byte of them.
    @Test func ticksChangeNothing() {
        for seed in Self.seeds.prefix(250) {
            let feed = RandomFeed(seed: seed)
            var plain = Scripted()
            var ticked = Scripted()
            var random = SplitMix64(seed: seed ^ 0xABCD)
            var clock = at(-600)
            for (event, now) in feed.arrivals {
                plain.apply(event, now: now)
                for _ in 0..<random.number(below: 4) {
                    // Ticks come anywhere between the events, at the events' own times, and at the next deadline.
                    let room = max(0, (now - clock).milliseconds)
                    var tick = clock + .milliseconds(Int64(random.number(below: Int(room) + 1)))
                    if random.chance(50), let deadline = ticked.core.nextDeadline, deadline <= now { tick = deadline }
                    ticked.advance(to: tick)
                    clock = max(clock, tick)
                }
                clock = max(clock, now)
                ticked.apply(event, now: now)
            }
            plain.finish()
            ticked.finish()
            #expect(plain.log == ticked.log, "seed \(seed)")
        }
    }

    /// A driver needs to do no more than read the next deadline and advance to it; some silences were put off meanwhile.
    @Test func theNextDeadlineIsWhenSomethingHappens() throws {
        for seed in Self.seeds.prefix(100) {
            var story = Scripted()
            for (event, now) in RandomFeed(seed: seed).arrivals {
                story.apply(event, now: now)
                guard let deadline = story.core.nextDeadline else { continue }
                #expect(deadline > now || story.records.last?.outcome == .retracted, "seed \(seed)")
                var ahead = story
                let said = ahead.records.count
                ahead.advance(to: deadline + .milliseconds(-1))
                #expect(ahead.records.count == said, "seed \(seed): nothing before it")
                ahead.advance(to: deadline)
                if let next = ahead.core.nextDeadline, ahead.records.count == said {
                    #expect(next > deadline, "seed \(seed)")
                    continue
                }
                #expect(ahead.records.count > said, "seed \(seed): something at it")
                let timer = try #require(ahead.records.last)
                #expect(timer.origin == .timer && timer.now == deadline, "seed \(seed)")
            }
        }
    }

    @Test func decisionsOnRandomFeedsKeepTheirInvariants() {
        for seed in Self.seeds.prefix(500) {
            let feed = RandomFeed(seed: seed)
            var story = Scripted()
            for (count, (event, now)) in feed.arrivals.enumerated() {
                let said = story.decisions.count
                story.apply(event, now: now)
                if count.isMultiple(of: 10) {
                    let violation = story.core.violation()
                    #expect(violation == nil, "seed \(seed)")
                }
                let events = story.decisions[said...].count { decision in
                    if case .record(let record) = decision { record.origin == .event } else { false }
                }
                #expect(events == 1, "seed \(seed): every event has one record")
            }
            story.finish()
            let violation = story.core.violation()
            #expect(violation == nil, "seed \(seed)")
            check(story, "seed \(seed)")
        }
    }

    private func check(_ story: Scripted, _ seed: Comment) {
        let records = story.records
        #expect(zip(records, records.dropFirst()).allSatisfy { $0.now <= $1.now }, seed)
        #expect(records.allSatisfy { !$0.reason.isEmpty }, seed)
        #expect(records.allSatisfy { ($0.version != nil) == ($0.outcome == .published) }, seed)
        #expect(records.allSatisfy { ($0.outcome == .published) != $0.causes.isEmpty }, seed)
        #expect(records.allSatisfy { ($0.alert == nil) == ($0.alertReason == nil) }, seed)
        #expect(story.publications.map(\.serial) == (0..<story.publications.count).map { UInt64($0 + 1) }, seed)

        // A publication comes right before its record, alone.
        var waiting: Publication?
        for decision in story.decisions {
            switch decision {
            case .publish(let publication):
                #expect(waiting == nil, seed)
                waiting = publication
            case .record(let record):
                #expect(waiting?.version == record.version, seed)
                #expect((waiting?.alert != nil) == (record.alert == .granted), seed)
                waiting = nil
            case .revokeAlert, .forget, .order: break
            }
        }
        #expect(waiting == nil, seed)

        for topic in story.core.topics {
            let mine = story.publications.filter { $0.topicID == topic.id }
            #expect(mine.map(\.version) == (0..<mine.count).map { UInt32($0 + 1) }, seed)
            for (before, after) in zip(mine, mine.dropFirst()) {
                #expect(before.event == .update, "nothing follows an end; \(seed)")
                #expect(after.event == .end || before.state != after.state, seed)
            }
            let causes = mine.compactMap { $0.alert?.cause }
            #expect(Set(causes).count == causes.count, seed)
            #expect(topic.ended == (mine.last?.event == .end), seed)
            // All is quiet: each topic has published its present state.
            #expect(topic.ended || topic.version == 0 || topic.published == topic.state, seed)
            #expect(topic.published.map { EncodedState($0) } == mine.last?.state, seed)
        }

        // Only granted alerts are revoked, each once; late facts do not alert.
        let granted = Set(story.publications.compactMap { $0.alert.map { "\($0.cause)@" } })
        var revoked: Set<String> = []
        for case .revokeAlert(let topic, let cause) in story.decisions {
            #expect(revoked.insert("\(topic.rawValue) \(cause)").inserted, seed)
            #expect(granted.contains("\(cause)@"), seed)
        }
        var newest: [TopicID: FeedTime] = [:]
        for record in records
        where record.origin == .event && record.outcome != .rejected && record.outcome != .duplicate {
            guard let topic = record.topic, let at = record.at else { continue }
            let age = newest[topic].map { $0 - at } ?? .zero
            let freshFor: Duration =
                switch record.alertReason {
                case "goal": .seconds(300)
                case "fullTime": .seconds(900)
                default: .seconds(5)
                }
            #expect(age <= freshFor || record.alert != .granted || record.kind == "delete", seed)
            newest[topic] = max(at, newest[topic] ?? at)
        }
    }

    /// An essential change is never held back: its own event publishes it.
    @Test func everyGoalInTimeIsPublishedByItsOwnEvent() {
        for seed in Self.seeds.prefix(500) {
            var story = Scripted()
            for (event, now) in RandomFeed(seed: seed, topics: 1, ends: false).arrivals {
                let record = story.apply(event, now: now)
                guard event.kind == "goal", record.outcome != .rejected, record.outcome != .duplicate,
                    record.outcome != .retracted
                else { continue }
                #expect(record.outcome == .published, "seed \(seed)")
                #expect(record.causes.last == event.id, "seed \(seed)")
            }
        }
    }

    @Test func theSameFeedGivesTheSameBytes() {
        for seed in Self.seeds.prefix(50) {
            let logs = (0..<2).map { _ in
                var story = Scripted()
                for (event, now) in RandomFeed(seed: seed).arrivals { story.apply(event, now: now) }
                story.finish()
                return story.log
            }
            #expect(logs[0] == logs[1])
        }
    }
}
