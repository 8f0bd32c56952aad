import FanfareFanOut
import FanfareModel

/// A node's way to the service, and what is wrong with it.
struct Service {
    /// The team's key is not accepted until then, monotonic nanoseconds: nothing is processed.
    private var revokedUntil: Int64?
    /// A connection on which everything is answered 5xx, until it is replaced: the activities that it carries, and answers left.
    private var wedge: (salt: UInt64, answersLeft: Int)?
    /// After an answer that speaks of the service, one push at a time is tried, the next one then. As the transport does it.
    private var probesAt: Int64?

    /// Everything is answered 5xx until then; and how many such outages there were.
    private var failsUntil: Int64?
    private(set) var outages = 0

    mutating func revokeKey(until: Int64) { revokedUntil = max(until, revokedUntil ?? 0) }
    mutating func fail(until: Int64) {
        failsUntil = until
        outages += 1
    }
    mutating func wedge(salt: UInt64, answers: Int) { wedge = (salt, answers) }
    mutating func mend() { (revokedUntil, wedge, failsUntil) = (nil, nil, nil) }

    func isRevoked(at now: Int64) -> Bool { revokedUntil.map { $0 > now } ?? false }

    func fails(at now: Int64) -> Bool { failsUntil.map { $0 > now } ?? false }

    /// - Parameter phone: counted from 1. Not by its id, which is a keyed hash where it is a card's, and so another one in every
    ///   process.
    /// - Returns: whether a push to it meets the connection that is stuck.
    mutating func wedges(_ phone: Int) -> Bool {
        guard let (salt, left) = wedge, (UInt64(phone) ^ salt).mixed % 2 == 0 else { return false }
        wedge = left > 1 ? (salt, left - 1) : nil
        return true
    }

    /// Of no use to anybody before people or time have mended it.
    mutating func refusesAll(at now: Int64) { probesAt = now + 10_000_000_000 }
    /// What was wrong may be mended.
    mutating func tryNow(at now: Int64) { probesAt = probesAt.map { min($0, now) } }

    /// - Returns: how many pushes may leave now, if the connections have room for so many.
    func limit(_ room: Int, flying: Int, at now: Int64) -> Int {
        guard let probesAt else { return room }
        return flying == 0 && probesAt <= now ? min(1, room) : 0
    }

    mutating func answered(_ outcome: DeliveryOutcome, at now: Int64) {
        if isRevoked(at: now), outcome == .notProcessed {
            probesAt = now + 10_000_000_000
        } else if outcome == .serviceError {
            probesAt = now + 1_000_000_000
        } else {
            probesAt = nil
        }
    }
}

/// What is wrong with one token, for good or until it is mended.
enum Sickness { case fails, isSilent }
