import FanfareFanOut
import Testing

@testable import FanfareAPNs

@Suite struct SuspectsTests {
    private var suspects = Suspects()
    private let slot = ActivitySlot(7)

    @Test mutating func theFirstFailureSpeaksOfTheServiceAndTheNextOfTheConnection() {
        let evidence = (0..<3).map { _ in suspects.fail(slot, on: 1) }
        #expect(evidence == [.service, .connection, .connection])
    }

    @Test mutating func activityThatFailsOnTwoConnectionsCountsAgainstItselfOnly() {
        let evidence = [1, 2, 1, 3].map { suspects.fail(slot, on: $0) }
        #expect(evidence == [.service, .activity, .activity, .activity])
    }

    @Test mutating func aGoodAnswerForgetsAllFailuresOfItsActivity() {
        _ = suspects.fail(slot, on: 1)
        _ = suspects.fail(slot, on: 2)
        let failure = suspects.clear(slot)
        #expect(suspects.isEmpty && failure == nil, "it had failed on two")
        let evidence = suspects.fail(slot, on: 2)
        #expect(evidence == .service)
    }

    @Test mutating func aGoodAnswerTellsWhoseFaultTheOnlyFailureWas() {
        _ = suspects.fail(slot, on: 1)
        _ = suspects.fail(slot, on: 1)
        let failures = [suspects.clear(slot), suspects.clear(slot)]
        #expect(failures == [Suspects.Failure(connection: 1, isDisbelief: false), nil])
    }

    /// A connection is blamed for a dead-token answer that another connection refutes; its 5xx were counted when they came.
    @Test(arguments: [true, false]) mutating func aGoodAnswerTellsOfWhatWasNotBelieved(isDisbelief: Bool) {
        _ = suspects.fail(slot, on: 1, isDisbelief: isDisbelief)
        _ = suspects.fail(slot, on: 1, isDisbelief: !isDisbelief)
        let failure = suspects.clear(slot)
        #expect(failure?.isDisbelief == true)
    }

    /// After an outage every activity has failed somewhere, and one faulty server may call all tokens dead.
    @Test mutating func aFailureOfAnotherKindIsNoSecondOpinion() {
        _ = suspects.fail(slot, on: 1)
        _ = suspects.fail(slot, on: 2)
        let evidence = [2, 2, 3, 4].map { suspects.fail(slot, on: $0, isDisbelief: true) }
        #expect(evidence == [.service, .connection, .activity, .activity])
    }

    @Test mutating func activitiesAreToldApart() {
        let evidence = (0..<1000).map { suspects.fail(ActivitySlot($0), on: 1) }
        #expect(evidence.allSatisfy { $0 == .service })
    }
}
