import FanfareDecisions
import FanfareModel
import Testing

/// Rules that change while topics are remembered: each entry of a log is decided by the rules that stood at its position.
@Suite struct RulesChangeTests {
    let orders = PatchFeed()
    let match = FootballFeed()

    private func rules(_ change: (inout TopicRules) -> Void) -> Rules {
        var rules = Rules.builtIn
        change(&rules.other)
        for kind in Array(rules.kinds.keys) { change(&rules.kinds[kind]!) }
        return rules
    }

    /// Adopting the rules that stand changes no byte, wherever it happens.
    @Test func theSameRulesChangeNothing() {
        for seed in UInt64(1)...250 {
            let feed = RandomFeed(seed: seed, eventsPerTopic: 120)
            var rules = Rules.builtIn
            // Few facts are kept, so that many are settled.
            rules.limits.factsMax = 8
            var plain = Scripted(rules: rules)
            var adopting = Scripted(rules: rules)
            var random = SplitMix64(seed: seed)
            for (event, now) in feed.arrivals {
                plain.apply(event, now: now)
                if random.chance(30) { adopting.adopt(rules, now: now) }
                adopting.apply(event, now: now)
            }
            plain.finish()
            adopting.finish()
            #expect(adopting.log == plain.log, "seed \(seed)")
            #expect(adopting.core.topics.map(\.state) == plain.core.topics.map(\.state), "seed \(seed)")
        }
    }

    /// Rules to and fro decide alike in each repetition, for a restarted engine adopts them at the same positions.
    @Test func aRepetitionDecidesAlike() {
        let others = rules {
            $0.pace.minimumInterval = .seconds(20)
            $0.content.fields["homeScore"] = .ignored
            $0.alerts.ordinary = TokenBucket.Size(burst: 1, refill: .seconds(600))
        }
        for seed in UInt64(1)...100 {
            let feed = RandomFeed(seed: seed)
            let logs = (0..<2).map { _ in
                var story = Scripted()
                for (number, (event, now)) in feed.arrivals.enumerated() {
                    if number % 7 == 3 {
                        story.adopt(number % 2 == 0 ? .builtIn : others, now: now)
                    }
                    story.apply(event, now: now)
                }
                return story.log
            }
            #expect(logs[0] == logs[1], "seed \(seed)")
        }
    }

    /// A change that waits comes by the new interval, whether it is shorter or longer.
    @Test(arguments: [(Int64(30), Int64(10), 10.0), (10, 30, 30), (30, 1, 5)])
    func aWaitingChangeFollowsTheNewInterval(before: Int64, after: Int64, comes: Double) {
        var story = Scripted(rules: rules { $0.pace.minimumInterval = .seconds(before) })
        story.apply(orders.set(0, ["eta": 10], id: "a"))
        story.apply(orders.set(4, ["eta": 9], id: "b"))
        story.adopt(rules { $0.pace.minimumInterval = .seconds(after) }, now: at(5))
        story.advance(to: at(comes - 0.001))
        #expect(story.publications.count == (comes > 5 ? 1 : 2))
        story.advance(to: at(comes))
        let flush = story.records.last
        #expect(flush?.causes == ["b"] && flush?.version == 2 && flush?.now == at(comes))
    }

    /// A field that people see no longer, or see anew, is one silent version; topics that look as before get none.
    @Test func aTopicThatLooksOtherwiseGetsOneSilentVersion() {
        var story = Scripted()
        story.apply(match.start(0))
        story.apply(match.goal(10, "g1"))
        story.apply(orders.set(12, ["eta": 10, "gate": "B"], id: "a"))
        let versions = story.publications.count
        let others = rules { $0.content.fields["gate"] = .redacted(Redaction(.removed)) }
        story.adopt(others, now: at(60))
        #expect(story.publications.count == versions + 1, "at once: what is hidden has been seen long enough")
        let shown = story.publications.last
        #expect(shown?.topicID == TopicID("order/1") && shown?.alert == nil && shown?.event == .update)
        #expect(story.records.last?.causes == ["other rules"])
        #expect(story.topic("order/1")?.published?["gate"] == nil)
        story.adopt(.builtIn, now: at(100))
        story.advance(to: at(130))
        #expect(story.topic("order/1")?.published?["gate"] == "B")
        #expect(story.publications.count == versions + 2)
    }

