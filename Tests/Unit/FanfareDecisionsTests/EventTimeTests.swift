import FanfareDecisions
import FanfareModel
import Testing

/// Times in events come from other clocks, and from people who write things down: they are late by milliseconds or minutes, and now
/// and then they are wrong.
@Suite struct EventTimeTests {
    let feed = FootballFeed()
    let orders = PatchFeed()

    private func started() -> Scripted {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.period(1, "1H"))
        return story
    }

    /// The event comes on the morning after, when the topic has been forgotten, or in a backlog after a restart.
    @Test func oldFactThatOpensATopicCausesNoAlert() {
        for (delay, verdict) in [(300.0, AlertVerdict?.some(.granted)), (301, nil), (12 * 3600, nil)] {
            var story = Scripted()
            let goal = story.apply(feed.goal(3000, "g7"), now: at(3000 + delay))
            #expect(goal.outcome == .published, "after \(delay) s")
            #expect(goal.alert == verdict, "after \(delay) s")
        }
    }

    /// Log time began eight hours ahead, or years behind, because the machine's clock was wrong at its start. It takes days to agree with the
    /// clock again, which has been right since.
    @Test(arguments: [8 * 3600.0, -2_000_000]) func logTimeThatIsWrongNeitherSilencesNewsNorLetsABacklogAlert(
        error: Double
    ) {
        for (delay, verdict) in [(2.0, AlertVerdict?.some(.granted)), (12 * 3600, nil)] {
            var story = Scripted()
            let arrived = 3_000_000 + delay
            let goal = story.apply(feed.goal(3_000_000, "g7"), now: at(arrived + error), wall: at(arrived))
            #expect(goal.outcome == .published && goal.alert == verdict, "after \(delay) s")
        }
    }

    /// The source replays the match from the beginning after a restart, in no time.
    @Test(arguments: [0.01, 2]) func oldFactsOfABacklogCauseNoAlert(pace: Double) {
        var story = Scripted()
        var now = 5400.0
        func next(_ happened: Double) -> FeedTime {
            now = max(now + pace, happened)
            return at(now)
        }
        story.apply(feed.start(0), now: next(0))
        for minute in 1..<90 {
            story.apply(feed.pass(Double(minute) * 60), now: next(Double(minute) * 60))
            guard minute % 20 == 0 else { continue }
            let happened = Double(minute) * 60 + 1
            let goal = story.apply(feed.goal(happened, "g\(minute)"), now: next(happened))
            #expect(goal.outcome == .published)
            #expect(goal.alert == (now - happened > 300 ? nil : .granted), "minute \(minute)")
        }
        // The feed has caught up.
        #expect(story.apply(feed.goal(5700, "last"), now: at(max(now, 5701))).alert == .granted)
    }

    /// A provider's clock is hours behind, or its feed takes minutes, with a few seconds of variation.
    @Test(arguments: [7200.0, 600]) func aClockThatIsConstantlyBehindSilencesNothing(lag: Double) {
        var story = Scripted()
        let jitter = [20.0, 0, 3, 25, 1, 0, 12]
        story.apply(feed.start(0), now: at(lag + jitter[0]))
        for minute in 1..<90 {
            let happened = Double(minute) * 60
            let now = at(happened + lag + jitter[minute % jitter.count])
            if minute % 7 == 3 {
                #expect(story.apply(feed.goal(happened, "g\(minute)"), now: now).alert == .granted, "minute \(minute)")
            } else {
                story.apply(feed.pass(happened), now: now)
            }
        }
    }

    /// The teams were named the day before, and the clock is behind.
    @Test func theFirstEventOfAFeedMayBeOlderThanThoseBehindIt() {
        var story = Scripted()
        story.apply(feed.start(-86_400), now: at(600))
        story.apply(feed.period(100, "1H"), now: at(700))
        #expect(story.apply(feed.goal(200, "g1"), now: at(800)).alert == .granted)
    }

    // MARK: - Late

    @Test func A1_aGoalThatIsAMillisecondOlderThanAPassAlerts() {
        var story = started()
        story.apply(feed.pass(100))
        let goal = story.apply(feed.goal(99.999, "g1"), now: at(100.5))
        #expect(goal.outcome == .published)
        #expect(goal.alert == .granted)
        #expect(!goal.reason.contains("late"))
    }

    /// The card is shown either way.
    @Test(arguments: [(95.0, AlertVerdict?.some(.granted)), (94.999, nil)])
    func ordinaryAlertsHaveTheToleranceOfTheRules(happened: Double, verdict: AlertVerdict?) {
        var story = started()
        story.apply(feed.pass(100))
        let card = story.apply(feed.card(happened, "c1", "red"), now: at(101))
        #expect(card.outcome == .published)
        #expect(card.alert == verdict)
        #expect(card.reason.contains("late by 5.001 s: silent") == (verdict == nil))
    }

    @Test(arguments: [(100.0, AlertVerdict?.some(.granted)), (99.999, nil)])
    func essentialAlertsMayBeAsLateAsTheyAreFresh(happened: Double, verdict: AlertVerdict?) {
        var story = started()
        story.apply(feed.pass(400))
        let goal = story.apply(feed.goal(happened, "g1"), now: at(401))
        #expect(goal.outcome == .published)
        #expect(goal.alert == verdict)
        #expect(goal.reason.contains("late by 30"))
    }

    /// The five minutes count from the goal, not from its recording.
    @Test func aLateAlertIsFreshForLessLong() {
        var story = started()
        story.apply(feed.pass(220))
        story.apply(feed.goal(100, "g1"), now: at(220))
        #expect(story.publications.last?.alert?.freshFor == .seconds(180))
    }

    @Test func withinTheToleranceNothingIsCalledLate() {
        var story = started()
        story.apply(feed.pass(100))
        #expect(story.apply(feed.pass(95), now: at(101)).outcome == .unchanged)
        #expect(story.apply(feed.pass(94.9), now: at(101)).outcome == .late)
    }

    @Test func theToleranceIsARule() {
        var rules = Rules.builtIn
        rules.kinds[.football]?.pace.lateAfter = .zero
        var story = Scripted(rules: rules)
        story.apply(feed.start(0))
        story.apply(feed.pass(100))
        #expect(story.apply(feed.card(99.999, "c1", "red"), now: at(100)).alert == nil)
        #expect(story.apply(feed.goal(99.998, "g1"), now: at(100)).alert == .granted)
    }

    // MARK: - Ahead

    /// An event of 2062 has no other event to compare with.
    @Test func oneEventOfAnotherCenturyMakesNothingLate() {
        var story = started()
        let far = FeedTime(rfc3339: "2062-01-01T00:00:00Z")!
        var pass = feed.pass(100, "p1")
        pass.at = far
        let record = story.apply(pass, now: at(100))
        #expect(record.at == far && record.now == at(100))
        #expect(record.outcome == .unchanged)
        #expect(record.reason.hasSuffix(" s ahead, so it counts as now"))
        let goal = story.apply(feed.goal(101, "g1"))
        #expect(goal.alert == .granted && !goal.reason.contains("late"))
        story.advance(to: at(100.999 + 24 * 3600))
        #expect(story.topic("match/1")?.ended == false)
        story.advance(to: at(101 + 24 * 3600))
        #expect(story.topic("match/1")?.ended == true, "log time has gone on by itself")
    }

    @Test func onePatchOfAnotherCenturyFreezesNothing() {
        var story = Scripted()
        story.apply(orders.set(0, ["eta": 10]))
        var patch = orders.set(10, ["eta": 9])
        patch.at = FeedTime(rfc3339: "2062-01-01T00:00:00Z")!
        #expect(story.apply(patch, now: at(10)).outcome == .published)
        #expect(story.apply(orders.set(20, ["eta": 8])).outcome == .published)
        #expect(story.topic("order/1")?.state == ["eta": 8])
    }

    /// A fact of another century would stay the newest for ever and hide all later ones.
    @Test func aFactOfAnotherCenturyHasHappenedNow() {
        var story = started()
        let far = FeedTime(rfc3339: "2062-01-01T00:00:00Z")!
        let fact = Fact(id: "half", kind: "period", at: far, values: ["period": "HT"])
        story.apply(FeedEvent(topic: feed.topic, at: far, kind: "period", change: .fact(fact)), now: at(2700))
        #expect(story.state("match/1", "period") == "HT")
        story.apply(feed.period(3600, "2H"))
        #expect(story.state("match/1", "period") == "2H")
        let other = Fact(id: "card", kind: "card", at: far, values: ["side": "home", "color": "yellow"])
        story.apply(feed.event(3700, "card", .fact(other)))
        story.apply(feed.goal(3800, "g1"))
        #expect(story.state("match/1", "highlight") == "homeScore")
    }

    /// A smaller lead is another clock's way of saying now; it makes no event late that comes in time.
    @Test func aClockThatIsAMinuteAheadMakesNothingLate() {
        var story = started()
        let record = story.apply(feed.pass(219.9, "p1"), now: at(100))
        #expect(record.reason == "nothing people can see")
        #expect(story.apply(feed.card(101, "c1", "red")).alert == .granted)
    }

    /// A provider's clock falls back by an hour, and an operator resets the topic: the next goal is no first event of a topic.
    @Test func afterAResetTheNextGoalAlertsHoweverOldItsTimeIs() {
        var story = started()
        story.apply(feed.pass(7200))
        story.apply(feed.event(7300, "reset", .operation(.reset)))
        #expect(story.apply(feed.goal(3710, "g1"), now: at(7310)).alert == .granted)
    }

    /// Log time is far behind the wall for hours after a machine was suspended. An event dated too far ahead of both gets the wall's time,
    /// as the events before and after it do.
    @Test func oneWrongTimeIsNotLateWhereLogTimeIsBehindTheWall() {
        var core = DecisionCore(isLive: false)
        var decisions: [Decision] = []
        let topic = TopicID("order/1")
        func set(_ number: Int64, happened: Double, log: Double, wall: Double) -> DecisionRecord? {
            core.apply(
                FeedEvent(
                    topic: topic, topicKind: .generic, at: at(happened), kind: "set",
                    change: .patch(["n": .int(number)])),
                now: at(log), wall: at(wall), into: &decisions)
            guard case .record(let record)? = decisions.last(where: { if case .record = $0 { true } else { false } })
            else { return nil }
            return record
        }
        _ = set(1, happened: 1000, log: 400, wall: 1000)
        let ahead = set(2, happened: 99_999, log: 410, wall: 1010)
        #expect(ahead?.outcome == .published, "\(ahead?.reason ?? "")")
        #expect(ahead?.reason.hasSuffix("98989 s ahead, so it counts as now") == true, "\(ahead?.reason ?? "")")
        #expect(set(3, happened: 1020, log: 420, wall: 1020)?.outcome == .published)
    }

    /// Log time follows the feed in a replay, so no event is ever ahead of it.
    @Test func theFirstEventIsNeverAhead() {
        var story = Scripted()
        #expect(!story.apply(feed.start(0)).reason.contains("ahead"))
    }

    // MARK: - Numbers

    @Test func numbersThatBeginAnewFreezeNothing() {
        var story = Scripted()
        for seq in 1...50 { story.apply(orders.set(Double(seq) * 10, ["n": .int(Int64(seq))], seq: UInt64(seq))) }
        #expect(story.apply(orders.set(600, ["n": 100], seq: 1)).outcome == .late)
        #expect(story.apply(orders.set(610, ["n": 101], seq: 2)).outcome == .published)
        #expect(story.apply(orders.set(620, ["n": 102], seq: 3)).outcome == .published)
        #expect(story.topic("order/1")?.state == ["n": 102])
    }

    /// A new time makes an old patch look like a new beginning, which the next patch must confirm by counting up from it.
    @Test func oldPatchesSentAgainAreNoNewBeginning() {
        var story = Scripted()
        story.apply(orders.set(0, ["n": 5], seq: 5))
        for seq in [4, 3, 3, 2] as [UInt64] {
            #expect(story.apply(orders.set(100, ["n": 0], seq: seq)).outcome == .late)
        }
        #expect(story.apply(orders.set(200, ["n": 6], seq: 6)).outcome == .published)
        #expect(story.apply(orders.set(300, ["n": 0], seq: 3)).outcome == .late, "the first one since")
        #expect(story.topic("order/1")?.state == ["n": 6])
    }

    @Test func numbersWithinTheToleranceDecideByThemselves() {
        var story = Scripted()
        story.apply(orders.set(0, ["n": 5], seq: 5))
        #expect(story.apply(orders.set(4, ["n": 2], seq: 2)).outcome == .late)
        #expect(story.apply(orders.set(5, ["n": 3], seq: 3)).outcome == .late)
    }

    // MARK: - By hand

    @Test func anOperatorResetsAFeedsTimesNumbersAndIDs() {
        var story = started()
        story.apply(orders.set(100, ["n": 9], seq: 9, id: "e9"))
        story.apply(feed.pass(100))
        let reset = story.apply(orders.event(101, "reset", .operation(.reset)))
        #expect(reset.reason == "reset by an operator: its feed's times, numbers and ids count from here")
        #expect(story.apply(orders.set(50, ["n": 1], seq: 1, id: "e9"), now: at(102)).outcome == .published)
        #expect(story.topic("order/1")?.state == ["n": 1])
        story.apply(feed.event(103, "reset", .operation(.reset)))
        #expect(story.apply(feed.card(50, "c1", "red"), now: at(104)).alert == .granted)
    }

    @Test func aResetOfAllIsForThoseThatRun() {
        var story = Scripted()
        story.apply(orders.set(100, ["n": 9], seq: 9))
        let reset = story.apply(FeedEvent(topic: .every, at: at(101), kind: "reset", change: .operation(.reset)))
        #expect(reset.reason == "reset by an operator: 1 running topic")
        #expect(story.apply(orders.set(50, ["n": 1], seq: 1), now: at(103)).outcome == .published)
    }
}
