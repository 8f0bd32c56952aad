import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Simulation

/// Each judge of pushes allows a good one and finds the fault of a bad one.
@Suite struct PushJudgesTests {
    private static let second: Int64 = 1_800_000_000
    private static let moment = Moment(wallMilliseconds: second * 1000, monotonicNanoseconds: 1_000_000_000)
    private static let match = TopicID("match")
    private static let goal = Alert(
        cause: "goal", class: .essential, text: AlertText(title: "Goal", body: ""), freshFor: .seconds(60),
        highlight: nil)

    private static func phone() -> Phone {
        var random = SplitMix64(seed: 1)
        var phone = Phone(
            id: ActivityID(UInt64(1)), node: 0, audience: .topic(match), subscriber: Subscriber(),
            limits: ActivityLimits(), using: &random)
        phone.joined(.topic(match), tenure: 0, isWaited: false, at: moment.monotonic)
        return phone
    }

    private static func payload(
        _ event: Payload.Event = .update, state: [UInt8] = [1], stamp: Int64 = PushJudgesTests.second,
        alert: AlertText? = nil,
        priority: Priority = .conserving
    ) -> Payload {
        Payload(
            event: event, logLabel: "", state: state, stamp: stamp, staleDate: nil, dismissalDate: nil, alert: alert,
            priority: priority)
    }

    private static func sight(
        _ payload: Payload = PushJudgesTests.payload(), of phone: Phone = PushJudgesTests.phone(),
        token: [UInt8]? = nil,
        published: PublishedTopics = PublishedTopics(), after wait: Duration = .zero, isUnseen: Bool = false,
        told: [AlertText]? = nil, succession: Succession = Succession(), faultOfJWT: String? = nil
    ) -> Sight {
        var later = moment
        later.monotonic = moment.monotonic + wait
        return Sight(
            payload: payload, token: token ?? phone.tokens.served, phone: phone, published: published, moment: later,
            engine: later, lifetime: .seconds(8 * 3600), isUnseen: isUnseen, faultOfJWT: faultOfJWT, told: told,
            carried: nil, lineupRules: LineupRules(), succession: succession, isAlone: false)
    }

    @Test func aPhoneGetsOnePushAtATimeAndNoneAfterItsEnd() {
        var (flying, gone) = (Self.phone(), Self.phone())
        flying.sent(Self.payload(), telling: [], newest: 1, at: Self.moment)
        gone.life.isGone = true
        #expect(FlightJudge().seen(Self.sight()) == nil)
        #expect(FlightJudge().seen(Self.sight(of: flying)) == "two pushes in flight")
        #expect(FlightJudge().seen(Self.sight(of: gone)) == "a push after its end (3)")
    }

    @Test func aPushGoesToTheTokenThatTheShardWasGivenLast() {
        var held = Self.phone()
        held.health.isHeld = true
        #expect(TokenJudge().seen(Self.sight()) == nil)
        #expect(TokenJudge().seen(Self.sight(token: [0])) == "a push to a token that was replaced before")
        #expect(TokenJudge().seen(Self.sight(of: held)) == "a push to somebody who is held")
    }

    @Test func aStampNeitherGoesBackNorIsDroppedByThePhone() {
        var phone = Self.phone()
        phone.sent(Self.payload(), telling: [], newest: 1, at: Self.moment)
        let ahead = Self.payload(stamp: Self.second + 9 * 3600)
        #expect(StampJudge().seen(Self.sight(of: phone)) == nil)
        #expect(StampJudge().seen(Self.sight(Self.payload(stamp: Self.second - 1), of: phone)) != nil)
        #expect(StampJudge().seen(Self.sight(ahead, of: phone)) != nil)
        #expect(StampJudge().seen(Self.sight(ahead, of: phone, isUnseen: true)) == nil)
    }

