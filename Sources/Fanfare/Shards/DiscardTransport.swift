import FanfareFanOut
import FanfareLoop
import FanfareModel

/// Transport without a network. It takes every delivery at once, reads every token byte so that no work can be optimised away, and reports
/// the delivery as accepted in the normal way.
final class DiscardTransport: Transport {
    private unowned let source: any DeliverySource
    private let clock: () -> Moment
    private var nextPull: Wakeup?
    private var batch = DeliveryBatch()
    private var completions: [DeliveryCompletion] = []
    /// Sum over all token bytes pulled.
    private(set) var checksum: UInt64 = 0

    private static let batchMax = 1024
    /// Time after which a turn ends: the loop serves its other handles then. A push costs some 50 ns, and the end of a card twenty times as much.
    private static let turnMax = Duration.microseconds(500)

    init(
        loop: Loop, source: any DeliverySource, clock: @escaping () -> Moment = ThreadClock(.system).now
    ) throws(LoopError) {
        self.source = source
        self.clock = clock
        nextPull = try Wakeup(loop: loop) { [unowned self] in workAvailable() }
    }

    var isReady: Bool { true }

    func workAvailable() {
        var moment = clock()
        let end = moment.monotonic + DiscardTransport.turnMax
        while moment.monotonic < end {
            source.pull(limit: DiscardTransport.batchMax, at: moment, into: &batch)
            guard !batch.deliveries.isEmpty else { return }
            checksum &+= batch.tokenSum
            for delivery in batch.deliveries {
                completions.append(
                    DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted))
            }
            batch.removeAll()
            source.complete(completions, at: moment)
            completions.removeAll(keepingCapacity: true)
            moment = clock()
        }
        nextPull?.signal.signal()
    }

    func close(_ closed: @escaping () -> Void) {
        nextPull?.close()
        closed()
    }
}
