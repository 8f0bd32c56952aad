import Fanfare
package import FanfareFanOut
import FanfareLoop
package import FanfareModel

/// Transport inside the process that answers every push at once, at a limited rate and with stalls if the scenario has them.
///
/// It knows neither loop nor clock of its own, so that the same code runs in virtual time. Confined to its shard's thread.
package final class SinkTransport: Transport {
    private unowned let source: any DeliverySource
    private let clock: () -> Moment
    /// Schedules the next call of `workAvailable` after a wait of zero or more.
    private let schedule: (Duration) -> Void
    private let isDead: ((ArraySlice<UInt8>) -> Bool)?
    /// Pushes a second; 0 for no limit.
    private let rate: Int64
    /// Stalls as ranges of nanoseconds from the schedule's start.
    private let stalls: [Range<Int64>]
    private let start: ScheduleStart
    private var batch = DeliveryBatch()
    private var completions: [DeliveryCompletion] = []
    /// Moment from which a limited transport is free again.
    private var freeAt: Int64 = 0
    /// Sum over all token bytes, so that no work can be optimised away.
    package private(set) var checksum: UInt64 = 0

    private static let batchMax = 1024
    private static let batchesPerTurn = 64
    /// Time that a limited transport may make up for after a pause: its buffer, which holds one push at least.
    private let credit: Int64
    private static let creditMin: Int64 = 10_000_000

    /// Settings that the sinks of a run share.
    package struct Setup {
        package var options: Scenario.Sink
        /// Transports that share the sink's rate.
        package var shards = 1
        package var start: ScheduleStart
        /// Nanoseconds from the schedule's start to the measurement's, from which stalls count.
        package var measuredFrom: Int64
        /// Tells dead tokens; `nil`: none is dead.
        package var isDead: ((ArraySlice<UInt8>) -> Bool)?

        package init(_ options: Scenario.Sink, start: ScheduleStart, measuredFrom: Int64) {
            self.options = options
            self.start = start
            self.measuredFrom = measuredFrom
        }
    }

    package init(
        _ source: any DeliverySource, _ setup: Setup, clock: @escaping () -> Moment,
        schedule: @escaping (Duration) -> Void
    ) {
        self.source = source
        self.clock = clock
        self.schedule = schedule
        isDead = setup.isDead
        rate = Int64(setup.options.pushesPerSecond.map { max(1, $0 / setup.shards) } ?? 0)
        credit = rate > 0 ? max(SinkTransport.creditMin, 1_000_000_000 / rate + 1) : SinkTransport.creditMin
        stalls = setup.options.stalls.map { stall in
            let at = setup.measuredFrom + stall.at.wholeNanoseconds
            return at..<at + stall.length.wholeNanoseconds
        }
        start = setup.start
    }

    package var isReady: Bool { true }

    package func workAvailable() {
        for _ in 0..<SinkTransport.batchesPerTurn {
            let moment = clock()
            let now = moment.monotonic.nanoseconds
            let elapsed = stalls.isEmpty ? 0 : now - start.moment
            if let stall = stalls.first(where: { $0.contains(elapsed) }) {
                return schedule(.nanoseconds(stall.upperBound - elapsed))
            }
            let limit = allowance(at: now)
            guard limit > 0 else { return schedule(.milliseconds(1)) }
            source.pull(limit: limit, at: moment, into: &batch)
            guard !batch.deliveries.isEmpty else { return }
            answer(at: moment)
        }
        schedule(.zero)
    }

    /// Pushes that may leave now.
    private func allowance(at now: Int64) -> Int {
        guard rate > 0 else { return SinkTransport.batchMax }
        freeAt = max(freeAt, now - credit)
        return Int(min(Int64(SinkTransport.batchMax), max(0, now - freeAt) * rate / 1_000_000_000))
    }

    private func answer(at moment: Moment) {
        checksum &+= batch.tokenSum
        if rate > 0 { freeAt += Int64(batch.deliveries.count) * 1_000_000_000 / rate }
        for delivery in batch.deliveries {
            let isDead = isDead.map { $0(batch.tokens[delivery.token]) } ?? false
            completions.append(
                DeliveryCompletion(
                    slot: delivery.slot, generation: delivery.generation, outcome: isDead ? .deadToken : .accepted))
        }
        batch.removeAll()
        source.complete(completions, at: moment)
        completions.removeAll(keepingCapacity: true)
    }

    package func close(_ closed: @escaping () -> Void) { closed() }
}