    /// An alert that was granted is not granted again, and the budget that is left shrinks with its size.
    @Test func alertsFollowTheNewBudget() {
        var story = Scripted()
        story.apply(match.start(0))
        #expect(story.apply(match.goal(10, "g1")).alert == .granted)
        let quiet = rules { rules in
            rules.alerts.reserved = TokenBucket.Size(burst: 1, refill: .seconds(3600))
            rules.occasions[.goal]?.alert?.bucket = TokenBucket.Size(burst: 1, refill: .seconds(3600))
        }
        story.adopt(quiet, now: at(20))
        let alerts = (1...4).map { story.apply(match.goal(20 + Double($0), "h\($0)", "home")).alert }
        #expect(alerts.count { $0 == .granted } == 2, "one of the kind and one of the reserve: \(alerts)")
    }

    /// The feed's own alerts have a budget, too.
    @Test func requestedAlertsFollowTheNewBudget() {
        func asking(_ burst: Int) -> Rules {
            rules { $0.alerts.requested.bucket = TokenBucket.Size(burst: burst, refill: .seconds(3600)) }
        }
        for (before, after, granted) in [(3, 1, 1), (1, 3, 0)] {
            var story = Scripted(rules: asking(before))
            func ask(_ second: Double) -> AlertVerdict? {
                let text = AlertText(title: "Now", body: "\(second)")
                return story.apply(orders.set(second, ["eta": .int(Int64(second))], id: "a\(second)", alert: text))
                    .alert
            }
            #expect(ask(0) == .granted)
            story.adopt(asking(after), now: at(10))
            #expect((1...3).count { ask(10 * Double($0) + 5) == .granted } == granted)
        }
    }

    /// A field that was ignored and is seen now has the value that cards lack.
    @Test func aFieldThatWasIgnoredIsShownOnceItCounts() {
        var story = Scripted(rules: rules { $0.content.fields["gate"] = .ignored })
        story.apply(orders.set(0, ["eta": 10, "gate": "B"], id: "a"))
        #expect(story.apply(orders.set(10, ["gate": "C"], id: "b")).version == nil)
        story.adopt(.builtIn, now: at(60))
        #expect(story.topic("order/1")?.published?["gate"] == "C")
        #expect(story.publications.count == 2)
    }

    /// A paused or ended topic shows nothing new, and what is hidden is not shown again either.
    @Test(arguments: [true, false]) func aTopicThatShowsNothingNewHidesAllTheSame(isPaused: Bool) throws {
        var story = Scripted(rules: rules { $0.lifetime.reopens = .resumed })
        story.apply(orders.set(0, ["eta": 10, "gate": "B"], id: "a"))
        if isPaused { story.apply(orders.event(5, "operator", .operation(.pause))) }
        story.apply(isPaused ? orders.set(6, ["eta": 9], id: "b") : orders.end(6, ["eta": 9]))
        let publications = story.publications
        let hiding = rules {
            $0.lifetime.reopens = .resumed
            $0.content.fields["gate"] = .redacted(Redaction(.removed))
        }
        story.adopt(hiding, now: at(60))
        #expect(story.publications.count == publications.count)
        let shown = try #require(story.core.newestPublicationsAsShown.last)
        #expect(shown.version == publications.last?.version && shown.event == publications.last?.event)
        let state = String(decoding: shown.state.bytes, as: UTF8.self)
        #expect(!state.contains("gate") && state.contains(isPaused ? "10" : "9"), "\(state)")
        // A mere repeat of what is known begins no ended topic again.
        story.apply(orders.set(70, ["eta": 9], id: "c"))
        #expect(story.topic("order/1")?.ended == !isPaused)
        #expect(story.publications.count == publications.count)
    }

    /// A topic ends after the silence of the rules that stand, counted from its last event.
    @Test(arguments: [(Int64(600), Int64(3600), 3600.0), (3600, 600, 600), (3600, 60, 100)])
    func silenceIsThatOfTheNewRules(before: Int64, after: Int64, ends: Double) {
        func silent(_ seconds: Int64) -> Rules {
            rules {
                $0.lifetime.endsAfterSilence = .seconds(seconds)
                $0.lifetime.beginsWithin = .seconds(seconds)
            }
        }
        var story = Scripted(rules: silent(before))
        story.apply(orders.set(0, ["eta": 10], id: "a"))
        story.adopt(silent(after), now: at(100))
        story.advance(to: at(ends - 0.001))
        #expect(story.topic("order/1")?.ended == (ends <= 100), "the silence was too long already")
        story.advance(to: at(ends))
        #expect(story.topic("order/1")?.ended == true)
    }

    /// Topics that begin later have the new rules alone.
    @Test func aTopicThatBeginsLaterHasTheNewRules() {
        var story = Scripted()
        story.adopt(rules { $0.pace.minimumInterval = .seconds(30) }, now: at(0))
        story.apply(orders.set(0, ["eta": 10], id: "a"))
        story.apply(orders.set(1, ["eta": 9], id: "b"))
        #expect(story.core.nextDeadline == at(30))
    }
}
