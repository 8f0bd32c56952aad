import FanfareModel

/// Number of connections of each of an app's pools, and the number that the peer takes from all of them.
///
/// A peer that limits its clients counts the connections of all pools, so a refusal to one of them ends the growth of all for a while.
struct ConnectionCounts {
    let most: Int
    private let expected: Int
    /// Connections of the pools that the peer has taken, or has not refused yet, by index; `nil` for a pool that has left.
    private var taken: [Int?] = []
    /// Maximum number of connections of all pools while `refusal` lasts.
    private var ceiling = Int.max
    private var refusal = Pause()

    /// - Parameters:
    ///   - most: maximum number of connections of all pools; each has one at least.
    ///   - pools: number of pools that will join.
    init(most: Int, pools: Int) {
        self.most = most
        expected = pools
    }

    /// Number of pools.
    var count: Int { max(1, expected, taken.count) }

    /// - Returns: the index of a new pool, which another one may have had.
    mutating func join() -> Int {
        let index = taken.firstIndex(of: nil) ?? taken.count
        if index == taken.count { taken.append(nil) }
        taken[index] = 0
        return index
    }

    mutating func leave(_ index: Int) { taken[index] = nil }

    /// Returns a pool's equal share of all connections, one at least. The first pools have one more if the number does not divide.
    func share(of index: Int) -> Int { max(1, most / count + (index < most % count ? 1 : 0)) }

    private var sum: Int { taken.reduce(0) { $0 + ($1 ?? 0) } }

    mutating func note(taken count: Int, by index: Int) { taken[index] = count }

    /// Returns `true` while the peer, or this machine, takes no more connections.
    func isStopped(at now: MonotonicTime) -> Bool { !refusal.isOver(at: now) && sum >= ceiling }

    /// Notes one more connection of the pool.
    ///
    /// - Returns: `false` if the pool may not have it.
    mutating func grow(_ index: Int, at now: MonotonicTime) -> Bool {
        guard !isStopped(at: now), let count = taken[index] else { return false }
        taken[index] = count + 1
        return true
    }

    /// Makes the present number the maximum for a while: the peer or this machine refuses more, or complains about too much load.
    mutating func refuse(at now: MonotonicTime, using random: inout some RandomNumberGenerator) {
        ceiling = sum
        refusal.begin(at: now, using: &random)
    }
}
