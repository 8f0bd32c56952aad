import FanfareModel

/// Number of connections of each of an app's pools, and the number that the peer takes from all of them.
///
/// A peer that limits its clients counts the connections of all pools, so a refusal to one of them ends the growth of all for a while. A pool
/// without any connection comes first: none grows meanwhile, and whoever has more than an equal share gives one up.
///
/// All times are monotonic nanoseconds.
struct ConnectionLedger {
    private struct Pool: Equatable {
        /// Connections that the peer has taken, or has not refused yet.
        var taken = 0
        var lack: Lack?
    }

    /// Refusals in a row to a pool that has no connection.
    private struct Lack: Equatable {
        let since: Int64
        var last: Int64
        var refusals = 1

        func isCertain(at now: Int64) -> Bool {
            refusals >= ConnectionLedger.refusalsMax && last - since >= ConnectionLedger.refusalTime
                && now - last < ConnectionLedger.memory
        }
    }

    /// Refusals in a row, over at least `refusalTime`, after which a peer that is heard on another connection is assumed to want no more.
    static let refusalsMax = 3
    /// Minimum time of refusals in a row: longer than a dead connection passes for a live one while a PING is pending.
    static let refusalTime: Int64 = 10 * 1_000_000_000
    /// Time for which a refusal counts: twice the longest wait between two attempts.
    static let memory: Int64 = 120 * 1_000_000_000

    let most: Int
    private let expected: Int
    /// The pools by index; `nil` for one that has left.
    private var pools: [Pool?] = []
    /// Maximum number of connections of all pools while `refusal` lasts.
    private var ceiling = Int.max
    private var refusal = Pause()
    /// Times at which connections were given up for pools without any.
    private var givenUp: [Int64] = []

    /// - Parameters:
    ///   - most: maximum number of connections of all pools; each has one at least.
    ///   - pools: number of pools that will join.
    init(most: Int, pools: Int) {
        self.most = most
        expected = pools
    }

    /// Number of pools.
    var count: Int { max(1, expected, pools.count) }

    /// - Returns: the index of a new pool, which another one may have had.
    mutating func join() -> Int {
        let index = pools.firstIndex { $0 == nil } ?? pools.count
        if index == pools.count { pools.append(nil) }
        pools[index] = Pool()
        return index
    }

    mutating func leave(_ index: Int) { pools[index] = nil }

    /// Returns a pool's equal share of a number of connections, one at least. The first pools have one more if it does not divide.
    func share(of total: Int, for index: Int) -> Int {
        max(1, total / count + (index < total % count ? 1 : 0))
    }

    /// Connections that the peer has taken from all pools, or has not refused yet.
    private func taken(at now: Int64) -> Int {
        pools.lazy.compactMap(\.self).filter { $0.lack?.isCertain(at: now) != true }.reduce(0) { $0 + $1.taken }
    }

    mutating func note(taken: Int, by index: Int) { pools[index]?.taken = taken }

    /// Returns `true` while the peer, or this machine, takes no more connections.
    func isStopped(at now: Int64) -> Bool { !refusal.isOver(at: now) && taken(at: now) >= ceiling }

    /// Returns `true` if the pool may have one more connection.
    func mayGrow(_ index: Int, at now: Int64) -> Bool {
        !isStopped(at: now)
            && !pools.indices.contains { $0 != index && pools[$0]?.lack?.isCertain(at: now) == true }
    }

    /// Notes one more connection of the pool.
    ///
    /// - Returns: `false` if the pool may not have it.
    mutating func grow(_ index: Int, at now: Int64) -> Bool {
        guard mayGrow(index, at: now) else { return false }
        pools[index]?.taken += 1
        return true
    }

    /// Makes the present number the maximum for a while: the peer or this machine refuses more, or complains about too much load.
    mutating func refuse(at now: Int64, using random: inout some RandomNumberGenerator) {
        ceiling = taken(at: now)
        refusal.begin(at: now, using: &random)
    }

    /// Records a refusal to a pool without a connection.
    ///
    /// - Returns: `true` if another pool is to give one up.
    mutating func noteLack(of index: Int, at now: Int64) -> Bool {
        var lack = pools[index]?.lack ?? Lack(since: now, last: now, refusals: 0)
        // Refusals with a long time between them are not in a row.
        if now - lack.last >= ConnectionLedger.memory { lack = Lack(since: now, last: now, refusals: 0) }
        lack.refusals += 1
        lack.last = now
        pools[index]?.lack = lack
        return needsAnother(at: now)
    }

    /// Records that the pool has a connection that is of use.
    mutating func endLack(of index: Int) { pools[index]?.lack = nil }

    /// Returns `true` if more pools are without a connection than places are free that were given up for them.
    private func needsAnother(at now: Int64) -> Bool {
        let lacking = pools.count { $0?.lack?.isCertain(at: now) == true }
        guard lacking > 0 else { return false }
        // Anybody may have taken such a place; and the peer may take fewer by now than it did.
        let free = min(givenUp.count { now - $0 < ConnectionLedger.memory }, max(0, ceiling - taken(at: now)))
        return lacking > free
    }

    /// Returns the time since which another pool has been refused, if this pool is to give up a connection for it; otherwise `nil`.
    func giveUpDemand(to index: Int, at now: Int64) -> Int64? {
        guard let pool = pools[index], pool.taken > share(of: taken(at: now), for: index) else { return nil }
        guard needsAnother(at: now) else { return nil }
        return pools.lazy.compactMap { $0?.lack }.filter { $0.isCertain(at: now) }.map(\.since).max()
    }

    /// Records that the pool gives up a connection for one without any. The peer takes no more than the present number.
    mutating func giveUp(_ index: Int, at now: Int64, using random: inout some RandomNumberGenerator) {
        refuse(at: now, using: &random)
        pools[index]?.taken -= 1
        givenUp.removeAll { now - $0 >= ConnectionLedger.memory }
        givenUp.append(now)
    }
}
