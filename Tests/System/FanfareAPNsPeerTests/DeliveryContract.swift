import FanfareFanOut
import FanfareModel

/// Judge of the contract between a source and a pool: each delivery is completed exactly once. It counts what it judges.
struct DeliveryContract {
    private enum Standing: Equatable { case waiting, inFlight(generation: UInt32), settled(DeliveryOutcome) }

    private var standings: [Standing]
    private var generation: UInt32 = 0
    private(set) var handedOut = 0
    private(set) var completed = 0
    /// Number of deliveries before the first completion.
    private(set) var inFlightBeforeFirstAnswer = 0
    private(set) var settled = 0
    private(set) var outcomes: [String: Int] = [:]
    /// Violations of the contract, in words.
    private(set) var violations: [String] = []

    init(activities: Int) { standings = Array(repeating: .waiting, count: activities) }

    var activities: Int { standings.count }
    var inFlight: Int { standings.count { if case .inFlight = $0 { true } else { false } } }
    var areAllSettled: Bool { settled == standings.count }

    mutating func pulled(limit: Int) { if limit < 1 { violations.append("pulled with limit \(limit)") } }

    /// Notes a delivery.
    ///
    /// - Returns: its generation.
    mutating func handOut(_ slot: UInt32) -> UInt32 {
        generation += 1
        standings[Int(slot)] = .inFlight(generation: generation)
        handedOut += 1
        if completed == 0 { inFlightBeforeFirstAnswer += 1 }
        return generation
    }

    /// Notes the end of a delivery, after which `settle` or `wait` says what becomes of the activity.
    ///
    /// - Returns: `true` if it was in flight.
    mutating func complete(_ completion: DeliveryCompletion) -> Bool {
        let slot = Int(completion.slot.rawValue)
        guard standings[slot] == .inFlight(generation: completion.generation) else {
            violations.append("slot \(slot), generation \(completion.generation): completed while \(standings[slot])")
            return false
        }
        completed += 1
        outcomes["\(completion.outcome)", default: 0] += 1
        return true
    }

    /// Notes that an activity needs no further push.
    mutating func settle(_ completion: DeliveryCompletion) {
        standings[Int(completion.slot.rawValue)] = .settled(completion.outcome)
        settled += 1
    }

    /// Notes that an activity waits for another push.
    mutating func wait(_ completion: DeliveryCompletion) { standings[Int(completion.slot.rawValue)] = .waiting }
}
