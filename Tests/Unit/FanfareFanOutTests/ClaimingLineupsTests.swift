import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct ClaimingLineupsTests {
    /// Lineups wait with tickets and without, and claims become durable now and then.
    @Test(arguments: 0..<20 as Range<UInt64>) func eachLineupIsTakenOnceInOrderWhenItsClaimIsDurable(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var claiming = ClaimingLineups()
        var named: [(ticket: UInt64, row: Int)] = []
        var unnamed: [Int] = []
        var ticket: UInt64 = 1
        for row in 0..<2000 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0..<2:
                claiming.append(row, ticket: ticket)
                named.append((ticket, row))
            case 2:
                claiming.append(row, ticket: nil)
                unnamed.append(row)
            case 3: ticket += 1
            case 4:
                let durable = ticket - min(ticket, UInt64.random(in: 0...4, using: &random))
                let due = named.filter { $0.ticket <= durable }.map(\.row)
                named.removeAll { $0.ticket <= durable }
                let taken = claiming.takeNamed(through: durable)
                #expect(taken == due, "seed \(seed), row \(row)")
            default:
                let limit = Int.random(in: 0...5, using: &random)
                // Every third lineup has gone, and takes no room of the others.
                let due = Array(unnamed.filter { $0 % 3 != 0 }.prefix(limit))
                unnamed.removeAll { $0 <= due.last ?? -1 }
                let taken = claiming.takeUnnamed(limit) { $0 % 3 != 0 }
                if limit > 0, due.count < limit { unnamed = [] }
                #expect(taken == due, "seed \(seed), row \(row)")
            }
            #expect(claiming.isEmpty == (named.isEmpty && unnamed.isEmpty), "seed \(seed), row \(row)")
            #expect(claiming.hasUnnamed == !unnamed.isEmpty, "seed \(seed), row \(row)")
            #expect(claiming.violation() == nil, "seed \(seed), row \(row)")
        }
        let known = Set(named.map(\.row) + unnamed)
        #expect((0..<2000).allSatisfy { claiming.contains($0) == known.contains($0) }, "seed \(seed)")
    }
}
