import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Simulation

/// Each judge of pushes allows a good one and finds the fault of a bad one.
@Suite struct PushJudgesTests {
    private static let second = Moment.test.wallSeconds
    private static let moment = Moment.test
    private static let match = TopicID("match")
    private static let goal = Alert.test

    @Test func aPhoneGetsOnePushAtATimeAndNoneAfterItsEnd() {
        var (flying, gone) = (PushHistory.test(), Phone.test())
        flying.sent()
        gone.life.isGone = true
        #expect(FlightJudge().seen(Sight.test()) == nil)
        #expect(FlightJudge().seen(Sight.test(after: flying)) == "two pushes in flight")
        #expect(FlightJudge().seen(Sight.test(of: gone)) == "a push after its end (3)")
    }

    @Test func aPushGoesToTheTokenThatTheShardWasGivenLast() {
        var held = PushHistory.test()
        held.health.isHeld = true
        #expect(TokenJudge().seen(Sight.test()) == nil)
        #expect(TokenJudge().seen(Sight.test(token: [0])) == "a push to a token that was replaced before")
        #expect(TokenJudge().seen(Sight.test(after: held)) == "a push to somebody who is held")
    }

    @Test func aStampNeitherGoesBackNorIsDroppedByThePhone() {
        var history = PushHistory.test()
        history.sent()
        let ahead = Payload.test(stamp: Self.second + 9 * 3600)
        #expect(StampJudge().seen(Sight.test(after: history)) == nil)
        #expect(StampJudge().seen(Sight.test(Payload.test(stamp: Self.second - 1), after: history)) != nil)
        #expect(StampJudge().seen(Sight.test(ahead, after: history)) != nil)
        #expect(StampJudge().seen(Sight.test(ahead, after: history, isUnseen: true)) == nil)
    }

    @Test func aTokenInTroubleIsLeftAloneForASecond() {
        var history = PushHistory.test()
        history.health.answered(.throttled, isServed: true, isHeld: false, at: Self.moment.monotonic)
        #expect(RetryJudge().seen(Sight.test(after: history)) == "it is tried again at once (10)")
        #expect(RetryJudge().seen(Sight.test(after: history, late: .seconds(1))) == nil)
    }

    @Test func aStampBelongsToOneStateAndAStateIsSentOnce() {
        var history = PushHistory.test()
        history.sent()
        let (again, other) = (
            Payload.test(stamp: Self.second + 1), Payload.test(state: [2], stamp: Self.second + 1)
        )
        #expect(RepetitionJudge().seen(Sight.test(other, after: history)) == nil)
        #expect(RepetitionJudge().seen(Sight.test(again, after: history)) == "the same state twice (5)")
        #expect(RepetitionJudge().seen(Sight.test(Payload.test(state: [2]), after: history)) != nil)
        history.last.mayRepeat = true
        #expect(RepetitionJudge().seen(Sight.test(again, after: history)) == nil)
    }

