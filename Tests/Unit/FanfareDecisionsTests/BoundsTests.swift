import FanfareModel
import Testing

@testable import FanfareDecisions

/// The engine answers any event with a record, and remembers a bounded amount.
@Suite struct BoundsTests {
    let feed = FootballFeed()

    func limited(_ change: (inout Rules.Limits) -> Void) -> Scripted {
        var rules = Rules.builtIn
        change(&rules.limits)
        return Scripted(rules: rules)
    }

    /// An event is copied on its way from its line to its topic; a million topics take this size each, besides facts and ids.
    @Test func eventsAndTopicsAreSmallInMemory() {
        #expect(MemoryLayout<FeedEvent>.size <= 104)
        #expect(MemoryLayout<Topic>.size <= 700)
    }

    @Test func implausibleTimesAreRejectedAndDoNotMoveTheClock() {
        var story = Scripted()
        story.apply(feed.start(0))
        for milliseconds in [Int64.min, -1, 4_102_444_800_000, 1_526_220_000_000_000, .max] {
            var event = feed.goal(10, "g1")
            event.at = FeedTime(milliseconds: milliseconds)
            let record = story.apply(event)
            #expect(record.outcome == .rejected)
            #expect(record.reason.contains("milliseconds"))
            #expect(record.now == at(0))
            #expect(record.at == nil)
        }
        let fact = Fact(id: "g2", kind: "goal", at: FeedTime(milliseconds: -1), values: ["side": "home"])
        #expect(story.apply(feed.event(10, "goal", .fact(fact))).outcome == .rejected)
        #expect(story.publications.count == 1)
    }

    /// A kind's own short forms take the place of a member, and what is behind them would grow for ever.
    @Test func membersBehindShortFormsAreBounded() {
        var story = Scripted()
        story.apply(feed.start(0))
        let half = JSONValue.string(String(repeating: "x", count: 2000))
        let first = story.apply(feed.event(1, "note", .patch(["minimal": .object(["a": half])])))
        let second = story.apply(feed.event(2, "note", .patch(["minimal": .object(["b": half])])))
        #expect(first.outcome != .rejected && second.outcome == .rejected, "\(second.reason)")
    }

