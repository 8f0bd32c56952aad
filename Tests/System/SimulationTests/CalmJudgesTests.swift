import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Simulation

/// Each judge of calms allows a phone that has what it is to see, and finds what another one lacks.
@Suite struct CalmJudgesTests {
    private static let match = TopicID("match")
    private static let now = Moment.test.monotonic
    private static let newest = Array(#"{"version":1}"#.utf8)

    private static func sight(
        _ phone: Phone, after history: PushHistory = .test(), hasNamesake: Bool = false, awaitsClaim: Bool = false,
        trouble: NodeTrouble = NodeTrouble()
    ) -> CalmSight {
        var published = PublishedTopics()
        published.note(.test(1, of: match), at: now)
        let lineups = LineupJudge(rules: LineupRules(), published: published, now: now)
        return CalmSight(
            phone: phone, history: history, states: StateJudge(lineups: lineups),
            age: CardAge(passed: .zero, lifetime: .seconds(8 * 3600)), isBetweenCards: false, isOutlivedAndLetGo: false,
            hasNamesake: hasNamesake, awaitsClaim: awaitsClaim, trouble: trouble)
    }

    @Test func onceEverythingHasSettledAPhoneShowsTheNewestState() {
        var (phone, history) = (Phone.test(), PushHistory.test())
        #expect(LossJudge().seen(Self.sight(phone, after: history)) == "activity 1 never got a state (1)")
        history.states.accepted = [1]
        #expect(LossJudge().seen(Self.sight(phone, after: history))?.hasPrefix("activity 1 shows") == true)
        history.states.accepted = Self.newest
        #expect(LossJudge().seen(Self.sight(phone, after: history)) == nil)
        history.noteAlert(of: .test(1, of: Self.match, alert: .test))
        #expect(LossJudge().seen(Self.sight(phone, after: history))?.hasPrefix("activity 1 never got alert") == true)
        phone.joined(nil, tenure: 0, at: Self.now)
        #expect(LossJudge().seen(Self.sight(phone, after: history)) == "activity 1 left and was never ended (3)")
    }

    @Test func aCardThatWasNeverStartedIsLost() {
        var phone = Phone.test()
        phone.card = StartedCard("card 1")
        #expect(LossJudge().seen(Self.sight(phone)) == "card 1 was never started (L7)")
        phone.card?.isOut = true
        #expect(LossJudge().seen(Self.sight(phone)) == nil)
    }

    @Test func aDeathIsReportedOnceAndUnderANameThatThePhoneHas() {
        var phone = Phone.test()
        phone.naming.isIntroduced = true
        (phone.life.isDead, phone.life.isGone) = (true, true)
        #expect(DeathJudge().seen(Self.sight(phone)) == "the death of activity 1 was reported 0 times")
        phone.life.deathReports = 1
        #expect(DeathJudge().seen(Self.sight(phone)) == nil)
        phone.naming.detach()
        #expect(DeathJudge().seen(Self.sight(phone)) == "the death of activity 1 was reported 1 times")
    }

    @Test func aPhoneWithoutTroubleWaitsForNobody() {
        let phone = Phone.test()
        var history = PushHistory.test()
        let neglected = NeglectJudge().seen(Self.sight(phone, after: history))
        #expect(neglected == "activity 1 waits for the newest state, for another's trouble or a clock (10)")
        history.health.sickness = .fails
        #expect(NeglectJudge().seen(Self.sight(phone, after: history)) == nil)
        history.health.sickness = nil
        history.states.accepted = Self.newest
        #expect(NeglectJudge().seen(Self.sight(phone, after: history)) == nil)
    }

    @Test func aNewTokenWaitsForNothingButTheNodesTroubleAndTheDisk() {
        var phone = Phone.test()
        #expect(NewTokenJudge().seen(Self.sight(phone)) == nil)
        _ = phone.tokens.serve([9])
        let waiting = NewTokenJudge().seen(Self.sight(phone))
        #expect(waiting == "activity 1 has a new token and waits for the newest state (10)")
        #expect(NewTokenJudge().seen(Self.sight(phone, awaitsClaim: true)) == nil)
        #expect(NewTokenJudge().seen(Self.sight(phone, trouble: NodeTrouble(isSick: true))) == nil)
    }

    @Test func aQuestionIsAnsweredOnceAPhoneHasWhatItLacked() {
        var (phone, history) = (Phone.test(), PushHistory.test())
        let sight = Self.sight(phone)
        let judge = LackJudge(states: sight.states)
        func lack(_ thing: Lack.Thing, refused: UInt64? = nil) -> Lack {
            Lack(phone: 0, thing: thing, joins: phone.following.joins, refused: refused)
        }
        let state = lack(.state(1, [Self.match: .test(1, of: Self.match)]), refused: 1)
        #expect(judge.seen(state, of: phone, after: history, aged: sight.age) == "shows nothing")
        #expect(judge.seen(lack(.end), of: phone, after: history, aged: sight.age) == nil)
        #expect(!judge.isRefused(state, of: phone, after: history, aged: sight.age))
        history.states.refused(Self.newest, of: 1)
        #expect(judge.seen(state, of: phone, after: history, aged: sight.age) == nil)
        #expect(judge.isRefused(state, of: phone, after: history, aged: sight.age))
        phone.joined(nil, tenure: 0, at: Self.now)
        #expect(judge.seen(lack(.end), of: phone, after: history, aged: sight.age) == "left and was not ended")
        #expect(
            judge.seen(lack(.end), of: phone, after: history, aged: CardAge(passed: .seconds(9), lifetime: .seconds(9)))
                == nil)
    }
}