    @Test func whatWasRefusedForGoodIsNotSentAgain() {
        var (history, published) = (PushHistory.test(), PublishedTopics())
        published.note(.test(3, of: Self.match), at: Self.moment.monotonic)
        #expect(RefusalJudge().seen(Sight.test(after: history, published: published)) == nil)
        history.states.refused([1], of: 3)
        #expect(
            RefusalJudge().seen(Sight.test(after: history, published: published)) == "what was refused is sent again")
        published.note(.test(4, of: Self.match), at: Self.moment.monotonic)
        #expect(RefusalJudge().seen(Sight.test(after: history, published: published)) == nil)
    }

    @Test func aCardThatHasOutlivedItsLimitGetsAnEndAndNoUpdate() {
        let late = Duration.seconds(8 * 3600 + 16)
        #expect(AgeJudge().seen(Sight.test(late: .seconds(8 * 3600))) == nil)
        #expect(AgeJudge().seen(Sight.test(late: late)) == "it has outlived its limit (L1)")
        #expect(AgeJudge().seen(Sight.test(Payload.test(.end), late: late)) == nil)
    }

    @Test func aPushNamesAMissedAlertOnce() {
        var history = PushHistory.test()
        let text = Self.goal.text
        let payload = Payload.test(alert: text, priority: .immediate)
        #expect(AlertJudge().seen(Sight.test(payload, after: history, told: [text])) != nil)
        history.noteAlert(of: .test(1, of: Self.match, alert: Self.goal))
        #expect(AlertJudge().seen(Sight.test(payload, after: history, told: [text])) == nil)
        #expect(AlertJudge().seen(Sight.test(payload, after: history)) != nil)
        let calm = Payload.test(alert: text)
        #expect(AlertJudge().seen(Sight.test(calm, after: history, told: [text])) == "an alert at priority 5")
        history.sent(payload, telling: [text])
        #expect(AlertJudge().seen(Sight.test(payload, after: history, told: [text])) != nil)
    }

    @Test func anAlertRidesUnlessThePersonWantsNone() {
        var history = PushHistory.test()
        history.noteAlert(of: .test(1, of: Self.match, alert: Self.goal))
        let alert = Payload.test(alert: Self.goal.text, priority: .immediate)
        #expect(AttentionJudge().seen(Sight.test(alert, after: history)) == nil)
        #expect(AttentionJudge().seen(Sight.test(after: history)) != nil)
        history.budget.subscriber.mask = .none
        #expect(AttentionJudge().seen(Sight.test(alert, after: history)) != nil)
        #expect(AttentionJudge().seen(Sight.test(after: history)) == nil)
    }

    @Test func aPushHasNoJWTOfTheWrongTime() {
        #expect(JWTJudge().seen(Sight.test()) == nil)
        #expect(JWTJudge().seen(Sight.test(faultOfJWT: "a JWT of the wrong time")) == "a JWT of the wrong time")
    }

    @Test func aWrongTimeIsNoFaultBeforeTheEngineCanKnowIt() throws {
        var credentials = Credentials(at: Self.moment)
        var truth = Self.moment
        truth.wallMilliseconds += 2 * 3600 * 1000
        let made = credentials.current(at: Self.moment, truth: truth)
        let jwt = try #require(made)
        let fault = try #require(jwt.fault)
        let now = Self.moment.monotonic
        let late = now + .seconds(16)
        #expect(credentials.judge(jwt, at: late) == nil)
        // The service has taken a time before, so that another one is known.
        credentials.accepted(jwt)
        _ = credentials.refused(jwt, as: fault, at: Self.moment)
        for _ in 0..<20 { credentials.note(isClockRight: true, at: now) }
        #expect(credentials.judge(jwt, at: late) == nil)
        credentials.note(isClockRight: true, at: now)
        #expect(credentials.judge(jwt, at: now + .seconds(15)) == nil)
        #expect(credentials.judge(jwt, at: late) == "a JWT of the wrong time, 16000 ms after one was refused (12)")
        #expect(credentials.judge(Credentials.JWT(serial: jwt.serial, fault: nil), at: late) == nil)
        credentials.accepted(jwt)
        #expect(credentials.judge(jwt, at: late) == nil)
    }

    @Test func priority10IsForThoseWhoseBudgetIsNotSpent() {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: 1, refill: .seconds(600))
        var history = PushHistory.test(limits: limits)
        var published = PublishedTopics()
        published.note(.test(1, of: Self.match), at: Self.moment.monotonic)
        let (urgent, calm) = (Payload.test(priority: .immediate), Payload.test())
        let held = AttentionJudge().seen(Sight.test(calm, after: history, published: published))
        #expect(held == "priority 5 though the budget is not spent")
        #expect(AttentionJudge().seen(Sight.test(urgent, after: history, published: published)) == nil)
        history.sent(urgent)
        #expect(AttentionJudge().seen(Sight.test(calm, after: history, published: published)) == nil)
        let overspent = AttentionJudge().seen(Sight.test(urgent, after: history, published: published))
        #expect(overspent == "priority 10 on a spent budget")
    }
}
