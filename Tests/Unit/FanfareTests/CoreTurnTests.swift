import FanfareDecisions
import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Synchronization
import Testing

@testable import Fanfare

@Suite struct CoreTurnTests {
    private static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }

    // MARK: Clocks

    /// A goal reaches the phone within seconds however the machine's clock is set, with a stamp that a phone accepts: neither half a
    /// minute old nor eight hours ahead.
    @Test(arguments: [-86_400, -8 * 3600, -3600, -61, -1, 1, 61, 3600, 8 * 3600, 86_400])
    func aGoalArrivesWhateverTheClockIsSetTo(seconds: Int) {
        let engine = OneThread()
        engine.begin()
        engine.clock.set(by: .seconds(seconds))
        engine.pass(.seconds(1))
        let before = engine.transport.accepted.count
        engine.goal(1)
        engine.pass(.seconds(1))
        let pushes = engine.transport.accepted.dropFirst(before)
        #expect(pushes.contains { $0.alert != nil }, "\(seconds) s")
        for push in pushes {
            #expect(push.stamp >= engine.clock.truth + .seconds(-30), "\(seconds) s: a phone drops it")
            #expect(push.stamp <= engine.clock.truth + CoreTurnTests.hours(8), "\(seconds) s: a phone drops it")
        }
    }

    /// The clock stays wrong. APNs has accepted a JWT with the time before, and the engine relies on that.
    @Test(arguments: [-720, -26, -9, -8, -7, -2, 2, 7, 8, 9, 26, 720])
    func aGoalArrivesHoweverLongAClockStaysWrongThatAPNsRefutes(hours: Int) {
        let engine = OneThread()
        engine.begin()
        engine.prove()
        engine.clock.set(by: CoreTurnTests.hours(hours) + .seconds(hours < 0 ? -1 : 1))
        for (number, wait) in [1, 4, 5, 60, 1800].enumerated() {
            engine.pass(.seconds(wait))
            let before = engine.transport.accepted.count
            engine.goal(number)
            engine.pass(.seconds(1))
            let pushes = engine.transport.accepted.dropFirst(before)
            #expect(pushes.contains { $0.alert != nil }, "\(hours) h, goal \(number)")
            for push in pushes {
                let truth = engine.clock.truth
                let isTaken = push.stamp >= truth + .seconds(-30) && push.stamp <= truth + CoreTurnTests.hours(8)
                #expect(isTaken, "\(hours) h, goal \(number): a phone drops it")
                #expect(push.staleDate.map { $0 > truth } ?? true, "\(hours) h, goal \(number): it looks old at once")
            }
        }
        #expect(engine.reports.count == 1, "\(engine.reports)")
        #expect(engine.reports.first?.contains("APNs goes by the time before") == true, "\(engine.reports)")
    }

    /// Nothing has been accepted yet, so it is unknown which clock is right: operators are warned of the consequences.
    @Test(arguments: [-26, 26]) func aStepThatPhonesMayNotBearIsToldWhereNothingIsKnown(hours: Int) {
        let engine = OneThread()
        engine.begin()
        engine.clock.set(by: CoreTurnTests.hours(hours))
        engine.pass(.seconds(60))
        #expect(engine.reports.count == 1)
        #expect(engine.reports.first?.contains("phones drop") == true, "\(engine.reports)")
    }

    /// A conflated change waits for its interval, not until the clock is back at its old time.
    @Test(arguments: [-86_400, -3600, 3600, 86_400]) func aConflatedChangeArrivesAfterItsIntervalWhateverTheClockStep(
        seconds: Int
    ) {
        let engine = OneThread()
        engine.begin()
        engine.clock.set(by: .seconds(seconds))
        for number in 1...3 {
            engine.card(number)
            engine.pass(.milliseconds(100))
        }
        engine.pass(.seconds(4))
        #expect(
            engine.transport.accepted.last?.state.contains(#""homeYellow":3"#) == true,
            "\(seconds) s: \(engine.transport.accepted.map(\.state))")
    }

    /// The clock is eight hours or more ahead for one event, and right again for the next one.
    @Test(arguments: [8, 9, 30, 24 * 400]) func aClockThatIsAheadForOneEventEndsNothing(hours: Int) {
        let engine = OneThread()
        engine.begin()
        engine.clock.set(by: CoreTurnTests.hours(hours))
        engine.goal(1)
        engine.settle()
        engine.clock.set(by: CoreTurnTests.hours(-hours))
        engine.pass(.seconds(60))
        engine.goal(2)
        engine.pass(.seconds(10))
        #expect(engine.transport.accepted.allSatisfy { $0.event == .update })
        #expect(engine.transport.accepted.count { $0.alert != nil } == 2)
        #expect(engine.shard.shard.statistics.activities == 1)
    }

    /// Log time lags behind the wall clock by eight hours, and the date is an hour away.
    @Test func L3_aCardGoesAtTheDateOfTheRulesHoweverFarLogTimeLags() {
        let date = ManualClock.start + CoreTurnTests.hours(9)
        var rules = Rules.builtIn
        rules.kinds[.football]?.lifetime.dismissal = .at(date)
        let engine = OneThread(rules: rules)
        engine.begin()
        engine.clock.set(by: CoreTurnTests.hours(8))
        engine.pass(.seconds(30))
        engine.event("end", .nothing, lifecycle: .end)
        engine.pass(.seconds(1))
        #expect(engine.core.now < ManualClock.start + CoreTurnTests.hours(1))
        let last = engine.transport.accepted.last
        #expect(last?.event == .end && last?.dismissalDate == date)
    }

    /// The phone started the activity a minute ago, by a clock that is right.
    @Test func anActivityIsAsOldAsItIsWhateverTheClockSays() {
        let engine = OneThread()
        engine.begin()
        engine.clock.set(by: CoreTurnTests.hours(9))
        engine.follow(2, startedAt: engine.clock.truth + .seconds(-60))
        engine.settle()
        engine.clock.set(by: CoreTurnTests.hours(-9))
        engine.pass(.seconds(600))
        #expect(engine.shard.shard.statistics.activities == 2)
        #expect(engine.transport.accepted.allSatisfy { $0.event == .update })
    }

    @Test func anOperatorsOrderIsObeyedAtOnceAfterTheClockWasSetBack() {
        let engine = OneThread()
        engine.begin()
        _ = engine.ask(
            .eventNow { FeedEvent(topic: OneThread.match, at: $0, kind: "pause", change: .operation(.pause)) })
        engine.goal(1)
        engine.pass(.seconds(10))
        let before = engine.transport.accepted.count
        engine.clock.set(by: CoreTurnTests.hours(-1))
        _ = engine.ask(
            .eventNow { FeedEvent(topic: OneThread.match, at: $0, kind: "resume", change: .operation(.resume)) })
        engine.settle()
        #expect(engine.transport.accepted.count == before + 1)
    }

    @Test func aStepOfTheClockIsToldOnce() {
        let engine = OneThread()
        engine.begin()
        engine.clock.set(by: CoreTurnTests.hours(-1))
        engine.pass(.seconds(10))
        #expect(engine.reports.count == 1 && engine.reports[0].contains("set back"), "\(engine.reports)")
        #expect(engine.reports.first?.hasSuffix("by 3600 s") == true)
        // A clock that is set back and forth does not fill the log.
        for _ in 0..<50 {
            engine.clock.set(by: CoreTurnTests.hours(1))
            engine.pass(.milliseconds(100))
            engine.clock.set(by: CoreTurnTests.hours(-1))
            engine.pass(.milliseconds(100))
        }
        #expect(engine.reports.count == 2, "\(engine.reports)")
    }

    // MARK: Stopping and settling

    /// A health check asks now and then, in vain, because APNs always answers one token with an error.
    @Test func takenEventsLeaveBeforeTheStopDespiteManyPendingSettles() {
        let engine = OneThread()
        engine.begin()
        engine.transport.answer = { $0 == [2] ? .serviceError : .accepted }
        engine.follow(2)
        engine.pass(.seconds(1))
        for _ in 0..<2000 { #expect(engine.ask(.settle(until: .never) { _ in })) }
        engine.settle()
        engine.transport.isBlocked = true
        engine.goal(1)
        engine.settle()
        var isOver = false
        engine.turn.onOver = { isOver = true }
        engine.stop(within: .seconds(10))
        engine.settle()
        #expect(!isOver, "the goal has not left")
        engine.transport.isBlocked = false
        engine.pass(.seconds(1))
        #expect(engine.transport.accepted.contains { $0.alert != nil })
        #expect(!isOver, "one phone still lacks it")
        engine.pass(.seconds(10))
        #expect(isOver)
    }

    /// A question whose time is over needs no answer: memory does not grow with the questions asked in vain.
    @Test func aSettleInVainIsForgottenWhenItsTimeIsOver() {
        let engine = OneThread()
        engine.begin()
        engine.transport.isBlocked = true
        engine.goal(1)
        // The answering turn runs in the test's own thread.
        nonisolated(unsafe) var answers: [Bool] = []
        for _ in 0..<3000 {
            let until = engine.clock.now + .seconds(1)
            #expect(engine.ask(.settle(until: until) { answers.append($0 == .complete) }))
        }
        engine.settle()
        #expect(engine.core.settlesWaiting == 3000)
        engine.pass(.seconds(1))
        #expect(engine.core.settlesWaiting == 0 && answers == Array(repeating: false, count: 3000))
        engine.transport.isBlocked = false
        #expect(engine.ask(.settle(until: .never) { answers.append($0 == .complete) }))
        engine.pass(.seconds(1))
        #expect(answers.last == true)
    }

    /// The change waits for its topic's interval, which the rules may set to hours.
    @Test func aSettleForAConflatedChangeIsForgottenWhenItsTimeIsOver() {
        var rules = Rules.builtIn
        rules.kinds[.football]?.pace.minimumInterval = .seconds(3600)
        let engine = OneThread(rules: rules)
        engine.begin()
        engine.card(1)
        engine.pass(.seconds(1))
        // The answering turn runs in the test's own thread.
        nonisolated(unsafe) var answers: [Settlement] = []
        let until = engine.clock.now + .seconds(1)
        for _ in 0..<3000 { #expect(engine.ask(.settle(until: until) { answers.append($0) })) }
        #expect(engine.ask(.settle(until: .never) { answers.append($0) }))
        engine.pass(.milliseconds(900))
        #expect(answers.isEmpty)
        engine.pass(.milliseconds(100))
        #expect(answers == Array(repeating: .unknown, count: 3000))
        engine.pass(.seconds(3600))
        #expect(answers.count == 3001 && answers.last == .complete)
    }

    /// The topic's timer is still set for the time before, behind another topic's.
    @Test func aSettleWaitsForAChangeWhoseTopicWasShownWhileOneWaited() {
        let engine = OneThread()
        func change(_ topic: String, _ number: Int, alert: AlertText? = nil) {
            var event = FeedEvent.number(number, of: topic)
            event.at = engine.clock.truth
            event.alert = alert
            #expect(engine.ask(.event(event)))
            engine.settle()
        }
        for topic in ["first", "second"] { change(topic, 1) }
        for topic in ["first", "second"] { change(topic, 2) }
        engine.pass(.milliseconds(500))
        change("second", 3, alert: AlertText(title: "now", body: ""))
        change("second", 4)
        // The answering turn runs in the test's own thread.
        nonisolated(unsafe) var answers: [Bool] = []
        #expect(engine.ask(.settle(until: .never) { answers.append($0 == .complete) }))
        engine.pass(.milliseconds(1700))
        #expect(engine.core.topics.compactMap(\.published?["number"]) == [2, 3])
        #expect(answers == [])
        engine.pass(.milliseconds(500))
        #expect(engine.core.topics.compactMap(\.published?["number"]) == [2, 4])
        #expect(answers == [true])
    }

    /// The paused changes leave only after an operator's order.
    @Test func aSettleDoesNotWaitForWhatAPauseHoldsBack() {
        let engine = OneThread()
        func change(_ number: Int) {
            var event = FeedEvent.number(number, of: "topic")
            event.at = engine.clock.truth
            #expect(engine.ask(.event(event)))
            engine.settle()
        }
        func order(_ operation: FeedEvent.Operation) {
            #expect(
                engine.ask(
                    .eventNow {
                        FeedEvent(topic: TopicID("topic"), at: $0, kind: "order", change: .operation(operation))
                    }))
        }
        change(1)
        change(2)
        #expect(engine.core.flushesUntil != nil)
        order(.pause)
        engine.settle()
        #expect(engine.core.flushesUntil == nil)
        order(.resume)
        engine.pass(.seconds(5))
        #expect(engine.core.topics.compactMap(\.published?["number"]) == [2])
    }

    /// The machine was ten minutes slow, and log time approaches the clock for hours.
    @Test func anOperatorsCorrectionAfterAStepOfTheClockAlerts() {
        let engine = OneThread()
        engine.clock.set(by: .seconds(-600))
        engine.begin()
        engine.clock.set(by: .seconds(600))
        engine.pass(.seconds(10))
        engine.goal(1)
        engine.pass(.seconds(10))
        let alerts = engine.transport.accepted.count { $0.alert != nil }
        let goal = Fact(id: "by hand", kind: "goal", at: engine.clock.truth, values: ["side": "home"])
        #expect(
            engine.ask(
                .eventNow { _ in
                    FeedEvent(
                        topic: OneThread.match, topicKind: .football, at: goal.at, kind: "correct", change: .fact(goal),
                        isCorrection: true)
                }))
        engine.pass(.seconds(10))
        #expect(engine.transport.accepted.count { $0.alert != nil } == alerts + 1)
    }

    /// APNs refuses one phone the goal, and it is not sent again.
    @Test func nothingIsSettledWhileSomebodyLacksWhatWasRefused() {
        let engine = OneThread()
        engine.begin()
        engine.follow(2)
        engine.pass(.seconds(1))
        engine.transport.answer = { $0 == [2] ? .refused : .accepted }
        engine.goal(1)
        engine.pass(.seconds(1))
        // The answering turn runs in the test's own thread.
        nonisolated(unsafe) var answers: [Bool] = []
        func ask() {
            #expect(engine.ask(.settle(until: .never) { answers.append($0 == .complete) }))
            engine.settle()
        }
        ask()
        #expect(answers == [false])
        var isOver = false
        engine.transport.answer = { _ in .accepted }
        engine.goal(2)
        engine.pass(.seconds(1))
        ask()
        #expect(answers == [false, true])
        engine.transport.answer = { $0 == [2] ? .refused : .accepted }
        engine.goal(3)
        engine.turn.onOver = { isOver = true }
        engine.stop(within: .seconds(10))
        engine.settle()
        #expect(isOver, "nothing is left to be sent, so nobody waits for the ten seconds")
    }

    // MARK: Requests

    /// People log in for minutes, and the mailbox is never empty.
    @Test func timeGoesOnWhileCommandsKeepComing() {
        let engine = OneThread(mailbox: 1 << 12)
        engine.begin()
        engine.card(1)
        engine.card(2)
        for _ in 0..<400 {
            while engine.ask(.command(.setPreferences(ActivityID(9), Preferences()), subscriber: 9, app: 0)) {}
            #expect(engine.turn.run() == .again)
            engine.runShard()
            engine.takeFeedback()
            engine.clock.pass(.milliseconds(10))
        }
        #expect(
            engine.transport.accepted.last?.state.contains(#""homeYellow":2"#) == true,
            "\(engine.transport.accepted.map(\.state))")
        #expect(engine.core.nextDeadline.map { $0 > engine.clock.truth } ?? true)
    }

    /// A shard hangs, and every ring to it is full.
    @Test func anEngineStopsThoughAShardTakesNothing() {
        let engine = OneThread()
        while !engine.core.isCongested { engine.link.send(.unfollow(ActivityID(1))) }
        engine.goal(1)
        #expect(engine.turn.run() == .after(nil))
        var isOver = false
        engine.turn.onOver = { isOver = true }
        engine.stop(within: .seconds(1))
        #expect(engine.turn.run() == .after(.seconds(1)))
        #expect(!isOver)
        engine.clock.pass(.seconds(1))
        _ = engine.turn.run()
        #expect(isOver)
        #expect(engine.records.contains { $0.kind == "goal" }, "what was taken is decided nevertheless")
    }

    // MARK: Notices

    @Test func operatorsAreToldOfUnknownWordsAndUsedUpRoom() {
        var rules = Rules.builtIn
        rules.limits.topicsMax = 5
        let engine = OneThread(rules: rules)
        for number in 1...6 {
            _ = engine.ask(
                .event(
                    FeedEvent(
                        topic: TopicID("match/\(number)"), topicKind: .football, at: engine.clock.truth, kind: "start",
                        change: .patch(["a": 1]))))
        }
        engine.event("gaol", .fact(Fact(id: "f", kind: "gaol", at: engine.clock.truth, values: ["side": "home"])))
        engine.settle()
        #expect(engine.reports.contains { $0.hasPrefix("80 % of the 5 topics") }, "\(engine.reports)")
        #expect(engine.reports.contains { $0.hasPrefix("all 5 topics are taken") }, "\(engine.reports)")
        #expect(engine.reports.contains { $0.contains("`gaol`") }, "\(engine.reports)")
    }
}
