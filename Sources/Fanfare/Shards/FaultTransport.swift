import FanfareFanOut
import FanfareLoop
import FanfareModel

/// Transport that simulates a bad network: answers are late and reordered, pushes are throttled, unprocessed or unanswered, and tokens die,
/// all by a seed. Every activity must get its newest state nevertheless.
///
/// The seed determines the outcome of the first, second, … push of a shard; the time of each answer depends on the clock.
final class FaultTransport: Transport {
    private unowned let source: any DeliverySource
    private let clock: () -> Moment
    private var random: SplitMix64
    private var ticks: LoopTimer?
    private var batch = DeliveryBatch()
    /// Answers by the millisecond of their arrival, modulo the longest delay.
    private var pending: [[DeliveryCompletion]]
    private var tick = 0
    private var inFlight = 0
    private var closed: (() -> Void)?

    /// Limit on pushes in flight: as many streams as a few connections have.
    private static let inFlightMax = 2000
    private static let delayMaxMilliseconds = 64

    init(loop: Loop, source: any DeliverySource, clock: @escaping () -> Moment = ThreadClock(.system).now, seed: UInt64)
    {
        self.source = source
        self.clock = clock
        random = SplitMix64(seed: seed)
        pending = Array(repeating: [], count: FaultTransport.delayMaxMilliseconds)
        ticks = LoopTimer(loop: loop) { [unowned self] in answer() }
        ticks?.start(after: .milliseconds(1), repeating: .milliseconds(1))
    }

    var isReady: Bool { closed == nil }

    func workAvailable() { pull(at: clock()) }

    private func pull(at moment: Moment) {
        guard closed == nil, inFlight < FaultTransport.inFlightMax else { return }
        source.pull(limit: FaultTransport.inFlightMax - inFlight, at: moment, into: &batch)
        for delivery in batch.deliveries {
            let completion = DeliveryCompletion(
                slot: delivery.slot, generation: delivery.generation, outcome: outcome())
            // Most answers are quick; some take the longest delay.
            let delay = random.next() % 8 == 0 ? FaultTransport.delayMaxMilliseconds - 1 : 1 + Int(random.next() % 8)
            pending[(tick + delay) % pending.count].append(completion)
        }
        inFlight += batch.deliveries.count
        batch.removeAll()
    }

    /// Returns the outcome of a push. Of 256 pushes 16 are not processed, 8 get no answer, 4 are throttled, and 2 go to dead tokens.
    private func outcome() -> DeliveryOutcome {
        switch random.next() % 256 {
        case 0..<16: .notProcessed
        case 16..<24: .uncertain
        case 24..<28: .throttled
        case 28..<30: .deadToken
        default: .accepted
        }
    }

    private func answer() {
        tick += 1
        var due = pending[tick % pending.count]
        guard !due.isEmpty || closed != nil else { return }
        pending[tick % pending.count] = []
        due.shuffle(using: &random)
        inFlight -= due.count
        let moment = clock()
        source.complete(due, at: moment)
        pull(at: moment)
        if inFlight == 0, let closed {
            self.closed = nil
            ticks?.close()
            closed()
        }
    }

    func close(_ closed: @escaping () -> Void) { self.closed = closed }
}
