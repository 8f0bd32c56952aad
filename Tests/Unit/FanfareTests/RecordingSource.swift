import FanfareFanOut
import FanfareModel

/// A source between a transport and its own source that keeps the pushes accepted for each token, so that tests can judge any transport
/// by the pushes that arrived.
final class RecordingSource: DeliverySource {
    struct Push: Equatable {
        let event: Payload.Event
        let logLabel: String
        let state: [UInt8]
        let stamp: Int64
        let alert: AlertText?
    }

    private struct Key: Hashable {
        let slot: ActivitySlot
        let generation: UInt32
    }

    private let source: any DeliverySource
    private var onTheWay: [Key: (token: [UInt8], push: Push)] = [:]
    /// Accepted pushes of each token, in the order of the answers.
    private(set) var accepted: [[UInt8]: [Push]] = [:]
    private(set) var dead: Set<[UInt8]> = []
    private(set) var outcomes: [DeliveryOutcome: Int] = [:]

    init(_ source: any DeliverySource) { self.source = source }

    func mayHavePushes(at moment: Moment) -> Bool { source.mayHavePushes(at: moment) }

    func pullByLot(_ random: UInt64, at moment: Moment, into batch: inout DeliveryBatch) {
        let before = batch.deliveries.count
        source.pullByLot(random, at: moment, into: &batch)
        note(from: before, in: batch)
    }

    func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        let before = batch.deliveries.count
        source.pull(limit: limit, at: moment, into: &batch)
        note(from: before, in: batch)
    }

    private func note(from before: Int, in batch: DeliveryBatch) {
        for delivery in batch.deliveries[before...] {
            let payload = batch.payload(of: delivery)
            let key = Key(slot: delivery.slot, generation: delivery.generation)
            let push = Push(
                event: payload.event, logLabel: payload.logLabel, state: payload.state, stamp: payload.stamp,
                alert: payload.alert)
            onTheWay[key] = (Array(batch.tokens[delivery.token]), push)
        }
    }

    func complete(_ completions: [DeliveryCompletion], at moment: Moment) {
        for completion in completions {
            outcomes[completion.outcome, default: 0] += 1
            let key = Key(slot: completion.slot, generation: completion.generation)
            guard let (token, push) = onTheWay.removeValue(forKey: key) else { continue }
            switch completion.outcome {
            case .accepted: accepted[token, default: []].append(push)
            case .deadToken: dead.insert(token)
            default: break
            }
        }
        source.complete(completions, at: moment)
    }
}
