import FanfareFanOut
import FanfareLoop
import FanfareModel

/// A source of one push per activity that checks the contract: each delivery must be completed exactly once. Pushes that were
/// certainly not accepted are delivered again.
final class MemorySource: DeliverySource {
    private var contract: DeliveryContract
    /// Activities to be served from `next` on, first in, first out: failed ones go behind the waiting ones, as in a shard.
    private var waiting: [UInt32]
    private var next = 0
    private let payload: Payload
    private let token: (UInt32) -> [UInt8]
    /// Number of deliveries up to which the source has work.
    var mayHandOut = Int.max
    /// Returns whether an activity needs no further push after this outcome.
    let settles: (DeliveryOutcome) -> Bool
    /// Called when every activity has settled.
    var whenSettled: (() -> Void)?
    /// Called at the beginning of each pull.
    var whenPulled: (() -> Void)?
    /// Called after each batch of completions.
    var whenCompleted: (() -> Void)?

    init(
        activities: Int, payload: Payload, token: @escaping (UInt32) -> [UInt8] = MemorySource.token,
        settles: @escaping (DeliveryOutcome) -> Bool = { $0 == .accepted || $0 == .deadToken || $0 == .refused }
    ) {
        contract = DeliveryContract(activities: activities)
        waiting = Array(0..<UInt32(activities))
        self.payload = payload
        self.token = token
        self.settles = settles
    }

    /// Returns a token of 80 bytes, like most Live Activity tokens.
    static func token(_ slot: UInt32) -> [UInt8] {
        let digest = sha256(Array("token \(slot)".utf8))
        return digest + digest + digest.prefix(16)
    }

    /// The number of pushes for which the pool is to be wide enough.
    var demand = 0
    var activities: Int { contract.activities }
    var inFlight: Int { contract.inFlight }
    var handedOut: Int { contract.handedOut }
    var completed: Int { contract.completed }
    /// Number of deliveries before the first completion.
    var inFlightBeforeFirstAnswer: Int { contract.inFlightBeforeFirstAnswer }
    var settled: Int { contract.settled }
    var outcomes: [String: Int] { contract.outcomes }
    /// Violations of the contract, in words.
    var violations: [String] { contract.violations }
    func count(_ outcome: DeliveryOutcome) -> Int { outcomes["\(outcome)"] ?? 0 }

    func pullByLot(_ random: UInt64, at moment: Moment, into batch: inout DeliveryBatch) {
        if next < waiting.count { waiting.swapAt(next, next + Int(random % UInt64(waiting.count - next))) }
        pull(limit: 1, at: moment, into: &batch)
    }

    func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        whenPulled?()
        contract.pulled(limit: limit)
        for _ in 0..<limit {
            guard handedOut < mayHandOut, next < waiting.count else { return }
            let slot = waiting[next]
            next += 1
            let generation = contract.handOut(slot)
            batch.append(slot: ActivitySlot(slot), generation: generation, payload: payload, token: token(slot))
        }
    }

    func complete(_ completions: [DeliveryCompletion], at moment: Moment) {
        for completion in completions where contract.complete(completion) {
            if settles(completion.outcome) {
                contract.settle(completion)
            } else {
                contract.wait(completion)
                waiting.append(UInt32(completion.slot.rawValue))
            }
        }
        whenCompleted?()
        if contract.areAllSettled { whenSettled?() }
    }
}
