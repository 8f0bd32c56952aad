import FanfareModel
import FanfareQueues
import Testing

@Suite struct BinaryHeapTests {
    /// Few different numbers, so that many elements are equal.
    @Test(arguments: 0..<50 as Range<UInt64>) func aHeapHoldsWhatASortedArrayHolds(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var heap = BinaryHeap<Int>()
        var sorted: [Int] = []
        for step in 0..<500 {
            let number = Int.random(in: 0..<100, using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<50:
                heap.insert(number)
                sorted.append(number)
                sorted.sort()
            case 50..<75:
                let removed = heap.removeFirst()
                #expect(removed == sorted.first, "seed \(seed), step \(step)")
                if !sorted.isEmpty { sorted.removeFirst() }
            case 75..<98 where !sorted.isEmpty:
                heap.replaceFirst(with: number)
                sorted[0] = number
                sorted.sort()
            case 98..<100:
                heap.keep { $0 % 3 != number % 3 }
                sorted.removeAll { $0 % 3 == number % 3 }
            default: break
            }
            #expect(heap.first == sorted.first && heap.count == sorted.count, "seed \(seed), step \(step)")
            #expect(heap.elements.sorted() == sorted && heap.violation() == nil, "seed \(seed), step \(step)")
        }
    }

    @Test func anEmptyHeapHasNoFirstElement() {
        var heap = BinaryHeap<Int>()
        let removed = heap.removeFirst()
        #expect(removed == nil && heap.first == nil && heap.count == 0)
    }
}
