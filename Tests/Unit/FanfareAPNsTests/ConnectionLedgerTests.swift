import FanfareModel
import Testing

@testable import FanfareAPNs

/// Connections that an app's pools have together.
@Suite struct ConnectionLedgerTests {
    private static let second: Int64 = 1_000_000_000
    private var random = SplitMix64(seed: 1)

    private static func ledger(_ taken: [Int], most: Int = 64) -> ConnectionLedger {
        var ledger = ConnectionLedger(most: most, pools: taken.count)
        for (index, count) in taken.enumerated() {
            #expect(ledger.join() == index)
            ledger.note(taken: count, by: index)
        }
        return ledger
    }

    /// Refuses a pool that has no connection every five seconds.
    private static func refuse(
        _ ledger: inout ConnectionLedger, _ index: Int, from first: Int64, to last: Int64
    ) -> Bool {
        stride(from: first, through: last, by: 5).reduce(false) {
            $1 >= first && ledger.noteLack(of: index, at: $1 * second) || $0
        }
    }

    @Test(arguments: [1, 3, 40, 64, 65, 100]) func theSharesOfAllAreTheWhole(pools: Int) {
        let ledger = ConnectionLedger(most: 64, pools: pools)
        let shares = (0..<pools).map { ledger.share(of: 64, for: $0) }
        #expect(shares.reduce(0, +) == max(64, pools))
        #expect(shares.max()! - shares.min()! <= 1)
    }

    /// A peer that takes no more from one pool takes no more from another, which does not ask.
    @Test mutating func whatIsRefusedToOneIsRefusedToAll() {
        var ledger = Self.ledger([3, 2, 2, 1])
        #expect((0..<4).allSatisfy { ledger.mayGrow($0, at: 0) })
        ledger.refuse(at: 0, using: &random)
        #expect(ledger.isStopped(at: 20 * Self.second))
        #expect((0..<4).allSatisfy { !ledger.mayGrow($0, at: 20 * Self.second) })
        #expect(ledger.mayGrow(3, at: 62 * Self.second), "it is asked again after a while")
        ledger.note(taken: 1, by: 0)
        let grows = ledger.grow(3, at: 20 * Self.second)
        #expect(grows, "a place has become free")
        ledger.leave(1)
        #expect(ledger.join() == 1)
    }

    /// A pool whose only connection has ended finds all places taken: the one with more than its share gives one up.
    @Test mutating func aPoolWithoutAConnectionGetsAnothersPlace() {
        var ledger = Self.ledger([3, 2, 3, 1])
        let isOpen = Self.refuse(&ledger, 3, from: 0, to: 15)
        let now = 15 * Self.second
        #expect(isOpen)
        #expect((0..<3).map { ledger.giveUpDemand(to: $0, at: now) } == [0, nil, 0])
        #expect((0..<3).allSatisfy { !ledger.mayGrow($0, at: now) }, "nobody takes a place before it")
        ledger.giveUp(0, at: now, using: &random)
        #expect((0..<3).allSatisfy { ledger.giveUpDemand(to: $0, at: now) == nil }, "one is enough")
        ledger.endLack(of: 3)
        #expect(ledger.isStopped(at: now), "the peer takes eight")
    }

    @Test mutating func fewRefusalsOrALongTimeBetweenThemAreNoLack() {
        var ledger = Self.ledger([3, 0])
        let three = [0, 1, 2].map { ledger.noteLack(of: 1, at: $0 * Self.second) }
        let late = [200, 201, 202].map { ledger.noteLack(of: 1, at: $0 * Self.second) }
        #expect(!three.contains(true) && !late.contains(true), "within seconds: the peer may be restarting")
        let certain = ledger.noteLack(of: 1, at: 212 * Self.second)
        #expect(certain && ledger.mayGrow(0, at: 340 * Self.second), "what nobody asks for any more holds nobody back")
    }

    /// A peer that has places for all pools serves all of them, whoever comes first, whichever connections end, and whatever other clients take
    /// at times.
    @Test(arguments: 0..<40) func whereThereAreAsManyPlacesAsPoolsNobodyIsWithout(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pools = Int.random(in: 2...8, using: &random)
        let places = Int.random(in: pools...(3 * pools), using: &random)
        var ledger = ConnectionLedger(most: 64, pools: pools)
        var open = [Int](repeating: 0, count: pools)
        for _ in 0..<pools { _ = ledger.join() }
        var withoutSince = [Int64](repeating: 0, count: pools)
        var dials = 0
        for second in 0..<3600 as Range<Int64> {
            let now = second * Self.second
            for index in Array(0..<pools).shuffled(using: &random) {
                if Int.random(in: 0..<60, using: &random) == 0 { open[index] = max(0, open[index] - 1) }
                if Int.random(in: 0..<1800, using: &random) == 0 { open[index] = 0 }
                ledger.note(taken: open[index], by: index)
                if ledger.giveUpDemand(to: index, at: now) != nil {
                    open[index] -= 1
                    ledger.giveUp(index, at: now, using: &random)
                }
                let isLeast = open[index] == 0
                // A pool redials its last connection every four seconds, and grows as it may.
                guard isLeast ? (second + Int64(index)) % 4 == 0 : ledger.mayGrow(index, at: now) else {
                    ledger.note(taken: open[index], by: index)
                    continue
                }
                dials += 1
                if open.reduce(0, +) < places {
                    open[index] += 1
                    ledger.endLack(of: index)
                } else if isLeast {
                    _ = ledger.noteLack(of: index, at: now)
                } else {
                    ledger.refuse(at: now, using: &random)
                }
                ledger.note(taken: open[index], by: index)
            }
            for index in 0..<pools {
                if open[index] > 0 { withoutSince[index] = second }
                #expect(second - withoutSince[index] < 60, "pool \(index) of \(pools) for \(places), seed \(seed)")
            }
        }
        #expect(dials < 3600, "\(dials)")
    }
}
