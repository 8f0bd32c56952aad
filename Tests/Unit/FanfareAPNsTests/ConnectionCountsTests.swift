import FanfareModel
import Testing

@testable import FanfareAPNs

/// Connections that an app's pools have together.
@Suite struct ConnectionCountsTests {
    private var random = SplitMix64(seed: 1)

    private static func counts(_ taken: [Int], most: Int = 64) -> ConnectionCounts {
        var counts = ConnectionCounts(most: most, pools: taken.count)
        for (index, count) in taken.enumerated() {
            #expect(counts.join() == index)
            counts.note(taken: count, by: index)
        }
        return counts
    }

    @Test(arguments: [1, 3, 40, 64, 65, 100]) func sharesOfAllPoolsAddUpToTheMostConnections(pools: Int) {
        let counts = ConnectionCounts(most: 64, pools: pools)
        let shares = (0..<pools).map(counts.share)
        #expect(shares.reduce(0, +) == max(64, pools))
        #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1)
    }

    /// A peer that takes no more from one pool takes no more from another, which does not ask.
    @Test mutating func aRefusalToOnePoolStopsAllPools() {
        var counts = Self.counts([3, 2, 2, 1])
        #expect(!counts.isStopped(at: .after(.zero)))
        counts.refuse(at: .after(.zero), using: &random)
        #expect(counts.isStopped(at: .after(.seconds(20))))
        for index in 0..<4 {
            let grows = counts.grow(index, at: .after(.seconds(20)))
            #expect(!grows)
        }
        #expect(!counts.isStopped(at: .after(.seconds(62))), "it is asked again after a while")
        counts.note(taken: 1, by: 0)
        let one = counts.grow(3, at: .after(.seconds(20)))
        let another = counts.grow(3, at: .after(.seconds(20)))
        let third = counts.grow(3, at: .after(.seconds(20)))
        #expect(one && another && !third, "two places have become free")
    }

    @Test mutating func anotherPoolTakesThePlaceOfOneThatLeaves() {
        var counts = Self.counts([3, 2])
        counts.refuse(at: .after(.zero), using: &random)
        counts.leave(0)
        #expect(!counts.isStopped(at: .after(.seconds(1))) && counts.join() == 0 && counts.count == 2)
    }

    /// Pools that want more than the peer takes ask seldom, all together as seldom as one alone.
    @Test(arguments: [1, 2, 4, 8]) func aPeerThatRefusesTheNinthIsAskedMoreSeldom(pools: Int) {
        var random = SplitMix64(seed: UInt64(pools))
        var counts = Self.counts(Array(repeating: 8 / pools, count: pools))
        var refusals = 0
        for second in 0..<(4 * 3600) as Range<Int64> {
            let now = MonotonicTime.after(.seconds(second))
            let index = Int.random(in: 0..<pools, using: &random)
            guard counts.grow(index, at: now) else { continue }
            refusals += 1
            counts.note(taken: 8 / pools, by: index)
            counts.refuse(at: now, using: &random)
        }
        #expect((2...12).contains(refusals), "\(refusals)")
    }

    /// All connections of a pool end at one moment, and the peer refuses new ones for a while: that counts as one refusal, with one pause.
    @Test mutating func manyRefusalsAtOneMomentAreOne() {
        var counts = Self.counts([64])
        for left in stride(from: 63, through: 2, by: -1) {
            counts.note(taken: left, by: 0)
            counts.refuse(at: .after(.seconds(1)), using: &random)
        }
        #expect(counts.isStopped(at: .after(.seconds(20))) && !counts.isStopped(at: .after(.seconds(62))))
    }

    @Test mutating func aRefusalLongAfterTheLastOneIsAFirstOne() {
        var counts = Self.counts([8])
        for hour in 0..<20 as Range<Int64> {
            let now = MonotonicTime.after(.seconds(hour * 3 * 3600))
            counts.refuse(at: now, using: &random)
            #expect(counts.isStopped(at: now) && !counts.isStopped(at: now + .seconds(61)), "hour \(hour)")
        }
    }
}
