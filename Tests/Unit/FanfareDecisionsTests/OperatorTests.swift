import FanfareDecisions
import FanfareModel
import Testing

/// Operators step in by events in the log.
@Suite struct OperatorTests {
    private let match = FootballFeed()

    private func operate(_ seconds: Double, _ operation: FeedEvent.Operation, id: String? = nil) -> FeedEvent {
        match.event(seconds, operation.rawValue, id: id, .operation(operation))
    }

    @Test func aMutedTopicIsSilent() {
        var story = Scripted()
        story.apply(match.start())
        #expect(story.apply(operate(0, .mute)).reason == "mute by an operator")
        let goal = story.apply(match.goal(10, "g1"))
        #expect(goal.outcome == .published)
        #expect(goal.alert == .demoted)
        #expect(goal.alertReason == "muted by an operator")
        #expect(story.apply(operate(20, .mute)).reason == "mute: was so already")
        story.apply(operate(30, .unmute))
        #expect(story.apply(match.goal(40, "g2")).alert == .granted)
    }

    /// Even a goal does not pass; resuming shows all changes at once, and silently.
    @Test func aPausedTopicStandsStill() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(match.card(-1, "c0"))
        story.apply(match.card(-0.5, "c1"))
        story.apply(operate(0, .pause))
        let goal = story.apply(match.goal(10, "g1"))
        #expect(goal.outcome == .conflated)
        #expect(goal.reason == "until the topic is resumed: paused by an operator")
        #expect(goal.alert == nil)
        let flush = story.records.first { $0.origin == .timer }
        #expect(flush?.reason == "paused by an operator")
        #expect(story.publications.count == 2)
        #expect(story.apply(operate(20, .resume)).reason == "resume by an operator")
        story.advance(to: at(20))
        let resumed = story.records.last
        #expect(resumed?.outcome == .published)
        #expect(resumed?.now == at(20))
        #expect(resumed?.reason == "2 changes waited")
        #expect(resumed?.causes == ["c1", "g1"])
        #expect(story.publications.last?.alert == nil)
        #expect(story.topic("match/1")?.published?["homeScore"] == 1)
        #expect(story.apply(match.goal(30, "g2")).alert == .granted)
    }

    @Test func aChangeThatWentBackDuringAPauseIsNotPublished() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(match.event(5, "note", .patch(["note": "a"])))
        story.apply(operate(10, .pause))
        story.apply(match.event(20, "note", .patch(["note": "b"])))
        story.apply(match.event(30, "note", .patch(["note": "a"])))
        story.apply(operate(40, .resume))
        story.advance(to: at(40))
        #expect(story.records.last?.outcome == .unchanged)
        #expect(story.records.last?.reason == "back to what version 2 shows")
    }

    @Test func anEndPassesAPause() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(operate(0, .pause))
        story.apply(match.goal(10, "g1"))
        #expect(story.apply(match.end(20)).outcome == .published)
        #expect(story.publications.last?.event == .end)
        #expect(story.apply(operate(30, .resume)).outcome == .unchanged)
        #expect(story.publications.count == 2)
    }

    @Test func aPauseHoldsAnAlertInTheFeedsOwnWords() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(operate(0, .pause))
        let text = AlertText(title: "t", body: "b")
        let record = story.apply(match.event(10, "note", .patch(["note": "x"]), alert: text))
        #expect(record.alert == .demoted)
        #expect(record.alertReason == "paused by an operator")
    }

    @Test func theSameOrderTwiceIsADuplicate() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(operate(0, .pause, id: "o1"))
        story.apply(operate(10, .resume))
        #expect(story.apply(operate(20, .pause, id: "o1")).outcome == .duplicate)
        #expect(story.apply(match.goal(30, "g1")).outcome == .published)
    }

    // MARK: Corrections

    /// The feed missed a goal, and the last update is just a moment old.
    @Test func aCorrectionIsShownAtOnce() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(match.card(1, "c1"))
        var note = match.event(1.5, "correct", .patch(["note": "Match delayed"]))
        note.isCorrection = true
        let record = story.apply(note)
        #expect(record.outcome == .published)
        #expect(record.reason == "correction by an operator: visible change")
        #expect(story.publications.last?.priority == .immediate)
        // An equal change from the feed waits.
        #expect(story.apply(match.event(2, "note", .patch(["note": "a"]))).outcome == .conflated)
    }

    /// A false goal is withdrawn by hand: the people who were alerted are told, and the phones do not wait.
    @Test func aCorrectionWithdrawsAFact() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(match.goal(10, "g1"))
        var correction = match.event(10.5, "correct", .retraction(of: "g1"))
        correction.isCorrection = true
        #expect(story.apply(correction).alert == .granted)
        #expect(story.revoked == ["g1"])
        #expect(story.topic("match/1")?.published?["homeScore"] == 0)
    }

    /// A correction overrides the feed's earlier values, whatever their numbers and times, and the feed's next patch overrides
    /// both.
    @Test func theFeedsNextPatchGoesOverACorrection() {
        let order = PatchFeed()
        var story = Scripted()
        story.apply(order.set(10, ["eta": 20], seq: 7))
        var correction = order.set(5, ["eta": 35], seq: 1)
        correction.isCorrection = true
        #expect(story.apply(correction).outcome == .published)
        #expect(story.state("order/1", "eta") == 35)
        story.apply(order.set(11, ["eta": 25], seq: 8))
        #expect(story.state("order/1", "eta") == 25)
    }

    /// The clock of an operator's desk may be ahead of the feed's.
    @Test func aCorrectionMakesNothingLate() {
        var story = Scripted()
        story.apply(match.start())
        var correction = match.event(60, "correct", .patch(["note": "x"]))
        correction.isCorrection = true
        story.apply(correction)
        #expect(story.apply(match.goal(58, "g1"), now: at(60)).alert == .granted)
    }

    // MARK: Republishing

    @Test func republishingSendsTheSameStateAgain() {
        var story = Scripted()
        story.apply(match.start())
        story.apply(match.goal(10, "g1"))
        #expect(story.apply(operate(20, .republish)).reason == "republish by an operator")
        story.advance(to: at(20))
        #expect(story.records.last?.reason == "republished by an operator")
        let (before, again) = (story.publications[1], story.publications[2])
        #expect(again.isRepublished && !before.isRepublished)
        #expect(again.state == before.state && again.version == before.version + 1)
        #expect(again.alert == nil)
        // The state is published once.
        story.finish()
        #expect(story.publications.count == 3)
    }

    @Test func aRepublishThatIsImpossibleSaysWhy() {
        var story = Scripted()
        #expect(story.apply(operate(-700, .republish)).reason == "republish: has not been shown yet")
        story.apply(match.start())
        story.apply(operate(0, .pause))
        #expect(story.apply(operate(1, .republish)).reason == "republish: paused by an operator")
        story.apply(match.end(2))
        #expect(story.apply(operate(3, .republish)).reason == "republish: has ended")
        story.finish()
        #expect(story.publications.count == 2)
    }

    // MARK: Every topic

    private func everyTopic(
        _ seconds: Double, _ operation: FeedEvent.Operation, kind: TopicKind? = nil, id: String? = nil
    ) -> FeedEvent {
        FeedEvent(
            topic: .every, topicKind: kind, at: at(seconds), id: id, kind: operation.rawValue,
            change: .operation(operation))
    }

    /// Topics of the kind that begin later are muted, too; other kinds are not.
    @Test func aKindIsMuted() {
        let later = FootballFeed(topic: TopicID("match/2"))
        let order = PatchFeed()
        var story = Scripted()
        story.apply(match.start())
        let muted = story.apply(everyTopic(0, .mute, kind: .football))
        #expect(muted.reason == "mute by an operator: 1 running football topic, and all to come")
        #expect(muted.topic == .every)
        story.apply(later.start(1))
        #expect(story.apply(match.goal(10, "g1")).alert == .demoted)
        #expect(story.apply(later.goal(10, "g1")).alert == .demoted)
        let words = AlertText(title: "t", body: "b")
        #expect(story.apply(order.set(11, ["eta": 1], alert: words)).alert == .granted)
        story.apply(everyTopic(20, .unmute, kind: .football))
        #expect(story.apply(match.goal(30, "g2")).alert == .granted)
        #expect(story.apply(later.goal(30, "g2")).alert == .granted)
    }

    /// Each order is lifted by its own opposite.
    @Test func aPausedTopicStaysSoWhenAllResume() {
        let other = FootballFeed(topic: TopicID("match/2"))
        var story = Scripted()
        story.apply(match.start())
        story.apply(other.start())
        story.apply(operate(0, .pause))
        story.apply(everyTopic(1, .pause))
        story.apply(match.goal(10, "g1"))
        story.apply(other.goal(10, "g1"))
        #expect(story.publications.count == 2)
        #expect(story.apply(everyTopic(20, .resume)).reason == "resume by an operator: 2 running topics")
        story.advance(to: at(20))
        #expect(story.publications.count == 3)
        #expect(story.publications.last?.topicID == other.topic)
        #expect(story.apply(operate(30, .resume)).reason == "resume by an operator")
        story.advance(to: at(30))
        #expect(story.publications.last?.topicID == match.topic)
    }

    /// The fan-out keeps orders for an app: the decisions are the same for all apps.
    @Test func anOrderForAnAppTouchesNoTopic() {
        let app = AppID(bundleID: "com.example")
        func order(_ seconds: Double, kind: TopicKind? = nil) -> FeedEvent {
            FeedEvent(
                topic: .every, topicKind: kind, at: at(seconds), id: "desk/\(seconds)", kind: "mute",
                change: .operation(.mute), app: app)
        }
        var story = Scripted()
        story.apply(match.start())
        #expect(story.apply(order(1)).reason == "mute by an operator: app com.example, production")
        #expect(story.apply(order(1)).outcome == .duplicate)
        #expect(story.apply(order(2, kind: .football)).outcome == .rejected)
        let orders = story.decisions.filter { if case .order(.mute, app) = $0 { true } else { false } }
        #expect(orders.count == 1)
        #expect(story.apply(match.goal(10, "g1")).alert == .granted)
    }

    /// The topic's kind becomes known only after the order.
    @Test func anOrderReachesATopicThatTellsItsKindLate() {
        var story = Scripted()
        story.apply(everyTopic(0, .pause, kind: .football))
        var start = match.start(1)
        start.topicKind = nil
        story.apply(start)
        #expect(story.apply(match.goal(2, "g1")).outcome == .conflated)
        story.apply(everyTopic(3, .resume, kind: .football))
        story.advance(to: at(3))
        #expect(story.topic("match/1")?.published?["homeScore"] == 1)
    }

    @Test func anOrderForAllRepublishesEachRunningTopic() {
        var story = Scripted()
        for number in 1...3 { story.apply(FootballFeed(topic: TopicID("match/\(number)")).start()) }
        story.apply(FootballFeed(topic: TopicID("match/2")).end(-1))
        #expect(story.apply(everyTopic(0, .republish)).reason == "republish by an operator: 2 running topics")
        story.advance(to: at(0))
        #expect(story.publications.suffix(2).map(\.topicID.rawValue) == ["match/1", "match/3"])
        let again = story.publications.suffix(2)
        #expect(again.map(\.isRepublished) == [true, true])
    }

    @Test func aFeedIsNotResetForOneApp() {
        var story = Scripted()
        let app = AppID(bundleID: "one")
        let order = FeedEvent(topic: .every, at: at(0), kind: "reset", change: .operation(.reset), app: app)
        #expect(story.apply(order).outcome == .rejected)
        #expect(!story.decisions.contains { if case .order = $0 { true } else { false } })
    }

    /// An ended topic may begin again, and is then still under the order.
    @Test func anOrderForAllTopicsHoldsEndedTopics() {
        var rules = Rules.builtIn
        rules.other.lifetime.reopens = .resumed
        var story = Scripted(rules: rules)
        let orders = PatchFeed()
        story.apply(orders.set(0, ["eta": 5]))
        story.apply(orders.end(10))
        story.apply(everyTopic(20, .pause))
        #expect(story.apply(orders.set(30, ["eta": 4])).outcome == .conflated)
        story.apply(everyTopic(40, .resume))
        story.advance(to: at(40))
        #expect(story.publications.map(\.event) == [.update, .end, .update])
    }

    @Test func onlyOrdersAreForEveryTopic() {
        var story = Scripted()
        let patch = FeedEvent(topic: .every, at: at(0), kind: "patch", change: .patch(["a": 1]))
        #expect(story.apply(patch).outcome == .rejected)
        #expect(story.core.topicCount == 0)
        story.apply(everyTopic(1, .pause, id: "o1"))
        #expect(story.apply(everyTopic(2, .pause, id: "o1")).outcome == .duplicate)
    }

    @Test func ordersForKindsAreBounded() {
        var rules = Rules.builtIn
        rules.limits.orderedKindsMax = 2
        var story = Scripted(rules: rules)
        story.apply(everyTopic(0, .mute, kind: TopicKind("a")))
        story.apply(everyTopic(0, .mute, kind: TopicKind("b")))
        #expect(story.apply(everyTopic(0, .mute, kind: TopicKind("c"))).outcome == .rejected)
        // An order for all topics always has room.
        #expect(story.apply(everyTopic(0, .mute)).outcome == .unchanged)
    }
}
