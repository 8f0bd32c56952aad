import FanfareFanOut
import FanfareModel

/// Pushes that a shard gives, and the answers that it gets, as the service's trouble allows.
struct PushExchange {
    private var batch = DeliveryBatch()
    private var completions: [DeliveryCompletion] = []
    /// Time of the next push while the service fails.
    private var triesAt = SeasonTime(milliseconds: 0)

    private static let pullMax = 1024

    /// Returns the number of pushes that may leave now.
    mutating func room(at service: Troubles.Service, _ now: SeasonTime) -> Int {
        switch service {
        case .well, .breaking: return PushExchange.pullMax
        case .unreachable: return 0
        case .keyRevoked, .down:
            guard now >= triesAt else { return 0 }
            triesAt = now + service.retries
            return 1
        }
    }

    /// Takes what the shard has to push, and answers it.
    ///
    /// - Returns: `true` if there was anything.
    mutating func run(
        _ shard: Shard, limit: Int, at moment: Moment, answer: (Payload, ArraySlice<UInt8>) -> DeliveryOutcome
    ) -> Bool {
        shard.pull(limit: limit, at: moment, into: &batch)
        guard !batch.deliveries.isEmpty else { return false }
        for delivery in batch.deliveries {
            let outcome = answer(batch.payload(of: delivery), batch.tokens[delivery.token])
            completions.append(
                DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: outcome))
        }
        batch.removeAll()
        shard.complete(completions, at: moment)
        completions.removeAll(keepingCapacity: true)
        return true
    }
}
