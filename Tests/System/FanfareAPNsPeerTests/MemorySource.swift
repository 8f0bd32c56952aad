import FanfareFanOut
import FanfareLoop
import FanfareModel

/// A source of one push per activity that checks the contract: each delivery must be completed exactly once. Pushes that were
/// certainly not accepted are delivered again.
final class MemorySource: DeliverySource {
    private enum Standing: Equatable { case waiting, inFlight(generation: UInt32), settled(DeliveryOutcome) }

    private var standings: [Standing]
    /// Activities to be served from `next` on, first in, first out: failed ones go behind the waiting ones, as in a shard.
    private var waiting: [UInt32]
    private var next = 0
    private let payload: Payload
    private let token: (UInt32) -> [UInt8]
    private(set) var handedOut = 0
    /// Number of deliveries up to which the source has work.
    var mayHandOut = Int.max
    private(set) var completed = 0
    /// Number of deliveries before the first completion.
    private(set) var inFlightBeforeFirstAnswer = 0
    private(set) var outcomes: [String: Int] = [:]
    /// Violations of the contract, in words.
    private(set) var violations: [String] = []
    /// Returns whether an activity needs no further push after this outcome.
    let settles: (DeliveryOutcome) -> Bool
    /// Called when every activity has settled.
    var whenSettled: (() -> Void)?
    /// Called at the beginning of each pull.
    var whenPulled: (() -> Void)?
    /// Called after each batch of completions.
    var whenCompleted: (() -> Void)?
    private(set) var settled = 0
    private var generation: UInt32 = 0

    init(
        activities: Int, payload: Payload, token: @escaping (UInt32) -> [UInt8] = MemorySource.token,
        settles: @escaping (DeliveryOutcome) -> Bool = { $0 == .accepted || $0 == .deadToken || $0 == .refused }
    ) {
        standings = Array(repeating: .waiting, count: activities)
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
    var activities: Int { standings.count }
    var inFlight: Int { standings.count { if case .inFlight = $0 { true } else { false } } }
    func count(_ outcome: DeliveryOutcome) -> Int { outcomes["\(outcome)"] ?? 0 }

    func pullByLot(_ random: UInt64, at moment: Moment, into batch: inout DeliveryBatch) {
        if next < waiting.count { waiting.swapAt(next, next + Int(random % UInt64(waiting.count - next))) }
        pull(limit: 1, at: moment, into: &batch)
    }

    func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        whenPulled?()
        if limit < 1 { violations.append("pulled with limit \(limit)") }
        for _ in 0..<limit {
            guard handedOut < mayHandOut, next < waiting.count else { return }
            let slot = waiting[next]
            next += 1
            generation += 1
            standings[Int(slot)] = .inFlight(generation: generation)
            handedOut += 1
            if completed == 0 { inFlightBeforeFirstAnswer += 1 }
            batch.append(slot: ActivitySlot(slot), generation: generation, payload: payload, token: token(slot))
        }
    }

    func complete(_ completions: [DeliveryCompletion], at moment: Moment) {
        for completion in completions {
            let slot = Int(completion.slot.rawValue)
            guard standings[slot] == .inFlight(generation: completion.generation) else {
                violations.append(
                    "slot \(slot), generation \(completion.generation): completed while \(standings[slot])")
                continue
            }
            completed += 1
            outcomes["\(completion.outcome)", default: 0] += 1
            if settles(completion.outcome) {
                standings[slot] = .settled(completion.outcome)
                settled += 1
            } else {
                standings[slot] = .waiting
                waiting.append(UInt32(slot))
            }
        }
        whenCompleted?()
        if settled == standings.count { whenSettled?() }
    }
}
