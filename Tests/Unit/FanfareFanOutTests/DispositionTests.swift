import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// The disposition of an alert for an activity, by which a backend avoids alerting a person twice (rule A3).
@Suite struct A3DispositionTests {
    let stage = EmbeddedShard()

    init() {
        stage.publish(1)
        stage.follow()
        _ = stage.settle()
        // Outcomes are kept from the first question on.
        #expect(stage.disposition(of: "goal") == .silenced(.unknown))
    }

    @Test func anAlertIsPlannedUntilItIsAccepted() {
        stage.publish(2, alert: "goal")
        #expect(stage.disposition(of: "goal") == .planned)
        let pushes = stage.pull()
        #expect(stage.disposition(of: "goal") == .planned)
        stage.publish(3)
        #expect(stage.disposition(of: "goal") == .planned)
        stage.answer(pushes, .accepted)
        #expect(stage.disposition(of: "goal") == .accepted)
        #expect(stage.settle().count == 1)
        #expect(stage.disposition(of: "goal") == .accepted)
        stage.revoke("goal")
        #expect(stage.disposition(of: "goal") == .accepted, "it has been told")
    }

    @Test func anAlertWithoutAnAnswerIsUncertain() {
        stage.publish(2, alert: "goal")
        stage.answer(stage.pull(), .uncertain)
        #expect(stage.disposition(of: "goal") == .uncertain)
        _ = stage.settle()
        #expect(stage.disposition(of: "goal") == .uncertain)
    }

    @Test func anAlertIsPlannedAgainAfterARefusalThatTimeMends() {
        stage.publish(2, alert: "goal")
        stage.answer(stage.pull(), .notProcessed)
        #expect(stage.disposition(of: "goal") == .planned)
        _ = stage.settle()
        #expect(stage.disposition(of: "goal") == .accepted)
    }

    @Test func anAlertRefusedForGoodIsSilenced() {
        stage.publish(2, alert: "goal")
        stage.answer(stage.pull(), .refused)
        #expect(stage.disposition(of: "goal") == .silenced(.refused))
    }

    @Test func anAlertIsSilencedByThePersonsPreferences() {
        stage.setPreferences(Preferences(alerts: AlertMask.none))
        stage.publish(2, alert: "goal")
        #expect(stage.disposition(of: "goal") == .silenced(.preferences(.masked)))
        #expect(stage.settle().map(\.payload.alert) == [nil])
        #expect(stage.disposition(of: "goal") == .silenced(.preferences(.masked)))
    }

    @Test func anAlertIsSupersededByANewerOne() {
        stage.publish(2, alert: "first")
        stage.publish(3, alert: "second")
        #expect(stage.disposition(of: "first") == .silenced(.superseded))
        #expect(stage.disposition(of: "second") == .planned)
        _ = stage.settle()
        #expect(stage.disposition(of: "first") == .silenced(.superseded))
        #expect(stage.disposition(of: "second") == .accepted)
    }

    /// The state returns to the one shown, so no push is made for it.
    @Test func aRevokedAlertIsSettledWithoutAPush() {
        stage.publish(2, alert: "goal")
        stage.revoke("goal")
        #expect(stage.disposition(of: "goal") == .silenced(.revoked))
        stage.publish(1)
        #expect(stage.settle().isEmpty)
        #expect(stage.disposition(of: "goal") == .silenced(.revoked))
    }

    @Test func anAlertIsStaleWhenItCannotBeBroughtInTime() {
        stage.publish(2, alert: "goal")
        stage.pass(seconds: 301)
        #expect(stage.disposition(of: "goal") == .silenced(.stale))
        _ = stage.settle()
        #expect(stage.disposition(of: "goal") == .silenced(.stale))
    }

    @Test func joinerHasMissedNoAlert() {
        stage.publish(2, alert: "goal")
        stage.follow("later", token: 2)
        #expect(stage.disposition(of: "goal", "later") == .silenced(.cameLater))
        _ = stage.settle()
        #expect(stage.disposition(of: "goal", "later") == .silenced(.cameLater))
    }

    @Test func aCardWithoutATokenGetsItWhenThatRegisters() {
        stage.start("started")
        _ = stage.settle()
        stage.publish(2, alert: "goal")
        #expect(stage.disposition(of: "goal", "started") == .planned)
        stage.follow("started", token: 2)
        _ = stage.settle()
        #expect(stage.disposition(of: "goal", "started") == .accepted)
    }

    @Test func dispositionOfAnUnknownActivityIsNoActivity() {
        stage.follow("stays", token: 9)
        stage.publish(2, alert: "goal")
        #expect(stage.disposition(of: "goal", "nobody") == .noActivity)
        _ = stage.settle()
        stage.unfollow()
        #expect(stage.disposition(of: "goal") == .noActivity)
        _ = stage.settle()
        stage.follow("card", token: 3)
        #expect(stage.disposition(of: "goal") == .silenced(.cameLater), "the slot's next tenant knows nothing")
    }

    @Test func dispositionsOfEightAlertsAreRemembered() {
        for number in Int64(0)..<9 {
            stage.publish(10 + number, alert: "goal \(number)")
            stage.answer(stage.pull(), number % 2 == 0 ? .accepted : .refused)
            stage.pass(seconds: 60)
        }
        #expect(stage.disposition(of: "goal 0") == .silenced(.unknown))
        for number in 1..<9 {
            #expect(stage.disposition(of: "goal \(number)") == (number % 2 == 0 ? .accepted : .silenced(.refused)))
        }
    }

    @Test func anAlertSettledBeforeTheFirstQuestionIsUncertain() {
        let stage = EmbeddedShard()
        stage.publish(1)
        stage.follow()
        _ = stage.settle()
        stage.publish(2, alert: "goal")
        _ = stage.settle()
        #expect(stage.disposition(of: "goal") == .uncertain)
    }

    @Test func dispositionsOfAHundredMembersAreKnown() {
        for member in 0..<100 { stage.follow("member \(member)", token: UInt8(member)) }
        _ = stage.settle()
        stage.publish(2, alert: "goal")
        #expect(stage.settle().count == 101)
        #expect((0..<100).allSatisfy { stage.disposition(of: "goal", "member \($0)") == .accepted })
    }
}
