import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct PlaceIndexTests {
    /// An array is the model; many hashes collide, in the lower bits or completely.
    @Test(arguments: UInt64(1)...20) func insertedPlaceIsFound(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var index = PlaceIndex()
        var hashes: [UInt64?] = Array(repeating: nil, count: 500)
        for step in 0..<5000 {
            if step.isMultiple(of: 100) { #expect(index.violation() == nil, "seed \(seed), step \(step)") }
            let place = Int(random.next() % 500)
            if let hash = hashes[place] {
                #expect(index.find(hash) { $0 == place } == place, "seed \(seed)")
                guard random.next() % 2 == 0 else { continue }
                index.remove(place, hash)
                hashes[place] = nil
                #expect(index.find(hash) { $0 == place } == nil, "seed \(seed)")
            } else {
                let hash = random.next() % 3 == 0 ? random.next() % 8 << 40 | 63 : random.next() % 1000
                index.insert(place, hash)
                hashes[place] = hash
            }
        }
        let count = hashes.count { $0 != nil }
        #expect(index.count == count && index.violation() == nil, "seed \(seed)")
        for (place, hash) in hashes.enumerated() {
            if let hash { #expect(index.find(hash) { $0 == place } == place, "seed \(seed)") }
        }
    }

    @Test func aPlaceThatIsInsertedTwiceIsAContradiction() {
        var index = PlaceIndex()
        index.insert(4, 9)
        #expect(index.violation() == nil)
        index.insert(4, 10)
        #expect(index.violation() != nil)
    }
}
