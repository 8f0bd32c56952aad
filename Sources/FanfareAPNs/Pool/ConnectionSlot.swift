import FanfareModel

/// A place for one connection, which is replaced when it ends.
struct ConnectionSlot<Member: PooledConnection> {
    var connection: Member?
    /// Wait between connections that opened and were hardly useful: APNs considers a series of new connections an attack (spec §10).
    var backoff = Backoff(first: .milliseconds(100), most: Replacements.waitMax)
    /// Wait between attempts that did not open. It stays short, because such attempts are no burden, and people wait for
    /// the next one when APNs is back after an outage.
    var dialBackoff = Backoff(first: .milliseconds(100), most: .seconds(5))
    /// Wait between connections that ended while they were idle.
    var restBackoff = Backoff(first: .milliseconds(100), most: .seconds(5))
    /// Time at which the next connection may open; used if there is no connection, or one in doubt.
    var opensAt = MonotonicTime.always
    /// `true` if the connection gives way to another one at `opensAt`.
    var isInDoubt = false
    /// `true` once a connection in this slot has carried traffic or has lasted, so that the peer has accepted this many.
    var hasCarried = false
    /// Connections in a row that the peer ended or did not take.
    var refusals = 0
    /// Time of the first of the refusals in a row.
    var refusedSince: MonotonicTime?
    /// `true` while the slot's first connection has neither opened nor failed.
    var isUntried = false
    /// `true` if the peer has taken the slot's connection, or has not refused it yet.
    var isTaken: Bool { connection?.isOpen == true || refusals == 0 }
    /// `true` while the slot dials, or after its last attempts have failed.
    var isAsking: Bool { connection?.isDialing == true || dialBackoff.attempts > 0 }

    mutating func forgetTrouble() {
        backoff.reset()
        restBackoff.reset()
        (refusals, refusedSince) = (0, nil)
    }

    /// Removes the connection from the slot.
    mutating func clear() {
        connection = nil
        isInDoubt = false
    }
}
