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
        var (flying, gone) = (Phone.test(), Phone.test())
        flying.sent(Payload.test(), telling: [], newest: 1, at: Self.moment)
        gone.life.isGone = true
        #expect(FlightJudge().seen(Sight.test()) == nil)
        #expect(FlightJudge().seen(Sight.test(of: flying)) == "two pushes in flight")
        #expect(FlightJudge().seen(Sight.test(of: gone)) == "a push after its end (3)")
    }

    @Test func aPushGoesToTheTokenThatTheShardWasGivenLast() {
        var held = Phone.test()
        held.health.isHeld = true
        #expect(TokenJudge().seen(Sight.test()) == nil)
        #expect(TokenJudge().seen(Sight.test(token: [0])) == "a push to a token that was replaced before")
        #expect(TokenJudge().seen(Sight.test(of: held)) == "a push to somebody who is held")
    }

    @Test func aStampNeitherGoesBackNorIsDroppedByThePhone() {
        var phone = Phone.test()
        phone.sent(Payload.test(), telling: [], newest: 1, at: Self.moment)
        let ahead = Payload.test(stamp: Self.second + 9 * 3600)
        #expect(StampJudge().seen(Sight.test(of: phone)) == nil)
        #expect(StampJudge().seen(Sight.test(Payload.test(stamp: Self.second - 1), of: phone)) != nil)
        #expect(StampJudge().seen(Sight.test(ahead, of: phone)) != nil)
        #expect(StampJudge().seen(Sight.test(ahead, of: phone, isUnseen: true)) == nil)
    }

    @Test func aTokenInTroubleIsLeftAloneForASecond() {
        var phone = Phone.test()
        phone.health.answered(.throttled, isServed: true, isHeld: false, at: Self.moment.monotonic)
        #expect(RetryJudge().seen(Sight.test(of: phone)) == "it is tried again at once (10)")
        #expect(RetryJudge().seen(Sight.test(of: phone, after: .seconds(1))) == nil)
    }

    @Test func aStampBelongsToOneStateAndAStateIsSentOnce() {
        var phone = Phone.test()
        phone.sent(Payload.test(), telling: [], newest: 1, at: Self.moment)
        let (again, other) = (
            Payload.test(stamp: Self.second + 1), Payload.test(state: [2], stamp: Self.second + 1)
        )
        #expect(RepetitionJudge().seen(Sight.test(other, of: phone)) == nil)
        #expect(RepetitionJudge().seen(Sight.test(again, of: phone)) == "the same state twice (5)")
        #expect(RepetitionJudge().seen(Sight.test(Payload.test(state: [2]), of: phone)) != nil)
        phone.last.mayRepeat = true
        #expect(RepetitionJudge().seen(Sight.test(again, of: phone)) == nil)
    }

    @Test func whatWasRefusedForGoodIsNotSentAgain() {
        var (phone, published) = (Phone.test(), PublishedTopics())
        published.note(.test(3, of: Self.match), at: Self.moment.monotonic)
        #expect(RefusalJudge().seen(Sight.test(of: phone, published: published)) == nil)
        phone.states.refused([1], of: 3)
        #expect(RefusalJudge().seen(Sight.test(of: phone, published: published)) == "what was refused is sent again")
        published.note(.test(4, of: Self.match), at: Self.moment.monotonic)
        #expect(RefusalJudge().seen(Sight.test(of: phone, published: published)) == nil)
    }

    @Test func aCardThatHasOutlivedItsLimitGetsAnEndAndNoUpdate() {
        let late = Duration.seconds(8 * 3600 + 16)
        #expect(AgeJudge().seen(Sight.test(after: .seconds(8 * 3600))) == nil)
        #expect(AgeJudge().seen(Sight.test(after: late)) == "it has outlived its limit (L1)")
        #expect(AgeJudge().seen(Sight.test(Payload.test(.end), after: late)) == nil)
    }

    @Test func aPushNamesAMissedAlertOnce() {
        var phone = Phone.test()
        let text = Self.goal.text
        let payload = Payload.test(alert: text, priority: .immediate)
        #expect(AlertJudge().seen(Sight.test(payload, of: phone, told: [text])) != nil)
        phone.noteAlert(of: .test(1, of: Self.match, alert: Self.goal), at: Self.moment.monotonic)
        #expect(AlertJudge().seen(Sight.test(payload, of: phone, told: [text])) == nil)
        #expect(AlertJudge().seen(Sight.test(payload, of: phone)) != nil)
        let calm = Payload.test(alert: text)
        #expect(AlertJudge().seen(Sight.test(calm, of: phone, told: [text])) == "an alert at priority 5")
        phone.sent(payload, telling: [text], newest: 1, at: Self.moment)
        #expect(AlertJudge().seen(Sight.test(payload, of: phone, told: [text])) != nil)
    }

    @Test func anAlertRidesUnlessThePersonWantsNone() {
        var phone = Phone.test()
        phone.noteAlert(of: .test(1, of: Self.match, alert: Self.goal), at: Self.moment.monotonic)
        let alert = Payload.test(alert: Self.goal.text, priority: .immediate)
        #expect(AttentionJudge().seen(Sight.test(alert, of: phone)) == nil)
        #expect(AttentionJudge().seen(Sight.test(of: phone)) != nil)
        phone.budget.subscriber.mask = .none
        #expect(AttentionJudge().seen(Sight.test(alert, of: phone)) != nil)
        #expect(AttentionJudge().seen(Sight.test(of: phone)) == nil)
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
        var phone = Phone.test(limits: limits)
        var published = PublishedTopics()
        published.note(.test(1, of: Self.match), at: Self.moment.monotonic)
        let (urgent, calm) = (Payload.test(priority: .immediate), Payload.test())
        let held = AttentionJudge().seen(Sight.test(calm, of: phone, published: published))
        #expect(held == "priority 5 though the budget is not spent")
        #expect(AttentionJudge().seen(Sight.test(urgent, of: phone, published: published)) == nil)
        phone.sent(urgent, telling: [], newest: 1, at: Self.moment)
        #expect(AttentionJudge().seen(Sight.test(calm, of: phone, published: published)) == nil)
        let overspent = AttentionJudge().seen(Sight.test(urgent, of: phone, published: published))
        #expect(overspent == "priority 10 on a spent budget")
    }
}
