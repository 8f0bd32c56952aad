import FanfareCore
import Testing

@testable import FanfareAPNs

@Suite struct SuspectsTests {
    private var suspects = Suspects()
    private let slot = ActivitySlot(7)

    @Test mutating func theFirstFailureSpeaksOfTheServiceAndTheNextOfTheConnection() {
        let evidence = (0..<3).map { _ in suspects.fail(slot, on: 1) }
        #expect(evidence == [.service, .connection, .connection])
    }

    @Test mutating func whoFailsOnTwoConnectionsSpeaksOnlyOfItself() {
        let evidence = [1, 2, 1, 3].map { suspects.fail(slot, on: $0) }
        #expect(evidence == [.service, .activity, .activity, .activity])
    }

    @Test mutating func aGoodAnswerForgetsAllOfIt() {
        _ = suspects.fail(slot, on: 1)
        _ = suspects.fail(slot, on: 2)
        let connection = suspects.clear(slot)
        #expect(suspects.isEmpty && connection == nil, "it had failed on two")
        let evidence = suspects.fail(slot, on: 2)
        #expect(evidence == .service)
    }

    @Test mutating func aGoodAnswerTellsWhoseFaultTheOnlyFailureWas() {
        _ = suspects.fail(slot, on: 1)
        _ = suspects.fail(slot, on: 1)
        let connections = [suspects.clear(slot), suspects.clear(slot)]
        #expect(connections == [1, nil])
    }

    @Test mutating func activitiesAreToldApart() {
        let evidence = (0..<1000).map { suspects.fail(ActivitySlot($0), on: 1) }
        #expect(evidence.allSatisfy { $0 == .service })
    }
}