    @Test func aTokenInTroubleIsLeftAloneForASecond() {
        var phone = Self.phone()
        phone.health.answered(.throttled, isServed: true, isHeld: false, at: Self.moment.monotonic)
        #expect(RetryJudge().seen(Self.sight(of: phone)) == "it is tried again at once (10)")
        #expect(RetryJudge().seen(Self.sight(of: phone, after: .seconds(1))) == nil)
    }

    @Test func aStampBelongsToOneStateAndAStateIsSentOnce() {
        var phone = Self.phone()
        phone.sent(Self.payload(), telling: [], newest: 1, at: Self.moment)
        let (again, other) = (
            Self.payload(stamp: Self.second + 1), Self.payload(state: [2], stamp: Self.second + 1)
        )
        #expect(RepetitionJudge().seen(Self.sight(other, of: phone)) == nil)
        #expect(RepetitionJudge().seen(Self.sight(again, of: phone)) == "the same state twice (5)")
        #expect(RepetitionJudge().seen(Self.sight(Self.payload(state: [2]), of: phone)) != nil)
        phone.last.mayRepeat = true
        #expect(RepetitionJudge().seen(Self.sight(again, of: phone)) == nil)
    }

    @Test func whatWasRefusedForGoodIsNotSentAgain() {
        var (phone, published) = (Self.phone(), PublishedTopics())
        published.note(.test(3, of: Self.match), at: Self.moment.monotonic)
        #expect(RefusalJudge().seen(Self.sight(of: phone, published: published)) == nil)
        phone.states.refused([1], of: 3)
        #expect(RefusalJudge().seen(Self.sight(of: phone, published: published)) == "what was refused is sent again")
        published.note(.test(4, of: Self.match), at: Self.moment.monotonic)
        #expect(RefusalJudge().seen(Self.sight(of: phone, published: published)) == nil)
    }

    @Test func aCardThatHasOutlivedItsLimitGetsAnEndAndNoUpdate() {
        let late = Duration.seconds(8 * 3600 + 16)
        #expect(AgeJudge().seen(Self.sight(after: .seconds(8 * 3600))) == nil)
        #expect(AgeJudge().seen(Self.sight(after: late)) == "it has outlived its limit (L1)")
        #expect(AgeJudge().seen(Self.sight(Self.payload(.end), after: late)) == nil)
    }

    @Test func aPushNamesAMissedAlertOnce() {
        var phone = Self.phone()
        let text = Self.goal.text
        let payload = Self.payload(alert: text, priority: .immediate)
        #expect(AlertJudge().seen(Self.sight(payload, of: phone, told: [text])) != nil)
        phone.noteAlert(of: .test(1, of: Self.match, alert: Self.goal), at: Self.moment.monotonic)
        #expect(AlertJudge().seen(Self.sight(payload, of: phone, told: [text])) == nil)
        #expect(AlertJudge().seen(Self.sight(payload, of: phone)) != nil)
        let calm = Self.payload(alert: text)
        #expect(AlertJudge().seen(Self.sight(calm, of: phone, told: [text])) == "an alert at priority 5")
        phone.sent(payload, telling: [text], newest: 1, at: Self.moment)
        #expect(AlertJudge().seen(Self.sight(payload, of: phone, told: [text])) != nil)
    }

    @Test func anAlertRidesUnlessThePersonWantsNone() {
        var phone = Self.phone()
        phone.noteAlert(of: .test(1, of: Self.match, alert: Self.goal), at: Self.moment.monotonic)
        let alert = Self.payload(alert: Self.goal.text, priority: .immediate)
        #expect(AttentionJudge().seen(Self.sight(alert, of: phone)) == nil)
        #expect(AttentionJudge().seen(Self.sight(of: phone)) != nil)
        phone.budget.subscriber.mask = .none
        #expect(AttentionJudge().seen(Self.sight(alert, of: phone)) != nil)
        #expect(AttentionJudge().seen(Self.sight(of: phone)) == nil)
    }
}
