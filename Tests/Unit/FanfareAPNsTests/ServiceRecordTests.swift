import FanfareFanOut
import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct ServiceRecordTests {
    private let now = MonotonicTime.after(.seconds(100))
    private var service = ServiceRecord()
    private var random = SplitMix64(seed: 1)

    private func request(_ slot: UInt32) -> SentRequest {
        SentRequest(slot: ActivitySlot(slot), generation: 1, tokenSerial: 1, sentAt: now)
    }

    @Test mutating func failuresOnTwoConnectionsAreTheActivitysOwn() {
        var evidence: [FailureEvidence] = []
        for connection in [1, 1, 2] as [UInt64] { evidence.append(service.fail(request(7), on: connection)) }
        #expect(evidence == [.service, .connection, .activity])
        let refuted = service.answered(request(7))
        #expect(refuted == nil)
    }

    @Test mutating func anAnswerRefutesTheFailureOnAnotherConnection() {
        _ = service.fail(request(7), on: 3)
        let refuted = service.answered(request(7))
        let again = service.answered(request(7))
        #expect(refuted?.connection == 3 && again == nil)
    }

    @Test mutating func aFinalAnswerIsBelievedAfterTwoConnectionsHaveGivenIt() {
        var confirmed: [Bool] = []
        for connection in [1, 1, 2] as [UInt64] { confirmed.append(service.isConfirmed(request(7), on: connection)) }
        #expect(confirmed == [false, false, true])
    }

    @Test mutating func aCommonFailureIsEverybodysUntilAPushHasWorked() {
        let first = service.failAlike(request(7), on: 1, at: now)
        let second = service.failAlike(request(7), on: 1, at: now)
        #expect(first == .init(evidence: .service, isEvidence: true, isEverybodys: true))
        #expect(second == .init(evidence: .connection, isEvidence: false, isEverybodys: true))
        _ = service.answered(request(8))
        let third = service.failAlike(request(7), on: 2, at: now)
        #expect(third == .init(evidence: .activity, isEvidence: false, isEverybodys: false))
    }

    @Test mutating func troubleIsTheServicesOnceTheGateCloses() {
        var told: [Bool] = []
        for slot in 0..<UInt32(PullGate.troubleMax) {
            let evidence = service.fail(request(slot), on: 1)
            told.append(service.noteTrouble(evidence, of: request(slot), at: now, using: &random))
        }
        #expect(told == [Bool](repeating: false, count: PullGate.troubleMax - 1) + [true])
        let room = service.room(at: now)
        #expect(service.gate.closedUntil != nil && !service.isWell && room == 0 && service.violation() == nil)
    }

    @Test mutating func aTroubleThatOperatorsKnowKeepsThePoolFromGrowing() {
        #expect(service.isWell)
        service.health.note(.service, "answers 503", at: now)
        #expect(!service.isWell)
        _ = service.answered(request(1))
        #expect(service.isWell)
    }
}
