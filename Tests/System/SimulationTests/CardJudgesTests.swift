import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Simulation

/// Each judge of starts, ends, states and fates allows a good one and finds the fault of a bad one.
@Suite struct CardJudgesTests {
    private static let match = TopicID("match")
    private static let now = Moment.test.monotonic

    private static func published(_ event: Publication.Event = .update) -> PublishedTopics {
        var published = PublishedTopics()
        published.note(.test(1, of: match, event: event), at: now)
        return published
    }

    private static func starting() -> Phone {
        var phone = Phone.test()
        phone.card = StartedCard("card 1")
        return phone
    }

    private static func start(alert: AlertText? = AlertText(title: "Start", body: "")) -> Payload {
        .test(
            .start, alert: alert, priority: .immediate,
            start: Payload.Start(attributesType: "Match", attributes: [], collapseID: "card 1"))
    }

    @Test func aCardGetsNothingButItsStartBeforeItHasAToken() {
        var phone = Self.starting()
        #expect(UpdateTokenJudge().seen(.test(Self.start(), of: phone)) == nil)
        #expect(UpdateTokenJudge().seen(.test(of: phone)) == "a push to a card without a token (L7)")
        phone.registered(at: Self.now)
        #expect(UpdateTokenJudge().seen(.test(of: phone)) == nil)
    }

    @Test func aCardIsStartedOnceForSomebodyWhoWantsIt() {
        let phone = Self.starting()
        var out = phone
        out.card?.isOut = true
        func judged(
            _ payload: Payload, of phone: Phone, _ event: Publication.Event = .update,
            succession: Succession = Succession()
        ) -> String? {
            StartJudge().seen(.test(payload, of: phone, published: Self.published(event), succession: succession))
        }
        #expect(judged(Self.start(), of: phone) == nil)
        #expect(judged(Self.start(), of: .test()) == "a start that nobody has asked for (L5)")
        #expect(judged(Self.start(), of: out) == "a second start (L7)")
        #expect(judged(Self.start(alert: nil), of: phone) == "a start that phones ignore")
        #expect(judged(Self.start(), of: phone, .end) == "a start of what is over")
        let unwanted = judged(Self.start(), of: phone, succession: Succession(isUnwanted: true))
        #expect(unwanted == "a new card for somebody who has ended the old one")
    }

    @Test func aCardOfATopicThatGoesOnEndsOnlyForItsAge() {
        func judged(
            _ event: Publication.Event, after wait: Duration = .zero, succession: Succession = Succession()
        ) -> String? {
            EndJudge().seen(
                .test(.test(.end), published: Self.published(event), late: wait, succession: succession))
        }
        #expect(judged(.end) == nil && judged(.update) == "it ends though it goes on (L1)")
        #expect(judged(.update, after: .seconds(8 * 3600)) == nil)
        let early = judged(.update, after: .seconds(8 * 3600), succession: Succession(isUnderWay: true))
        #expect(early == "it ends before the new card has its token (L1)")
    }

    @Test func anEndHasAStateUnlessTheCardNeverHadOne() {
        let (payload, old) = (Payload.test(.end, state: []), Duration.seconds(8 * 3600))
        #expect(EndJudge().seen(.test(payload, published: Self.published(.end))) == "an end without a state")
        #expect(EndJudge().seen(.test(payload, late: old)) == "an end without a state")
        #expect(EndJudge().seen(.test(payload, late: old, isUnseen: true)) == nil)
    }

    @Test func whoHasBeenUnfollowedGetsAnEndThatTakesTheCardAway() {
        var phone = Phone.test()
        phone.joined(nil, tenure: 0, at: Self.now)
        let fault = "something else than one private end after an unfollow"
        #expect(PrivateEndJudge().seen(.test()) == nil)
        #expect(PrivateEndJudge().seen(.test(of: phone)) == fault)
        #expect(PrivateEndJudge().seen(.test(.test(.end), of: phone)) == fault)
        #expect(PrivateEndJudge().seen(.test(.test(.end), of: phone, isUnseen: true)) == nil)
    }

    @Test func aPushHasTheNewestStateOfItsTopic() {
        let newest = Payload.test(state: Array(#"{"version":1}"#.utf8))
        #expect(NewestStateJudge().seen(.test(newest, published: Self.published())) == nil)
        #expect(NewestStateJudge().seen(.test(newest)) == "a state of nothing")
        let other = NewestStateJudge().seen(.test(published: Self.published()))
        #expect(other?.hasPrefix("not the newest state") == true)
    }

    @Test func aFateIsReportedOnlyOfACardThatHasIt() {
        var (phone, successor) = (Self.starting(), Self.starting())
        func judged(_ fate: ActivityFate, after passed: Duration = .zero, successor: Phone? = nil) -> String? {
            FateJudge(
                phone: phone, age: CardAge(passed: passed, lifetime: .seconds(100)), successor: successor
            ).seen(fate)
        }
        #expect(judged(.expired) == "it has expired, they say, and has not (L1)")
        #expect(judged(.expired, after: .seconds(97)) == nil)
        #expect(judged(.renewed(as: successor.id)) != nil)
        #expect(judged(.renewed(as: successor.id), successor: successor) != nil)
        successor.card?.isOut = true
        #expect(judged(.renewed(as: successor.id), successor: successor) == nil)
        #expect(judged(.notStarted(.gaveUp)) == "it is not started, for the service's trouble")
        #expect(judged(.notStarted(.refused)) == nil)
        phone.registered(at: Self.now)
        #expect(judged(.notStarted(.refused)) == "it has not started, they say, and has a token (L7)")
        #expect(judged(.refused(.unknownActivity)) == nil && judged(.refused(.token)) != nil)
    }
}
