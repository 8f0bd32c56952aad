import FanfareDecisions
import FanfareModel
import Testing

/// Beginning, end, and events after the end (rules L1–L6).
@Suite struct LifecycleTests {
    let feed = FootballFeed()
    let orders = PatchFeed()

    @Test func L1_anExplicitStartIsVersionOne() {
        var story = Scripted()
        let record = story.apply(orders.start(0))
        #expect(record.outcome == .published)
        #expect(record.version == 1)
        #expect(record.causes == ["start"])
        #expect(story.publications.first?.state.bytes == Array("{}".utf8))
        #expect(story.apply(orders.start(10)).reason == "has started already")
    }

    @Test func theFirstVisibleStateStartsATopicWithoutAStart() {
        var story = Scripted()
        #expect(story.apply(feed.pass(0)).outcome == .unchanged)
        #expect(story.topic("match/1")?.version == 0)
        #expect(story.topic("match/1")?.published == nil)
        let goal = story.apply(feed.goal(10, "g1"))
        #expect(goal.version == 1)
        #expect(goal.reason.hasPrefix("first state"))
    }

    @Test func L6_everyPublicationSaysWhenItLooksOld() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.goal(60, "g1"))
        story.apply(feed.end(100))
        #expect(story.publications.map(\.staleAfter) == [.seconds(3600), .seconds(3600), .seconds(3600)])
        #expect(story.publications.map(\.dismissal) == [nil, nil, .after(.seconds(900))])
    }

    @Test func L2_theEndTakesAlongWhatWaits() {
        var story = Scripted()
        story.apply(feed.start(0))
        #expect(story.apply(feed.card(1, "c1")).outcome == .conflated)
        let end = story.apply(feed.end(1.5))
        #expect(end.outcome == .published)
        #expect(end.now == at(1.5))
        #expect(end.causes == ["c1", "end"])
        #expect(story.publications.last?.event == .end)
        #expect(story.publications.last?.priority == .immediate)
        #expect(story.topic("match/1")?.published?["homeYellow"] == 1)
        story.advance(to: at(100_000))
        #expect(story.records.dropFirst(3).map(\.kind) == ["forget"], "no other timer is left")
        #expect(story.core.nextDeadline == nil)
    }

    @Test func fullTimeAloneDoesNotEnd() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.period(5400, "FT"))
        #expect(story.topic("match/1")?.ended == false)
    }

    @Test func fullTimeAndEndInOneEventAlertAndDismiss() {
        var story = Scripted()
        story.apply(feed.start(0))
        var whistle = feed.period(5400, "FT")
        whistle.lifecycle = .end
        let record = story.apply(whistle)
        #expect(record.alert == .granted)
        #expect(story.publications.last?.event == .end)
        #expect(story.publications.last?.alert?.text.title == "Full time")
        #expect(story.publications.last?.dismissal == .after(.seconds(900)))
    }

    @Test func L3_dismissalIsInProportionToHowLongItWas() {
        var story = Scripted()
        story.apply(feed.start(-600))
        story.apply(feed.end(6600))
        #expect(story.publications.last?.dismissal == .after(.seconds(1200)))
    }

    // MARK: - After the end

    @Test func L4_factsAfterTheEndFoldAndNothingIsSent() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.end(5400))
        let late = story.apply(feed.card(1000, "c1"), now: at(6000))
        #expect(late.outcome == .late)
        #expect(late.reason == "after end")
        #expect(story.apply(feed.pass(6000)).outcome == .late)
        #expect(story.apply(feed.end(6001)).outcome == .late)
        #expect(story.apply(feed.goal(6002, "g1")).alert == nil)
        story.advance(to: at(10_000))
        story.finish()
        #expect(story.publications.count == 2)
        #expect(story.publications.last?.version == 2)
        #expect(story.state("match/1", "homeYellow") == 1)
        #expect(story.state("match/1", "homeScore") == 1)
        #expect(story.topic("match/1")?.published?["homeYellow"] == 0)
    }

    @Test func duplicatesAndRefusalsAfterTheEndAreNotCalledLate() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.goal(10, "g1"))
        story.apply(feed.end(100))
        #expect(story.apply(feed.goal(10, "g1"), now: at(200)).outcome == .duplicate)
        #expect(story.apply(feed.fact(201, "goal", "g2", [:])).outcome == .rejected)
        story.apply(feed.cancel(202, "g3"))
        #expect(story.apply(feed.goal(10, "g3"), now: at(203)).outcome == .retracted)
        #expect(story.publications.count == 3)
    }

    /// The alert may still be in flight to a phone.
    @Test func aGoalWithdrawnAfterTheEndRevokesItsAlert() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.goal(10, "g1"))
        story.apply(feed.end(20))
        #expect(story.apply(feed.cancel(30, "g1")).outcome == .late)
        #expect(story.revoked == ["g1"])
        #expect(story.publications.count == 3)
    }

    // MARK: - An end always goes out

    @Test func anEndOfATopicThatNeverStartedIsPublished() {
        var story = Scripted()
        story.apply(feed.pass(0))
        let record = story.apply(feed.end(10))
        #expect(record.version == 1)
        #expect(story.publications.map(\.event) == [.end])
    }

    @Test func anEndWithAStalePatchIsPublished() {
        var story = Scripted()
        story.apply(orders.set(0, ["status": "out"], seq: 5))
        let record = story.apply(orders.end(10, ["status": "placed"], seq: 4))
        #expect(record.outcome == .published)
        #expect(record.reason == "end; patch 4 after patch 5; kept, lest the numbers begin anew")
        #expect(story.topic("order/1")?.published == ["status": "out"])
        #expect(story.topic("order/1")?.ended == true)
    }

    @Test func anEndWithAStateThatDoesNotFitIsPublished() {
        var story = Scripted()
        story.apply(orders.set(0, ["status": "out"]))
        let record = story.apply(orders.end(10, ["status": .string(String(repeating: "x", count: 4000))]))
        #expect(record.outcome == .published)
        #expect(record.reason.contains("bytes, at most 3072"))
        #expect(story.topic("order/1")?.published == ["status": "out"])
    }

    // MARK: - Silence

    private static let day = 24.0 * 3600

    /// Each card has its own eight hours, which do not depend on the topic.
    @Test func aMatchThatIsAnnouncedInTheMorningIsShownInTheEvening() {
        var story = Scripted()
        #expect(story.apply(feed.start(0)).outcome == .published)
        #expect(story.apply(feed.period(8.75 * 3600, "1H")).outcome == .published)
        let goal = story.apply(feed.goal(9 * 3600, "g1"))
        #expect(goal.outcome == .published && goal.alert == .granted)
        #expect(story.publications.allSatisfy { $0.event == .update })
    }

    @Test func L1_aTopicWhoseFeedFellSilentEndsWithItsNewestState() {
        var story = Scripted()
        story.apply(orders.set(0, ["eta": 10], id: "a"))
        story.apply(orders.set(60, ["eta": 9], id: "b"))
        story.apply(orders.set(60.5, ["eta": 8], id: "c"))
        story.finish()
        story.apply(orders.set(70 + Self.day, ["eta": 7], id: "d"))
        let record = story.records[story.records.count - 2]
        #expect(record.origin == .timer)
        #expect(record.kind == "silence")
        #expect(record.now == at(62 + Self.day))
        #expect(record.outcome == .published)
        #expect(record.reason == "its feed has been silent for 86400 s")
        #expect(story.publications.last?.event == .end)
        #expect(story.publications.last?.dismissal == .after(.seconds(1800)))
        #expect(story.topic("order/1")?.published == ["eta": 8])
        #expect(story.records.last?.outcome == .late)
    }

    /// Any event is a sign of life, even one that changes nothing.
    @Test func everyEventPutsOffTheSilence() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.period(1, "1H"))
        for hour in stride(from: 20.0, through: 100, by: 20) { story.apply(feed.pass(hour * 3600)) }
        #expect(story.topic("match/1")?.ended == false)
        story.advance(to: at(100 * 3600 + Self.day - 0.001))
        #expect(story.topic("match/1")?.ended == false)
        story.advance(to: at(100 * 3600 + Self.day))
        #expect(story.topic("match/1")?.ended == true)
    }

    /// A fixture is known for days; the rules define when it has begun.
    @Test func aMatchThatHasNotBegunIsAwaitedForLonger() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.advance(to: at(7 * Self.day - 1))
        #expect(story.topic("match/1")?.ended == false)
        story.advance(to: at(7 * Self.day))
        #expect(story.topic("match/1")?.ended == true)
        #expect(story.records.last?.reason == "its feed has been silent for 604800 s")
    }

    /// Cards of a feed that has died must not stay for ever, renewed or not.
    @Test func L1_aTopicWhoseCardsAreRenewedEndsWithItsFeed() {
        var rules = TopicRules.generic
        rules.lifetime.renews = true
        rules.lifetime.dismissal = .after(.seconds(61))
        var story = Scripted(rules: Rules(kinds: [:], other: rules))
        story.apply(orders.set(0, ["eta": 10]))
        story.apply(orders.set(20 * 3600, ["eta": 9]))
        story.advance(to: at(30 * 3600))
        #expect(story.publications.map(\.event) == [.update, .update])
        #expect(
            story.publications.map(\.expiry)
                == Array(repeating: Expiry(renews: true, dismissal: .after(.seconds(61))), count: 2))
        story.advance(to: at(20 * 3600 + Self.day))
        #expect(story.publications.map(\.event) == [.update, .update, .end])
    }

    @Test func theEndOfTheFeedIsNotSilence() {
        var story = Scripted()
        story.apply(orders.set(0, ["eta": 10]))
        story.finish()
        #expect(story.topic("order/1")?.ended == false)
        story.advance(to: at(Self.day))
        #expect(story.topic("order/1")?.ended == true)
    }

    // MARK: - Kinds

    @Test func aKindToldLaterFoldsTheFactsKeptSoFar() {
        var story = Scripted()
        var early = feed.goal(10, "g1")
        early.topicKind = nil
        #expect(story.apply(early).outcome == .unchanged)
        #expect(story.records.last?.reason == "kept until the topic's kind is known")
        var strange = feed.fact(11, "corner", "x1", [:])
        strange.topicKind = nil
        story.apply(strange)
        let told = story.apply(feed.goal(20, "g2"))
        #expect(told.outcome == .published)
        #expect(story.state("match/1", "homeScore") == 2)
        #expect(story.topic("match/1")?.kind == .football)
    }

    @Test func aTopicKeepsItsKind() {
        var story = Scripted()
        story.apply(feed.start(0))
        var event = feed.goal(10, "g1")
        event.topicKind = .transit
        let record = story.apply(event)
        #expect(record.outcome == .rejected)
        #expect(record.reason == "the topic is football, not transit")
        event.topicKind = nil
        #expect(story.apply(event).outcome == .published)
    }
}
