import FanfareFanOut
import FanfareLoop
import FanfareModel

/// Transport that discards pushes as `TransportChoice.discard` does, and tells of each batch when it has left.
final class WatchedTransport: Transport {
    private unowned let source: any DeliverySource
    private let clock: () -> Moment
    private let note: (_ batch: DeliveryBatch, _ now: Int64) -> Void
    private var nextPull: Wakeup?
    private var batch = DeliveryBatch()
    private var completions: [DeliveryCompletion] = []

    private static let batchMax = 1024
    /// As of `DiscardTransport`.
    private static let turnMax = Duration.microseconds(500)

    /// - Parameter note: called on the shard's thread with each batch and the monotonic nanosecond at which it left. It reads the tokens, so
    ///   that copying them is not optimised away.
    init(
        _ loop: Loop, _ source: any DeliverySource, _ clock: @escaping () -> Moment,
        note: @escaping (_ batch: DeliveryBatch, _ now: Int64) -> Void
    ) throws {
        self.source = source
        self.clock = clock
        self.note = note
        nextPull = try Wakeup(loop: loop) { [unowned self] in workAvailable() }
    }

    var isReady: Bool { true }

    func workAvailable() {
        var moment = clock()
        let end = moment.monotonic + WatchedTransport.turnMax
        while moment.monotonic < end {
            source.pull(limit: WatchedTransport.batchMax, at: moment, into: &batch)
            guard !batch.deliveries.isEmpty else { return }
            note(batch, Clock.monotonicNanoseconds())
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
