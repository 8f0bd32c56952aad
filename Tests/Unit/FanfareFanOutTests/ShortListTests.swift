import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct ShortListTests {
    @Test(arguments: UInt64(1)...20) func shortListAgreesWithAnArray(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var list = ShortList<Int>()
        var array: [Int] = []
        for step in 0..<3000 {
            // The list alternates between few and many elements.
            if random.next() % 100 < (step / 100 % 2 == 0 ? 55 : 40), array.count < 20 {
                let place = Int.random(in: 0...array.count, using: &random)
                list.insert(step, at: place)
                array.insert(step, at: place)
            } else if let place = array.indices.randomElement(using: &random) {
                let removed = list.remove(at: place)
                #expect(removed == array.remove(at: place), "seed \(seed)")
            }
            if let place = array.indices.randomElement(using: &random) {
                list[place] += 1
                array[place] += 1
            }
            #expect(list.all == array && list.first == array.first, "seed \(seed)")
            #expect(list.count == array.count && list.isEmpty == array.isEmpty)
        }
    }
}
