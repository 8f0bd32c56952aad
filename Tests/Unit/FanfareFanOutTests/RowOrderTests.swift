import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct RowOrderTests {
    /// Equal times keep the order of the positions, as in the person's own order all are.
    @Test(arguments: UInt64(1)...50) func rowOrderIsAStableSort(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var order = RowOrder()
        for count in 0...AudienceKey.topicsMax {
            let times = (0..<count).map { _ in UInt32.random(in: 0...UInt32(seed % 9), using: &random) }
            order.sort(count) { times[$0] }
            let sorted = times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
            #expect(order.positions.map { Int($0) } == sorted, "seed \(seed)")
        }
    }
}
