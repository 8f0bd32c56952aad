import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct CarriedAlertsTests {
    private let slot = ActivitySlot(3)

    private func alert(_ cause: String, topic: String = "match") -> PendingAlert {
        PendingAlert(
            version: 40, number: 7,
            issue: IssuedAlert(
                Alert(
                    cause: cause, class: .essential, text: AlertText(title: "", body: ""), freshFor: .seconds(300),
                    highlight: nil), of: TopicID(topic), freshUntil: 0))
    }

    private func carrying(pending: [String], inFlight: [String]) -> CarriedAlerts {
        var carried = CarriedAlerts()
        let alerts = CarriedAlerts.Entry(pending: pending.map { alert($0) }, inFlight: inFlight.map { alert($0) })
        let carries = carried.carry(alerts, by: slot, at: 5, isFollower: true)
        #expect(carries)
        return carried
    }

    private func causes(_ alerts: [PendingAlert]?) -> [String]? { alerts?.map(\.alert.cause) }

    @Test func carriedAlertsCountAsTheLastOnesBeforeTheActivityCame() {
        let carried = carrying(pending: ["a", "b"], inFlight: ["c"])
        #expect(carried[slot]?.pending.map(\.version) == [5, 5] && carried[slot]?.inFlight.map(\.version) == [5])
        #expect(carried.contains(slot) && Array(carried.slots) == [slot])
        #expect(carried.violation() == nil)
    }

    @Test func nothingToCarryLeavesNothing() {
        var carried = carrying(pending: ["a"], inFlight: [])
        let carries = carried.carry(CarriedAlerts.Entry(), by: slot, at: 6, isFollower: true)
        #expect(!carries && carried.isEmpty && !carried.contains(slot))
    }

    @Test func answerOfAPushThatLeftBeforeTheMoveSettlesWhatWasInFlight() {
        var carried = carrying(pending: ["b"], inFlight: ["a"])
        #expect(causes(carried.takeInFlight(of: slot)) == ["a"])
        #expect(causes(carried[slot]?.pending) == ["b"] && carried[slot]?.inFlight.isEmpty == true)
        #expect(carried.takeInFlight(of: slot).isEmpty)
    }

    @Test func activityThatHasOnlyAlertsInFlightCarriesNothingAfterTheirAnswer() {
        var carried = carrying(pending: [], inFlight: ["a"])
        _ = carried.takeInFlight(of: slot)
        #expect(carried.isEmpty && carried.violation() == nil)
    }

    @Test func alertsOfAPushThatCameBackAreToldBeforeNewerOnes() {
        var carried = carrying(pending: ["b"], inFlight: ["a"])
        carried.returnInFlight(of: slot)
        #expect(causes(carried[slot]?.pending) == ["a", "b"] && carried[slot]?.inFlight.isEmpty == true)
    }

    @Test func revocationReachesAlertsOfThatCauseAndTopicOnly() {
        var carried = CarriedAlerts()
        let alerts = CarriedAlerts.Entry(
            pending: [alert("goal"), alert("goal", topic: "other"), alert("card")], inFlight: [alert("goal")])
        _ = carried.carry(alerts, by: slot, at: 5, isFollower: true)
        carried.revoke(cause: "goal", topic: TopicID("match"))
        #expect(carried[slot]?.pending.map(\.isRevoked) == [true, false, false])
        #expect(carried[slot]?.inFlight.map(\.isRevoked) == [true])
    }
}
