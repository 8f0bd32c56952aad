import FanfareFanOut
import FanfareModel
import Testing

@Suite struct DeliveryContractTests {
    private static func completion(_ generation: UInt32, _ outcome: DeliveryOutcome = .accepted) -> DeliveryCompletion {
        DeliveryCompletion(slot: ActivitySlot(0), generation: generation, outcome: outcome)
    }

    @Test func aDeliveryThatIsCompletedTwiceViolatesTheContract() {
        var contract = DeliveryContract(activities: 1)
        let generation = contract.handOut(0)
        #expect(contract.inFlight == 1 && contract.inFlightBeforeFirstAnswer == 1)
        let first = contract.complete(Self.completion(generation))
        contract.settle(Self.completion(generation))
        #expect(first && contract.areAllSettled && contract.violations.isEmpty && contract.outcomes == ["accepted": 1])
        let second = contract.complete(Self.completion(generation))
        #expect(!second && contract.completed == 1)
        #expect(contract.violations.count == 1)
        #expect(contract.violations.first?.hasPrefix("slot 0, generation 1: completed while settled") == true)
    }

    @Test func aDeliveryOfAnEarlierGenerationIsNotTheOneInFlight() {
        var contract = DeliveryContract(activities: 1)
        let former = contract.handOut(0)
        _ = contract.complete(Self.completion(former, .notProcessed))
        contract.wait(Self.completion(former, .notProcessed))
        let next = contract.handOut(0)
        let (late, right) = (contract.complete(Self.completion(former)), contract.complete(Self.completion(next)))
        #expect(!late && right && contract.violations.count == 1 && contract.handedOut == 2)
    }

    @Test func aPullForNothingViolatesTheContract() {
        var contract = DeliveryContract(activities: 1)
        contract.pulled(limit: 1)
        #expect(contract.violations.isEmpty)
        contract.pulled(limit: 0)
        #expect(contract.violations == ["pulled with limit 0"])
    }
}
