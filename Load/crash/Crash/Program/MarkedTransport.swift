import Fanfare
import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import FanfareModel

/// APNs' connections of a shard, which mark sweeps and starts that are on their way. Confined to the shard's thread.
final class MarkedTransport: Transport {
    private let source: MarkedSource
    private let pool: ConnectionPool

    init(_ pool: (MarkedSource) throws -> ConnectionPool, _ source: MarkedSource) rethrows {
        self.source = source
        self.pool = try pool(source)
    }

    var isReady: Bool { pool.isReady }
    var figures: TransportFigures { pool.figures }
    func workAvailable() { pool.workAvailable() }
    func close(_ closed: @escaping () -> Void) { pool.close(closed) }
}

/// Stands between a shard and its connections, and changes nothing. Confined to the shard's thread.
final class MarkedSource: DeliverySource {
    private unowned let source: any DeliverySource
    private let marks: PhaseMarks
    /// Phase of the push that is on its way, by slot; a slot has one at most.
    private var flying: [Phase?] = []

    init(_ source: any DeliverySource, _ marks: PhaseMarks) { (self.source, self.marks) = (source, marks) }

    var demand: Int { source.demand }
    func mayHavePushes(at moment: Moment) -> Bool { source.mayHavePushes(at: moment) }

    func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        let start = batch.deliveries.count
        source.pull(limit: limit, at: moment, into: &batch)
        note(from: start, in: batch)
    }

    func pullByLot(_ random: UInt64, at moment: Moment, into batch: inout DeliveryBatch) {
        let start = batch.deliveries.count
        source.pullByLot(random, at: moment, into: &batch)
        note(from: start, in: batch)
    }

    private func note(from start: Int, in batch: DeliveryBatch) {
        var position = start
        while position < batch.deliveries.count {
            let run = batch.run(from: position)
            position = run.upperBound
            let first = batch.deliveries[run.lowerBound]
            guard batch.joinedPayload(of: first) == nil else { continue }
            let payload = batch.payload(of: first)
            let phase: Phase
            if payload.event == .start {
                phase = .start
            } else {
                guard Names.isCrowd(payload.logLabel) else { continue }
                phase = .sweep
            }
            for index in run {
                let slot = Int(batch.deliveries[index].slot.rawValue)
                while flying.count <= slot { flying.append(nil) }
                flying[slot] = phase
            }
            marks.add(run.count, to: phase)
        }
    }

    func complete(_ completions: [DeliveryCompletion], at moment: Moment) {
        for completion in completions {
            let slot = Int(completion.slot.rawValue)
            guard slot < flying.count, let phase = flying[slot] else { continue }
            flying[slot] = nil
            marks.add(-1, to: phase)
        }
        source.complete(completions, at: moment)
    }
}
