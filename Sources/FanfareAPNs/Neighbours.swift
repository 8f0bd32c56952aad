import FanfareLoop

/// The pools of one app on this host, one for each shard, which share a peer and what it takes.
///
/// A peer, or a proxy before it, may take fewer connections than they want. Then a pool that comes late has none, and the people of its
/// shard get nothing, while others have several: they yield, and one of them gives a connection up for it. That does not help a pool
/// which starves for another reason, so a few are given and no more. Where nobody has more than the least, nobody gives.
///
/// All times are monotonic nanoseconds.
public final class Neighbours: Sendable {
    private struct Need {
        var given = 0
        /// When the next one is given, if there is to be another.
        var due: Int64
    }

    /// Long enough for the pool's next attempt to be made, and to be taken.
    static let interval: Int64 = 10 * 1_000_000_000
    static let givenMax = 4

    public let pools: Int
    private let needs = Locked<[ObjectIdentifier: Need]>([:])

    public init(pools: Int = 1) { self.pools = max(1, pools) }

    /// The pool has had no connection for a while.
    func starves(_ pool: ObjectIdentifier, at now: Int64) {
        needs.withLock { if $0[pool] == nil { $0[pool] = Need(due: now) } }
    }

    /// It has one, or is gone.
    func isFed(_ pool: ObjectIdentifier) { needs.withLock { _ = $0.removeValue(forKey: pool) } }

    /// A place at the peer is to be left to another pool.
    func isWanted(at now: Int64) -> Bool {
        needs.withLock { $0.values.contains { $0.given < Neighbours.givenMax || now < $0.due } }
    }

    /// - Returns: whether the one who asks, and has more connections than the least, is to give one up.
    func take(at now: Int64) -> Bool {
        needs.withLock {
            guard let pool = $0.first(where: { $1.given < Neighbours.givenMax && now >= $1.due })?.key else {
                return false
            }
            $0[pool]?.given += 1
            $0[pool]?.due = now + Neighbours.interval
            return true
        }
    }
}
