import FanfareModel
import Testing

@testable import FanfareAPNs

/// Connections that an app's pools have together.
@Suite struct ConnectionLedgerTests {
    private var random = SplitMix64(seed: 1)

    private static func ledger(_ taken: [Int], most: Int = 64) -> ConnectionLedger {
        var ledger = ConnectionLedger(most: most, pools: taken.count)
        for (index, count) in taken.enumerated() {
            #expect(ledger.join() == index)
            ledger.note(taken: count, by: index)
        }
        return ledger
    }

    @Test(arguments: [1, 3, 40, 64, 65, 100]) func sharesOfAllPoolsAddUpToTheMostConnections(pools: Int) {
        let ledger = ConnectionLedger(most: 64, pools: pools)
        let shares = (0..<pools).map(ledger.share)
        #expect(shares.reduce(0, +) == max(64, pools))
        #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1)
    }

    /// A peer that takes no more from one pool takes no more from another, which does not ask.
    @Test mutating func aRefusalToOnePoolStopsAllPools() {
        var ledger = Self.ledger([3, 2, 2, 1])
        #expect(!ledger.isStopped(at: .after(.zero)))
        ledger.refuse(at: .after(.zero), using: &random)
        #expect(ledger.isStopped(at: .after(.seconds(20))))
        for index in 0..<4 {
            let grows = ledger.grow(index, at: .after(.seconds(20)))
            #expect(!grows)
        }
        #expect(!ledger.isStopped(at: .after(.seconds(62))), "it is asked again after a while")
        ledger.note(taken: 1, by: 0)
        let one = ledger.grow(3, at: .after(.seconds(20)))
        let another = ledger.grow(3, at: .after(.seconds(20)))
        let third = ledger.grow(3, at: .after(.seconds(20)))
        #expect(one && another && !third, "two places have become free")
    }

    @Test mutating func anotherPoolTakesThePlaceOfOneThatLeaves() {
        var ledger = Self.ledger([3, 2])
        ledger.refuse(at: .after(.zero), using: &random)
        ledger.leave(0)
        #expect(!ledger.isStopped(at: .after(.seconds(1))) && ledger.join() == 0 && ledger.count == 2)
    }

    /// Pools that want more than the peer takes ask seldom, all together as seldom as one alone.
    @Test(arguments: [1, 2, 4, 8]) func aPeerThatRefusesTheNinthIsAskedMoreSeldom(pools: Int) {
        var random = SplitMix64(seed: UInt64(pools))
        var ledger = Self.ledger(Array(repeating: 8 / pools, count: pools))
        var refusals = 0
        for second in 0..<(4 * 3600) as Range<Int64> {
            let now = MonotonicTime.after(.seconds(second))
            let index = Int.random(in: 0..<pools, using: &random)
            guard ledger.grow(index, at: now) else { continue }
            refusals += 1
            ledger.note(taken: 8 / pools, by: index)
            ledger.refuse(at: now, using: &random)
        }
        #expect((2...12).contains(refusals), "\(refusals)")
    }

    /// All connections of a pool end at one moment, and the peer refuses new ones for a while: that counts as one refusal, with one pause.
    @Test mutating func manyRefusalsAtOneMomentAreOne() {
        var ledger = Self.ledger([64])
        for left in stride(from: 63, through: 2, by: -1) {
            ledger.note(taken: left, by: 0)
            ledger.refuse(at: .after(.seconds(1)), using: &random)
        }
        #expect(ledger.isStopped(at: .after(.seconds(20))) && !ledger.isStopped(at: .after(.seconds(62))))
    }

    @Test mutating func aRefusalLongAfterTheLastOneIsAFirstOne() {
        var ledger = Self.ledger([8])
        for hour in 0..<20 as Range<Int64> {
            let now = MonotonicTime.after(.seconds(hour * 3 * 3600))
            ledger.refuse(at: now, using: &random)
            #expect(ledger.isStopped(at: now) && !ledger.isStopped(at: now + .seconds(61)), "hour \(hour)")
        }
    }
}
