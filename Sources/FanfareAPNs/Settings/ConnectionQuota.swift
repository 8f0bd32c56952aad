import FanfareLoop
import FanfareModel

/// Connections that an app's pools on this host may have together; `ConnectionCounts` decides.
///
/// Each pool runs on a thread of its own. A call takes a lock, and comes with events of connections, never with pushes.
package final class ConnectionQuota: Sendable {
    fileprivate let counts: Locked<ConnectionCounts>

    /// - Parameters:
    ///   - most: maximum number of connections of all pools; each has one at least.
    ///   - pools: number of pools, one per shard.
    package init(most: Int = 64, pools: Int = 1) {
        counts = Locked(ConnectionCounts(most: most, pools: pools))
    }

    func join() -> QuotaShare {
        counts.withLock { counts in
            let index = counts.join()
            return QuotaShare(quota: self, index: index, most: counts.share(of: index), pools: counts.count)
        }
    }
}

/// One pool's part of the quota. Confined to the pool's thread.
final class QuotaShare {
    private let quota: ConnectionQuota
    private let index: Int
    /// Maximum number of connections of this pool.
    let most: Int
    /// Number of pools that share the quota.
    let pools: Int

    fileprivate init(quota: ConnectionQuota, index: Int, most: Int, pools: Int) {
        (self.quota, self.index, self.most, self.pools) = (quota, index, most, pools)
    }

    /// Ends the pool's part; another pool may take its place.
    func leave() { quota.counts.withLock { $0.leave(index) } }

    func note(taken: Int) { quota.counts.withLock { $0.note(taken: taken, by: index) } }

    func isStopped(at now: MonotonicTime) -> Bool { quota.counts.withLock { $0.isStopped(at: now) } }

    func grow(at now: MonotonicTime) -> Bool { quota.counts.withLock { $0.grow(index, at: now) } }

    func refuse(at now: MonotonicTime, using random: inout some RandomNumberGenerator) {
        quota.counts.withLock { $0.refuse(at: now, using: &random) }
    }
}
