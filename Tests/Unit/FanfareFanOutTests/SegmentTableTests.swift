import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct SegmentTableTests {
    /// Few hashes for many places, or many hashes: long runs of neighbours in one segment, or segments that are split.
    @Test(arguments: UInt64(1)...10, [40, 1 << 40 as UInt64]) func aTableAgreesWithADictionary(
        seed: UInt64, hashes: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var table = SegmentTable()
        var keys: [UInt64] = []
        var model: [UInt64: Int] = [:]
        for _ in 0..<20_000 {
            // A key's hash is its remainder.
            let key = random.next() % 4000
            if let place = model[key], random.chance(0.3) {
                table.remove(place) { keys[$0] % hashes }
                model[key] = nil
            } else if model[key] == nil {
                keys.append(key)
                table.insert(keys.count - 1) { keys[$0] % hashes }
                model[key] = keys.count - 1
            }
        }
        let wrong = (0..<UInt64(4000)).first { key in
            table.find(key % hashes) { keys[$0] == key } != model[key]
        }
        #expect(wrong == nil && table.count == model.count, "seed \(seed)")
        #expect(table.violation() == nil && Set(table.places) == Set(model.values), "seed \(seed)")
    }

    @Test func aPlaceThatIsInTwoBucketsIsAViolation() {
        var table = SegmentTable()
        table.insert(7) { UInt64($0) }
        #expect(table.violation() == nil)
        table.insert(7) { UInt64($0) }
        #expect(table.violation() != nil)
    }
}
