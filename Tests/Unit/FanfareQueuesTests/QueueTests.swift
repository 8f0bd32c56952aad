import FanfareModel
import Testing

@testable import FanfareQueues

@Suite struct QueueTests {
    /// An element of which sixteen fill a segment.
    private struct Wide {
        var numbers: InlineArray<512, UInt64>

        init(_ number: UInt64) { numbers = InlineArray(repeating: number) }
        var number: UInt64 { numbers[511] }
    }

    /// Elements come and go over several segments, are drawn, changed and removed, and the queue begins as an array of any size.
    @Test(arguments: UInt64(1)...20) func aQueueAgreesWithAnArray(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var model = (0..<seed * 3).map { $0 }
        var queue = Queue(model.map { Wide($0) })
        for step in 0..<3000 {
            let value = random.next()
            switch value % 16 {
            // It grows for a while, then shrinks.
            case 0..<(step / 300 % 2 == 0 ? 9 : 4):
                queue.append(Wide(value))
                model.append(value)
            case 0..<13:
                let first = queue.popFirst()?.number
                let expected = model.isEmpty ? nil : model.removeFirst()
                #expect(first == expected, "seed \(seed), step \(step)")
            case 13 where !model.isEmpty:
                let place = Int(value / 16 % UInt64(model.count))
                queue[place] = Wide(value)
                model[place] = value
            case 14:
                queue.drawFirst(by: value)
                if model.count > 1 { model.swapAt(0, Int(value % UInt64(model.count))) }
            case 15 where random.chance(0.1):
                queue.removeAll { $0.number % 3 == 0 }
                model.removeAll { $0 % 3 == 0 }
            default: break
            }
            let isSame =
                queue.count == model.count && queue.isEmpty == model.isEmpty && queue.first?.number == model.first
            #expect(isSame, "seed \(seed), step \(step)")
            if step % 50 == 0 { #expect(queue.elements.map(\.number) == model, "seed \(seed), step \(step)") }
        }
        let wrong = model.indices.first { queue[$0].number != model[$0] }
        #expect(wrong == nil, "seed \(seed)")
    }

    /// Addresses and places tell which elements a call has moved.
    @Test func neitherGrowthNorConsumptionMovesMoreThanASegment() {
        var queue = Queue<UInt64>()
        let capacity = SegmentedArray<UInt64>.segmentCapacity
        for number in 0..<UInt64(5 * capacity) { queue.append(number) }
        #expect(queue.entries.count == capacity && queue.later.map(\.count) == Array(repeating: capacity, count: 4))
        let addresses = queue.later.map { segment in
            segment.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        }
        var wrong = 0
        for number in 0..<UInt64(capacity) {
            let first = queue.popFirst()
            if first != number { wrong += 1 }
        }
        let entries = queue.entries.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        #expect(wrong == 0 && entries == addresses[0] && queue.later.count == 3 && queue.count == 4 * capacity)
        for number in UInt64(capacity)..<UInt64(5 * capacity) {
            let first = queue.popFirst()
            if first != number { wrong += 1 }
        }
        #expect(wrong == 0 && queue.isEmpty && queue.later.isEmpty)
    }

    /// A queue that few elements pass through takes the room of few elements.
    @Test func consumedElementsTakeNoRoomForLong() {
        var queue = Queue<UInt64>([0])
        var longest = 0
        for number in 1...UInt64(100_000) {
            queue.append(number)
            let first = queue.popFirst()
            longest = max(longest, queue.entries.count)
            if first != number - 1 { longest = .max }
        }
        #expect(longest < 3000 && queue.count == 1 && queue.later.isEmpty)
    }
}
