import FanfareFanOut
import FanfareModel
import Testing

@testable import FanfareAPNs

/// A source of deliveries that carry one payload.
private final class StagedSource: DeliverySource {
    private let payload: Payload
    private var due: Int
    private var slot: UInt32 = 0
    private(set) var lots: [UInt64] = []
    private(set) var outcomes: [DeliveryOutcome] = []
    var whenCompleted: (() -> Void)?

    init(due: Int, state: String = "{}") {
        self.due = due
        payload = Payload(
            event: .update, logLabel: "match/1", state: Array(state.utf8), stamp: 1_790_000_000, staleDate: nil,
            dismissalDate: nil, alert: nil, priority: .immediate)
    }

    func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        for _ in 0..<min(limit, due) {
            slot += 1
            due -= 1
            batch.append(slot: ActivitySlot(slot), generation: 1, payload: payload, token: [1, 2, 3] as [UInt8])
        }
    }

    func pullByLot(_ random: UInt64, at moment: Moment, into batch: inout DeliveryBatch) {
        lots.append(random)
        pull(limit: 1, at: moment, into: &batch)
    }

    func complete(_ completions: [DeliveryCompletion], at moment: Moment) {
        outcomes += completions.map(\.outcome)
        whenCompleted?()
    }
}

@Suite struct DeliveryExchangeTests {
    private let start = moment(ProviderTokenTests.start)

    private func exchange(with source: StagedSource) -> DeliveryExchange {
        DeliveryExchange(with: source, endpoint: .sandbox, bundleID: "com.example.app")
    }

    @Test func aPullBelowItsLimitLeavesNoWork() {
        let source = StagedSource(due: 7)
        let exchange = exchange(with: source)
        exchange.pull(limit: 5, at: start)
        #expect(exchange.mayHaveWork && exchange.batch.deliveries.count == 5)
        exchange.pull(limit: 5, at: start)
        #expect(!exchange.mayHaveWork && exchange.batch.deliveries.count == 2)
        exchange.noteWork()
        #expect(exchange.mayHaveWork && source.outcomes.isEmpty)
    }

    @Test func aPullByLotDrawsUntilNothingMoreIsDue() {
        let source = StagedSource(due: 3)
        let exchange = exchange(with: source)
        var lot: UInt64 = 0
        exchange.pullByLot(limit: 5, at: start) {
            lot += 1
            return lot
        }
        #expect(source.lots == [1, 2, 3, 4] && exchange.batch.deliveries.count == 3 && !exchange.mayHaveWork)
    }

    /// A source that takes completions may end others meanwhile.
    @Test func completionsThatComeDuringAHandoverWaitForTheNextOne() {
        let source = StagedSource(due: 2)
        let exchange = exchange(with: source)
        exchange.pull(limit: 3, at: start)
        exchange.finishUnsent(0..<1, .refused)
        source.whenCompleted = { exchange.finishUnsent(1..<2, .notProcessed) }
        exchange.complete(at: start)
        #expect(source.outcomes == [.refused] && exchange.mayHaveWork)
        source.whenCompleted = nil
        exchange.complete(at: start)
        exchange.complete(at: start)
        #expect(source.outcomes == [.refused, .notProcessed] && exchange.violation() == nil)
    }

    @Test func eachPushHasOneOutcome() {
        let source = StagedSource(due: 0)
        let exchange = exchange(with: source)
        let outcomes: [DeliveryOutcome] = [
            .accepted, .deadToken, .throttled, .serviceError, .notProcessed, .refused, .uncertain,
        ]
        exchange.noteSent(outcomes.count, each: .bytes(100), at: start.monotonic)
        #expect(exchange.inFlight == 7 && exchange.statistics.sent == 7 && exchange.statistics.sentSize == .bytes(700))
        #expect(exchange.bodySize.last == .bytes(100))
        for (index, outcome) in outcomes.enumerated() {
            let request = SentRequest(
                slot: ActivitySlot(UInt32(index)), generation: 1, tokenSerial: 1, sentAt: start.monotonic)
            exchange.finish(request, outcome)
            #expect(exchange.violation() == nil, "\(outcome)")
        }
        let statistics = exchange.statistics
        #expect(exchange.inFlight == 0 && statistics.answered == statistics.sent && statistics.notProcessed == 2)
        exchange.complete(at: start)
        #expect(source.outcomes == outcomes)
    }

    @Test func theFaultOfAPayloadIsThrownOnce() throws {
        let source = StagedSource(due: 2, state: "[]")
        let exchange = exchange(with: source)
        let token = try ProviderToken(keyID: "ABC123DEFG", teamID: "TEAM123456") { _ in
            [UInt8](repeating: 0xff, count: 64)
        }
        let authorization = exchange.authorization(try token.current(at: start))
        exchange.pull(limit: 2, at: start)
        let deliveries = exchange.batch.deliveries
        #expect(throws: PayloadFault(logLabel: "match/1", problem: .stateIsNotAnObject)) {
            try exchange.form(of: deliveries[0], authorization)
        }
        let isLeftOut = try exchange.form(of: deliveries[1], authorization) == nil
        #expect(isLeftOut)
        exchange.refuse(0..<2)
        exchange.complete(at: start)
        #expect(source.outcomes == [.refused, .refused] && exchange.statistics.unencodable == 2)
    }

    @Test func pullsAreSpreadUntilSignsOfLifeHaveCome() {
        let source = StagedSource(due: 0)
        let exchange = exchange(with: source)
        let now = start.monotonic
        #expect(!exchange.isSpreading(at: now))
        exchange.spread(until: now + .milliseconds(50))
        #expect(exchange.isSpreading(at: now) && !exchange.isSpreading(at: now + .milliseconds(50)))
    }
}
