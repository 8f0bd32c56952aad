import FanfareDecisions
import FanfareModel
import Testing

/// The latest change wins inside the minimum interval; essential changes pass (rule U5).
@Suite struct ConflationTests {
    let orders = PatchFeed()
    let match = FootballFeed()

    @Test func U5_theNewestOfSeveralChangesGoesOutAfterTheInterval() {
        var story = Scripted()
        story.apply(orders.set(0, ["eta": 10], id: "a"))
        let held = story.apply(orders.set(0.5, ["eta": 9], id: "b"))
        #expect(held.outcome == .conflated)
        #expect(held.version == nil)
        #expect(held.reason.contains("until 2018-05-13T14:00:02.000Z"))
        story.apply(orders.set(1, ["eta": 8, "gate": "B"], id: "c"))
        #expect(story.core.nextDeadline == at(2))
        #expect(story.publications.count == 1)

        story.advance(to: at(1.999))
        #expect(story.publications.count == 1)
        story.advance(to: at(2))
        #expect(story.publications.count == 2)
        let flush = story.records.last
        #expect(flush?.origin == .timer)
        #expect(flush?.kind == "flush")
        #expect(flush?.now == at(2))
        #expect(flush?.version == 2)
        #expect(flush?.causes == ["b", "c"])
        #expect(story.topic("order/1")?.published == ["eta": 8, "gate": "B"])
    }

    /// A timer whose deadline equals the event's time fires before it.
    @Test func atEqualTimesTheTimerIsFirst() {
        var story = Scripted()
        story.apply(orders.set(0, ["eta": 10], id: "a"))
        story.apply(orders.set(1, ["eta": 9], id: "b"))
        story.apply(orders.set(2, ["eta": 8], id: "c"))
        #expect(story.records.map(\.kind) == ["patch", "patch", "flush", "patch"])
        #expect(story.records.map(\.outcome) == [.published, .conflated, .published, .conflated])
        #expect(story.records[2].causes == ["b"])
        #expect(story.core.nextDeadline == at(4))
    }

    @Test func U5_essentialsPassAtOnceAndTakeAlongWhatWaits() {
        var story = Scripted()
        story.apply(match.start(0))
        #expect(story.apply(match.card(0.5, "c1")).outcome == .conflated)
        let goal = story.apply(match.goal(1, "g1"))
        #expect(goal.outcome == .published)
        #expect(goal.causes == ["c1", "g1"])
        #expect(goal.now == at(1))
        story.advance(to: at(100))
        #expect(story.records.count == 3, "the flush has nothing left to do")
        #expect(story.state("match/1", "homeYellow") == 1)
    }

    @Test(arguments: ["goal", "cancellation", "red", "secondYellow", "period", "kick"])
    func essentialFootballEventIsPublishedAtOnce(_ what: String) {
        var story = Scripted()
        story.apply(match.start(0))
        story.apply(match.goal(5, "g0"))
        let event =
            switch what {
            case "goal": match.goal(5.1, "g1")
            case "cancellation": match.cancel(5.1, "g0")
            case "period": match.period(5.1, "HT")
            case "kick": match.kick(5.1, "k1", "home", scored: false)
            default: match.card(5.1, "c1", what)
            }
        let record = story.apply(event)
        #expect(record.outcome == .published)
        #expect(record.now == at(5.1))
        #expect(story.publications.last?.priority == .immediate)
    }

    @Test func ordinaryChangesSaveTheBudget() {
        var story = Scripted()
        story.apply(match.start(0))
        story.apply(match.substitution(10, "s1"))
        story.apply(match.card(20, "c1"))
        #expect(story.publications.map(\.priority) == [.conserving, .conserving, .conserving])
    }

    @Test func aChangeThatIsGoneAgainIsNotSent() {
        var story = Scripted()
        story.apply(orders.set(0, ["eta": 10], id: "a"))
        story.apply(orders.set(0.5, ["eta": 9], id: "b"))
        let back = story.apply(orders.set(1, ["eta": 10], id: "c"))
        #expect(back.outcome == .unchanged)
        #expect(back.reason == "back to what version 1 shows")
        story.advance(to: at(5))
        #expect(story.publications.count == 1)
        #expect(story.records.last?.origin == .timer)
        #expect(story.records.last?.outcome == .unchanged)
        #expect(story.core.nextDeadline == at(24 * 3600), "its feed may be silent from the first event on")
    }

    @Test func afterTheIntervalAChangeGoesOutByItself() {
        var story = Scripted()
        story.apply(orders.set(0, ["eta": 10]))
        #expect(story.apply(orders.set(2, ["eta": 9])).outcome == .published)
        #expect(story.apply(orders.set(3.999, ["eta": 8])).outcome == .conflated)
    }

    @Test func theEndOfTheFeedFlushesAndEndsNothing() {
        var story = Scripted()
        for number in [3, 1, 2] {
            let feed = PatchFeed(topic: TopicID("order/\(number)"))
            story.apply(feed.set(Double(number) / 10, ["eta": 10]), now: at(0.3))
            story.apply(feed.set(Double(number) / 10, ["eta": 9]), now: at(0.3))
        }
        story.finish()
        let flushed = story.records.filter { $0.origin == .timer }
        #expect(flushed.map(\.topic?.rawValue) == ["order/3", "order/1", "order/2"], "equal deadlines: by birth")
        #expect(flushed.allSatisfy { $0.kind == "flush" && $0.now == at(2.3) })
        #expect(story.core.topics.allSatisfy { !$0.ended && $0.published == $0.state })
        #expect(story.core.nextDeadline == at(0.3 + 24 * 3600), "silence is counted on")
        let said = story.decisions.count
        story.finish()
        #expect(story.decisions.count == said)
    }

    @Test func deadlinesComeInOrderOfTime() {
        var story = Scripted()
        let feeds = (0..<20).map { PatchFeed(topic: TopicID("order/\($0)")) }
        var random = SplitMix64(seed: 3)
        var moments = (0..<20).map { Double($0) / 20 }
        random.shuffle(&moments)
        for moment in moments.indices.sorted(by: { moments[$0] < moments[$1] }) {
            story.apply(feeds[moment].set(moments[moment], ["eta": 10]))
        }
        for feed in feeds { story.apply(feed.set(1, ["eta": 9])) }
        story.advance(to: at(60))
        let flushed = story.records.filter { $0.origin == .timer }
        #expect(flushed.count == 20)
        #expect(zip(flushed, flushed.dropFirst()).allSatisfy { $0.now < $1.now })
    }

    @Test func timeNeverGoesBack() {
        var story = Scripted()
        story.apply(orders.set(10, ["eta": 10]))
        let record = story.apply(orders.set(11, ["eta": 9]), now: at(5))
        #expect(record.now == at(10))
        story.advance(to: at(1))
        #expect(story.apply(orders.set(11.5, ["eta": 8])).now == at(11.5))
    }
}
