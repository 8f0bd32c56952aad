import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct ConnectionQuotaTests {
    private let now = MonotonicTime.after(.seconds(100))

    @Test func poolsShareTheMostAndHaveOneConnectionEach() {
        let quota = ConnectionQuota(most: 5, pools: 3)
        let shares = (0..<3).map { _ in quota.join() }
        #expect(shares.map(\.most) == [2, 2, 1] && shares.map(\.pools) == [3, 3, 3])
        let poor = ConnectionQuota(most: 1, pools: 2)
        #expect((0..<2).map { _ in poor.join().most } == [1, 1])
    }

    /// The peer takes three connections, whichever pool asks.
    @Test func aRefusalToOnePoolLimitsTheConnectionsOfAllPoolsForAWhile() {
        let quota = ConnectionQuota(most: 64, pools: 2)
        let (first, second) = (quota.join(), quota.join())
        first.note(taken: 2)
        second.note(taken: 1)
        var random = SplitMix64(seed: 1)
        first.refuse(at: now, using: &random)
        #expect(second.isStopped(at: now))
        let grown = second.grow(at: now)
        #expect(!grown)
        first.note(taken: 1)
        let replaced = second.grow(at: now)
        #expect(replaced, "a connection of the other pool has gone")
    }

    @Test func aPoolThatLeavesMakesRoomForAnother() {
        let quota = ConnectionQuota(most: 5, pools: 2)
        let (first, second) = (quota.join(), quota.join())
        second.note(taken: 2)
        first.leave()
        let next = quota.join()
        #expect(next.most == first.most)
        let grows = next.grow(at: now)
        #expect(grows)
    }
}
