import FanfareLoop

/// Connections that an app's pools on this host may have together; `ConnectionLedger` decides.
///
/// Each pool runs on a thread of its own. A call takes a lock, and comes with events of connections, never with pushes.
package final class ConnectionQuota: Sendable {
    private struct State {
        var ledger: ConnectionLedger
        /// Signals of the pools, by index.
        var wakeups: [WakeupSignal?] = []
    }

    private let state: Locked<State>

    /// - Parameters:
    ///   - most: maximum number of connections of all pools; each has one at least.
    ///   - pools: number of pools, one per shard.
    package init(most: Int = 64, pools: Int = 1) {
        state = Locked(State(ledger: ConnectionLedger(most: most, pools: pools)))
    }

    /// - Throws: `LoopError` if the loop takes no signal.
    func join(_ loop: Loop) throws(LoopError) -> Share {
        var handler: () -> Void = {}
        let wakeup = try Wakeup(loop: loop) { handler() }
        let signal = wakeup.signal
        let (index, most, pools) = state.withLock { state in
            let index = state.ledger.join()
            if index == state.wakeups.count { state.wakeups.append(nil) }
            state.wakeups[index] = signal
            return (index, state.ledger.share(of: state.ledger.most, for: index), state.ledger.count)
        }
        let share = Share(quota: self, index: index, most: most, pools: pools, wakeup: wakeup)
        handler = { [unowned share] in share.onDemand() }
        return share
    }

    /// One pool's part of the quota. Confined to the pool's thread.
    final class Share {
        private let quota: ConnectionQuota
        private let index: Int
        private let wakeup: Wakeup
        /// Maximum number of connections of this pool.
        let most: Int
        /// Number of pools that share the quota.
        let pools: Int
        /// Called when this pool is to look whether it gives up a connection for another one.
        var onDemand: () -> Void = {}
        /// `true` after an event that may have changed the number of connections that the peer has taken from this pool.
        @safe @exclusivity(unchecked) var isStale = true

        fileprivate init(quota: ConnectionQuota, index: Int, most: Int, pools: Int, wakeup: Wakeup) {
            (self.quota, self.index, self.most, self.pools, self.wakeup) = (quota, index, most, pools, wakeup)
        }

        private func with<Result>(_ body: (inout ConnectionLedger) -> Result) -> Result {
            quota.state.withLock { body(&$0.ledger) }
        }

        /// Ends the pool's part; another pool may take its place.
        func leave() {
            wakeup.close()
            quota.state.withLock {
                $0.ledger.leave(index)
                $0.wakeups[index] = nil
            }
        }

        func note(taken: Int) {
            isStale = false
            with { $0.note(taken: taken, by: index) }
        }

        func isStopped(at now: Int64) -> Bool { with { $0.isStopped(at: now) } }

        func mayGrow(at now: Int64) -> Bool { with { $0.mayGrow(index, at: now) } }

        func grow(at now: Int64) -> Bool { with { $0.grow(index, at: now) } }

        func refuse(at now: Int64, using random: inout some RandomNumberGenerator) {
            with { $0.refuse(at: now, using: &random) }
        }

        /// Records a refusal to this pool, which has no connection, and wakes the others if one of them is to give one up.
        func noteLack(at now: Int64) {
            let others = quota.state.withLock { state in
                guard state.ledger.noteLack(of: index, at: now) else { return [WakeupSignal]() }
                return state.wakeups.indices.filter { $0 != index }.compactMap { state.wakeups[$0] }
            }
            for other in others { other.signal() }
        }

        func endLack() { with { $0.endLack(of: index) } }

        func giveUpDemand(at now: Int64) -> Int64? { with { $0.giveUpDemand(to: index, at: now) } }

        func giveUp(at now: Int64, using random: inout some RandomNumberGenerator) {
            with { $0.giveUp(index, at: now, using: &random) }
        }
    }
}
