import FanfareFanOut
import FanfareModel

/// A node's connection to the push service, and its current faults.
struct Service {
    /// Time until which the team's key is refused and nothing is processed.
    private var revokedUntil: MonotonicTime?
    /// A wedged connection, which answers every push with 5xx until it is replaced: a salt that
    /// selects its activities, and the answers left.
    private var wedge: (salt: UInt64, answersLeft: Int)?
    /// Time of the next probe after an answer that accuses the service: until an answer clears the service, one
    /// push at a time is sent, as the transport does.
    private var probesAt: MonotonicTime?

    /// Time until which every push is answered with 5xx; `outages` is the number of such outages so far.
    private var failsUntil: MonotonicTime?
    private(set) var outages = 0

    mutating func revokeKey(until: MonotonicTime) { revokedUntil = max(until, revokedUntil ?? until) }
    mutating func fail(until: MonotonicTime) {
        failsUntil = until
        outages += 1
    }
    mutating func wedge(salt: UInt64, answers: Int) { wedge = (salt, answers) }
    mutating func mend() { (revokedUntil, wedge, failsUntil) = (nil, nil, nil) }

    func isRevoked(at now: MonotonicTime) -> Bool { revokedUntil.map { $0 > now } ?? false }

    func fails(at now: MonotonicTime) -> Bool { failsUntil.map { $0 > now } ?? false }

    /// - Parameter phone: number of the phone, from 1. The id would not do: that of a card is a
    ///   keyed hash, which differs between processes.
    /// - Returns: `true` if a push to the phone meets the wedged connection.
    mutating func wedges(_ phone: Int) -> Bool {
        guard let (salt, left) = wedge, (UInt64(phone) ^ salt).mixed % 2 == 0 else { return false }
        wedge = left > 1 ? (salt, left - 1) : nil
        return true
    }

    /// Notes that the service refuses every push until its fault is mended; probes wait ten seconds.
    mutating func refusesAll(at now: MonotonicTime) { probesAt = now + .seconds(10) }
    /// Allows a probe at once, because the fault may be mended.
    mutating func tryNow(at now: MonotonicTime) { probesAt = probesAt.map { min($0, now) } }

    /// - Returns: number of pushes that may leave now, if the connections have room for `room`.
    func limit(_ room: Int, flying: Int, at now: MonotonicTime) -> Int {
        guard let probesAt else { return room }
        return flying == 0 && probesAt <= now ? min(1, room) : 0
    }

    mutating func answered(_ outcome: DeliveryOutcome, at now: MonotonicTime) {
        if isRevoked(at: now), outcome == .notProcessed {
            probesAt = now + .seconds(10)
        } else if outcome == .serviceError {
            probesAt = now + .seconds(1)
        } else {
            probesAt = nil
        }
    }
}

/// Fault of one token, for good or until it is mended.
enum Sickness { case fails, isSilent }
