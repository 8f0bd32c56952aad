import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Simulation

/// The parts of a phone and of the history of its pushes, each an oracle of its own.
@Suite struct PhonePartsTests {
    private static let now = MonotonicTime(nanoseconds: 1_000_000_000)
    private static let (match, other) = (TopicID("match"), TopicID("other"))

    private static func alert(_ title: String) -> Alert {
        Alert(
            cause: title, class: .essential, text: AlertText(title: .text(title), body: ""), freshFor: .seconds(60),
            highlight: nil)
    }

    private static func alerts(_ titles: String...) -> LackedAlerts {
        var alerts = LackedAlerts()
        for title in titles { alerts.note(alert(title), of: match, at: now, leavesAtOnce: true) }
        return alerts
    }

    private static func missed(_ alerts: LackedAlerts, after: Duration = .zero) -> [String] {
        alerts.stillMissed(at: now + after).map(\.alert.cause)
    }

    private static func flight(
        _ payload: Payload, _ outcome: DeliveryOutcome, arrives: Bool = false, isTaken: Bool = true
    ) -> Flight {
        var batch = DeliveryBatch()
        batch.append(slot: ActivitySlot(0), generation: 0, payload: payload, token: [1] as [UInt8])
        return Flight(
            delivery: batch.deliveries[0], payload: payload, told: [], phone: 0, token: [1], outcome: outcome,
            arrives: arrives, jwt: nil, isTaken: isTaken, trouble: nil)
    }

    @Test func aScreenShowsWhatHasArrivedAndTheDeviceHasTaken() {
        func flight(_ state: UInt8, _ outcome: DeliveryOutcome, arrives: Bool, isTaken: Bool = true) -> Flight {
            Self.flight(
                .test(state == 0 ? .end : .update, state: [state]), outcome, arrives: arrives, isTaken: isTaken)
        }
        var screen = Screen()
        screen.answered(flight(1, .uncertain, arrives: false))
        #expect(screen.state == nil)
        screen.answered(flight(2, .uncertain, arrives: true))
        #expect(screen.state == [2])
        screen.answered(flight(3, .accepted, arrives: true, isTaken: false))
        #expect(screen.state == [2] && !screen.hasEnded)
        screen.answered(flight(0, .accepted, arrives: true))
        #expect(screen.state == [0] && screen.hasEnded)
    }

    @Test func anAlertIsMissedUntilItIsToldRevokedOrStale() {
        var alerts = Self.alerts("first", "second")
        #expect(Self.missed(alerts) == ["first", "second"] && alerts.isAwaited)
        #expect(Self.missed(alerts, after: .seconds(60)).isEmpty)
        alerts.revoke("first")
        #expect(Self.missed(alerts) == ["second"] && alerts.isAwaited)
        alerts.sent([Self.alert("second").text])
        #expect(Self.missed(alerts).isEmpty && !alerts.isAwaited)
        #expect(alerts.tried == [Self.alert("second").text])
    }

    @Test func anAlertOfAPushThatWasNotProcessedIsMissedAgain() {
        var alerts = Self.alerts("goal")
        alerts.sent([Self.alert("goal").text])
        alerts.untry([Self.alert("goal").text])
        #expect(Self.missed(alerts) == ["goal"] && alerts.tried.isEmpty)
    }

    @Test func aMoveTakesTheAlertsOfTopicsThatStay() {
        var alerts = Self.alerts("goal")
        alerts.join([Self.match, Self.other], isWaited: false)
        #expect(Self.missed(alerts) == ["goal"] && alerts.isAwaited)
        alerts.join([Self.other], isWaited: false)
        #expect(Self.missed(alerts).isEmpty && !alerts.isAwaited)
    }

    @Test func aSuccessorInheritsWhatTheOldCardLacks() {
        var (new, none) = (Self.alerts("second"), Self.alerts("first"))
        let old = Self.alerts("first", "second")
        let (inherits, inheritsNothing) = (
            new.inherit(from: old, surely: true), none.inherit(from: Self.alerts("first"), surely: true)
        )
        #expect(inherits && Self.missed(new) == ["first", "second"])
        #expect(!inheritsNothing && Self.missed(none) == ["first"])
    }

    @Test func aTokenIsNewOnceTheShardHasAnother() {
        var random = SplitMix64(seed: 1)
        var tokens = PhoneTokens([1])
        tokens.renew(using: &random)
        #expect(tokens.current != [1] && tokens.served == [1] && tokens.first == [1] && !tokens.isNew)
        let (same, another) = (tokens.serve([1]), tokens.serve(tokens.current))
        #expect(!same && another && tokens.isNew && tokens.served == tokens.current)
        #expect(tokens.hasUsed([1]) && tokens.hasUsed(tokens.current) && !tokens.hasUsed([2]))
    }

