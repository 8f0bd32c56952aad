import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct AlertMemoryTests {
    private static let outcomes: [AlertOutcome] = [
        .cameLater, .accepted, .uncertain, .superseded, .revoked, .stale, .refused, .silenced(.masked),
        .silenced(.quietHours), .silenced(.tooMany), .silenced(.budget),
    ]

    @Test func everyOutcomeIsRememberedForSixteenNumbers() {
        let slot = ActivitySlot(1)
        for shift in Self.outcomes.indices {
            var memory = AlertMemory()
            memory.begin(2)
            let noted = (0..<16).map { Self.outcomes[($0 + shift) % Self.outcomes.count] }
            for (index, outcome) in noted.enumerated() { memory.note(outcome, number: 100 + UInt32(index), of: slot) }
            let kept = (0..<16).map { memory.outcome(number: 100 + UInt32($0), of: slot) }
            #expect(kept == noted)
        }
    }

    @Test func severalActivitiesThatMissedTheSameAlertsGetTheSameOutcomes() {
        var memory = AlertMemory()
        let slots = [ActivitySlot(0), ActivitySlot(2)]
        memory.begin(3)
        for slot in 0..<3 { memory.forget(ActivitySlot(UInt32(slot))) }
        memory.note([(number: 2, outcome: .superseded), (number: 4, outcome: .accepted)], of: slots)
        for slot in slots {
            #expect(memory.outcome(number: 2, of: slot) == .superseded)
            #expect(memory.outcome(number: 4, of: slot) == .accepted)
        }
        #expect(memory.outcome(number: 4, of: ActivitySlot(1)) == .cameLater)
    }

    @Test func noAlertIsNotedBeforeAnybodyAsks() {
        var memory = AlertMemory()
        memory.note([(number: 2, outcome: .accepted)], of: [ActivitySlot(0)])
        #expect(!memory.isKept)
    }

    @Test func anAlertFromBeforeTheFirstQuestionIsUncertain() {
        var memory = AlertMemory()
        memory.begin(1)
        #expect(memory.outcome(number: 3, of: ActivitySlot(0)) == .uncertain)
    }

    @Test func aNewTenantHasNoOutcomeOfTheOldOne() {
        let slot = ActivitySlot(0)
        var memory = AlertMemory()
        memory.begin(1)
        memory.note(.accepted, number: 1, of: slot)
        memory.forget(slot)
        #expect(memory.outcome(number: 1, of: slot) == .cameLater)
    }

    @Test func theMemoryHasARowForEachSlotOnceAnybodyHasAsked() {
        var memory = AlertMemory()
        memory.forget(ActivitySlot(0))
        #expect(memory.violation(slots: 1) == nil)
        memory.begin(1)
        #expect(memory.violation(slots: 1) == nil && memory.violation(slots: 2) != nil)
        memory.forget(ActivitySlot(1))
        #expect(memory.violation(slots: 2) == nil && memory.violation(slots: 1) != nil)
    }
}