    @Test func namesThatAreEmptyOrTooLongAreRejected() {
        var story = Scripted()
        let long = String(repeating: "x", count: 600)
        #expect(story.apply(FeedEvent(topic: TopicID(long), at: at(0), kind: "a")).topic == nil)
        #expect(story.apply(FeedEvent(topic: TopicID(""), at: at(0), kind: "a")).outcome == .rejected)
        #expect(story.apply(feed.pass(0, long)).id == nil)
        #expect(story.apply(feed.event(0, long)).kind == "unreadable")
        #expect(story.apply(feed.fact(0, long, "f", [:])).outcome == .rejected)
        #expect(
            story.apply(feed.event(0, "goal", .fact(Fact(id: long, kind: "goal", at: at(0), values: [:])))).outcome
                == .rejected)
        #expect(
            story.apply(feed.event(0, "goal", .fact(Fact(id: "", kind: "goal", at: at(0), values: [:])))).outcome
                == .rejected)
        #expect(story.apply(feed.cancel(0, long)).outcome == .rejected)
        #expect(story.records.allSatisfy { $0.outcome == .rejected })
        #expect(story.log.utf8.count < 4000)
    }

    @Test func topicsBeyondTheLimitAreRejected() {
        var story = limited { $0.topicsMax = 2 }
        let outcomes = (0..<3).map { number in
            story.apply(FootballFeed(topic: TopicID("match/\(number)")).start(0)).outcome
        }
        #expect(outcomes == [.published, .published, .rejected])
        #expect(story.core.topicCount == 2)
        #expect(story.apply(FootballFeed(topic: TopicID("match/1")).goal(5, "g")).outcome == .published)
    }

    @Test func eventIDsBeyondTheLimitAreForgotten() {
        var story = limited { $0.eventIDsMax = 3 }
        for number in 0..<4 { story.apply(feed.pass(Double(number), "e\(number)")) }
        #expect(story.apply(feed.pass(4, "e1")).outcome == .duplicate)
        #expect(story.apply(feed.pass(5, "e0")).outcome == .unchanged, "forgotten: three newer ones came")
        #expect(story.apply(feed.pass(6, "e1")).outcome == .unchanged, "the oldest now, and so forgotten for e0")
        #expect(story.apply(feed.pass(7, "e3")).outcome == .duplicate)
    }

    @Test func factsAreSettledWhenThereAreTooMany() {
        var story = limited { $0.factsMax = 10 }
        story.apply(feed.start(0))
        for number in 1...35 { story.apply(feed.goal(Double(number) * 10, "g\(number)")) }
        #expect(story.state("match/1", "homeScore") == 35)
        let old = story.apply(feed.goal(15, "late"), now: at(400))
        #expect(old.outcome == .late)
        #expect(old.reason.hasSuffix("is settled"))
        #expect(story.state("match/1", "homeScore") == 35)
        story.apply(feed.cancel(401, "g1"))
        #expect(story.state("match/1", "homeScore") == 35)
        story.apply(feed.cancel(402, "g35"))
        #expect(story.state("match/1", "homeScore") == 34)
        #expect(story.apply(feed.goal(345, "g34½"), now: at(403)).outcome == .published)
        #expect(story.state("match/1", "homeScore") == 35)
    }

    @Test func factsThatAreTooLargeAreRejected() {
        var story = Scripted()
        story.apply(feed.start(0))
        let record = story.apply(feed.goal(10, "g1", player: String(repeating: "x", count: 1100)))
        #expect(record.outcome == .rejected)
        #expect(record.reason.contains("at most 1024"))
    }

    @Test func earlyRetractionsBeyondTheLimitAreRejected() {
        var story = limited { $0.earlyRetractionsMax = 2 }
        story.apply(feed.start(0))
        let outcomes = (0..<3).map { story.apply(feed.cancel(1, "g\($0)")).outcome }
        #expect(outcomes == [.unchanged, .unchanged, .rejected])
        #expect(story.apply(feed.goal(1, "g0")).outcome == .retracted)
        #expect(story.apply(feed.cancel(1, "g9")).outcome == .unchanged, "there is room again")
    }

    /// A topic never ends, and its facts are withdrawn long after they were settled.
    @Test func retractionsOfWhatIsSettledTakeNoRoom() {
        var story = limited {
            $0.factsMax = 4
            $0.earlyRetractionsMax = 8
        }
        story.apply(feed.start(0))
        for number in 1...50 {
            let time = Double(number) * 10
            story.apply(feed.goal(time, "g\(number)"))
            guard number > 10 else { continue }
            let settled = story.apply(feed.cancel(time - 60, "g\(number - 10)"), now: at(time + 1))
            #expect(settled.outcome == .unchanged || settled.outcome == .late, "\(settled.reason)")
            let late = story.apply(feed.cancel(time + 1, "h\(number)"))
            #expect(late.outcome == .unchanged, "\(late.reason)")
        }
        #expect(story.state("match/1", "homeScore") == 50)
        #expect(story.apply(feed.goal(501, "h50")).outcome == .retracted, "what has not been settled is awaited")
    }

    @Test func causesBeyondTheLimitAreCounted() {
        var story = limited { $0.causesMax = 3 }
        let orders = PatchFeed()
        story.apply(orders.set(0, ["n": 0]))
        for number in 1...5 { story.apply(orders.set(1, ["n": .int(Int64(number))], id: "e\(number)")) }
        story.finish()
        #expect(story.records.last?.causes == ["e1", "e2", "e3"])
        #expect(story.records.last?.reason == "5 changes waited, and 2 more causes")
    }

    @Test(
        arguments: [
            ("goal", [:]), ("goal", ["side": "left"]), ("goal", ["side": "home", "player": 9]),
            ("goal", ["side": "home", "ownGoal": "yes"]), ("card", ["side": "home"]),
            ("card", ["side": "home", "color": "green"]), ("period", ["period": "3H"]), ("period", [:]),
            ("shootoutKick", ["side": "home"]), ("shootoutKick", ["side": "home", "scored": 1]),
            ("teams", ["home": "A"]),
            ("substitution", ["playerIn": "A"]),
        ] as [(String, JSONObject)])
    func footballFactsThatMeanNothingAreRejected(kind: String, values: JSONObject) {
        var story = Scripted()
        story.apply(feed.start(0))
        let record = story.apply(feed.fact(10, kind, "f1", values))
        #expect(record.outcome == .rejected)
        #expect(!record.reason.isEmpty)
        #expect(story.publications.count == 1)
        #expect(story.apply(feed.goal(20, "f1")).outcome == .published, "mended, it counts")
    }

    @Test func unknownFactKindsAreNotKept() {
        var story = Scripted()
        story.apply(feed.start(0))
        let record = story.apply(feed.fact(10, "corner", "x1", ["side": "home"]))
        #expect(record.outcome == .unchanged)
        #expect(record.reason == "football topics know no fact corner")
        let generic = story.apply(
            PatchFeed().event(10, "goal", .fact(Fact(id: "g", kind: "goal", at: at(10), values: [:]))))
        #expect(generic.reason == "generic topics know no fact goal")
    }

    @Test func unreadableLinesAreRecordedWithTheirLocation() {
        var story = Scripted()
        story.core.reject(
            FeedRejection(location: "feed.ndjson:7", reason: "not a JSON object"), now: at(5), into: &story.decisions)
        story.core.reject(
            FeedRejection(
                location: "feed.ndjson:8", reason: "no `at`", topic: TopicID("match/1"), at: FeedTime(milliseconds: -5)),
            now: at(4), into: &story.decisions)
        #expect(
            story.log == """
                {"type":"event","now":"2018-05-13T14:00:05.000Z","kind":"unreadable","outcome":"rejected",\
                "reason":"feed.ndjson:7: not a JSON object"}
                {"type":"event","topic":"match/1","now":"2018-05-13T14:00:05.000Z","kind":"unreadable",\
                "outcome":"rejected","reason":"feed.ndjson:8: no `at`"}

                """)
        #expect(story.core.topicCount == 0)
    }

    /// Facts are folded when the kind is known, and none may be settled before: a fact that cannot be folded yet would be lost.
    @Test func factsThatWaitForTheTopicsKindAreBounded() {
        var story = limited { $0.factsMax = 10 }
        for number in 1...12 {
            var goal = feed.goal(Double(number), "g\(number)")
            goal.topicKind = nil
            let record = story.apply(goal)
            #expect((record.outcome == .rejected) == (number > 10))
        }
        #expect(story.records.last?.reason == "10 facts wait for the topic's kind to be known, and no more")
        story.apply(feed.pass(20))
        #expect(story.state("match/1", "homeScore") == 10)
    }

    /// A fact that was settled with its withdrawal does not come back, whatever time the withdrawal claimed.
    @Test func aFactWithdrawnBeforeItsTimeStaysWithdrawn() {
        var story = limited { $0.factsMax = 10 }
        story.apply(feed.start(0))
        story.apply(feed.goal(100, "g"))
        story.apply(feed.cancel(5, "g"), now: at(101))
        let again = Fact(id: "g", kind: "goal", at: at(100), values: ["side": "home"])
        for number in 1...9 { story.apply(feed.card(Double(number) * 10, "c\(number)"), now: at(200)) }
        story.apply(feed.event(100, "goal", .fact(again)), now: at(200))
        #expect(story.state("match/1", "homeScore") == 0)
        for number in 10...20 { story.apply(feed.card(300 + Double(number), "c\(number)")) }
        story.apply(feed.event(100, "goal", .fact(again)), now: at(400))
        #expect(story.state("match/1", "homeScore") == 0)
    }

    /// Two spellings, composed or not, are two ids, for facts as for events.
    @Test func idsAreComparedByTheirBytes() {
        var story = Scripted()
        story.apply(feed.start(0))
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        #expect(story.apply(feed.goal(10, composed)).outcome == .published)
        #expect(story.apply(feed.goal(10, decomposed)).outcome == .published)
        #expect(story.state("match/1", "homeScore") == 2)
        story.apply(feed.cancel(20, decomposed))
        #expect(story.revoked.map { Array($0.utf8) } == [Array(decomposed.utf8)])
        #expect(story.apply(feed.goal(10, composed), now: at(30)).outcome == .duplicate)
        #expect(story.state("match/1", "homeScore") == 1)
    }

    @Test func nestingWithoutEndIsRefused() {
        var story = Scripted()
        func nested(_ depth: Int) -> JSONValue {
            var value: JSONValue = 1
            for level in 0..<depth { value = level % 2 == 0 ? .array([value]) : .object(["a": value]) }
            return value
        }
        let orders = PatchFeed()
        #expect(story.apply(orders.set(0, ["deep": nested(63)])).outcome == .published)
        for change in [
            FeedEvent.Change.patch(["deep": nested(64)]), .contentState(["deep": nested(1000)]),
            .fact(Fact(id: "f", kind: "goal", at: at(0), values: ["deep": nested(1000)])),
        ] {
            let record = story.apply(orders.event(1, "deep", change))
            #expect(record.outcome == .rejected)
            #expect(record.reason == "its values are nested more than 64 deep")
        }
    }
}