    @Test func aDeadAnswerWhileTheGuardIsShutHoldsThePhone() {
        var health = TokenHealth()
        health.answered(.deadToken, isServed: true, isHeld: true, at: Self.now)
        #expect(health.isHeld && health.isThrottled && health.troubledAt == Self.now)
        health.recover()
        #expect(!health.isHeld && health.troubledAt == nil && health.waitsUntil == .always)
    }

    @Test func theAnswersOfOneOutagePutAStartOffOnce() {
        var card = StartedCard("card 1")
        card.isOut = true
        for _ in 0..<3 { card.answered(.serviceError, outage: 1) }
        #expect(!card.isOut && card.putOffs == 1)
        card.answered(.throttled, outage: nil)
        card.answered(.serviceError, outage: 2)
        card.answered(.uncertain, outage: nil)
        #expect(card.putOffs == 3)
    }

    @Test func aCardGoesOnUntilItsEndIsTakenOrItsTokenIsDead() {
        var life = PhoneLife()
        life.sent(.end)
        #expect(life.isEnding && life.goesOn)
        life.answered(Self.flight(.test(.end), .throttled), isServed: true, isHeld: false, isLast: false)
        #expect(!life.isEnding && !life.isGone)
        var dead = life
        life.answered(Self.flight(.test(.end), .accepted), isServed: true, isHeld: false, isLast: false)
        #expect(life.isGone && !life.isRemoved && !life.goesOn)
        dead.answered(Self.flight(.test(), .deadToken), isServed: true, isHeld: false, isLast: false)
        #expect(dead.isGone && dead.isRemoved)
    }

    @Test func aStateThatWasRefusedIsNotDueBeforeANewerOneUnlessItIsOwedAgain() {
        var (states, owed) = (AnsweredStates(), AnsweredStates())
        states.refused([1], of: 3)
        #expect(states.refusedSerial == 3 && states.lastRefused == 3 && states.refusedState == [1])
        states.sent()
        #expect(states.refusedSerial == nil && states.lastRefused == 3)
        owed.oweAgain(isFlying: true)
        owed.refused([1], of: 3)
        #expect(owed.refusedSerial == nil && owed.lastRefused == 3)
    }

    @Test func aPushMayBeRepeatedUntilItIsAccepted() {
        var last = LastPush()
        last.sent(.test(state: [1]), newest: 2, at: .test)
        #expect(last.flying == 1 && !last.mayRepeat && last.state == [1] && last.serial == 2)
        last.answered(.accepted, isLast: false, at: Self.now)
        #expect(last.flying == 0 && !last.mayRepeat && last.answeredAt == Self.now)
        last.sent(.test(state: [2]), newest: 3, at: .test)
        last.answered(.uncertain, isLast: false, at: Self.now)
        #expect(last.mayRepeat)
    }

    @Test func priority10IsGivenBackIfTheServiceDidNotTakeThePush() {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: 1, refill: .seconds(600))
        var budget = AttentionBudget(Subscriber(), limits)
        let payload = Payload.test(priority: .immediate)
        #expect(budget.affordsImmediate(stamp: payload.stamp))
        budget.charge(payload)
        #expect(!budget.affordsImmediate(stamp: payload.stamp))
        budget.refund(Self.flight(payload, .notProcessed))
        #expect(budget.affordsImmediate(stamp: payload.stamp))
    }

    @Test func aMoveMakesOneRepetitionRightAndDropsTheAlertsOfWhatIsLeft() {
        var history = PushHistory.test()
        history.sent()
        history.noteAlert(of: .test(1, of: Self.match, alert: .test))
        history.joined(showing: [Self.other], isWaited: false)
        #expect(history.last.mayRepeat && history.alerts.missed.isEmpty && history.lineup.last == nil)
    }

    @Test func aMoveThatIsPostponedIsForgottenWithTheNextMove() {
        var following = Following()
        following.join(.topic(Self.match), tenure: 2, at: Self.now)
        following.postponed = .topic(Self.other)
        following.join(nil, tenure: 0, at: Self.now + .seconds(1))
        #expect(following.postponed == nil && following.served == nil && following.left == .topic(Self.match))
        #expect(following.joins == 2 && following.joinedAt == Self.now + .seconds(1))
    }
}
