import FanfareModel
import Testing

@testable import FanfareQueues

@Suite struct SegmentedArrayTests {
    /// An element so large that a few dozen fill a segment.
    private struct Wide: Equatable {
        var numbers: InlineArray<256, UInt64>

        init(_ number: UInt64) { numbers = InlineArray(repeating: number) }

        static func == (a: Wide, b: Wide) -> Bool { a.numbers[0] == b.numbers[0] && a.numbers[255] == b.numbers[255] }
    }

    /// Appends, removals and changes over several segments, and copies that go their own way.
    @Test(arguments: UInt64(1)...20) func aSegmentedArrayAgreesWithAnArray(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var segmented = SegmentedArray<Wide>()
        var model: [Wide] = []
        var copies: [(segmented: SegmentedArray<Wide>, model: [Wide])] = []
        for step in 0..<3000 {
            let value = random.next()
            // It grows for a while, then shrinks.
            switch value % 8 {
            case 0..<(step / 500 % 2 == 0 ? 5 : 2):
                segmented.append(Wide(value))
                model.append(Wide(value))
            case 0..<6:
                let (last, expected) = (segmented.popLast(), model.popLast())
                #expect(last == expected, "seed \(seed), step \(step)")
            case 6 where !model.isEmpty:
                let place = Int(random.next() % UInt64(model.count))
                segmented[place].numbers[255] = value
                model[place].numbers[255] = value
            default: if random.chance(0.05), copies.count < 4 { copies.append((segmented, model)) }
            }
            #expect(segmented.count == model.count && segmented.isEmpty == model.isEmpty, "seed \(seed), step \(step)")
        }
        copies.append((segmented, model))
        for (segmented, model) in copies { #expect(Array(segmented) == model, "seed \(seed)") }
    }

    /// Addresses tell which elements an append has moved.
    @Test func anAppendMovesAtMostTheElementsOfOneSegment() {
        var segmented = SegmentedArray<UInt64>()
        let capacity = SegmentedArray<UInt64>.segmentCapacity
        var addresses: [UInt] = []
        var movedMax = 0
        var movedLater = 0
        for number in 0..<UInt64(5 * capacity + 1) {
            segmented.append(number)
            let present = segmented.segments.map { segment in
                segment.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
            }
            let moved = addresses.indices.filter { addresses[$0] != present[$0] }
            movedMax = max(movedMax, moved.reduce(0) { $0 + segmented.segments[$1].count })
            if number >= UInt64(capacity) { movedLater += moved.count }
            addresses = present
        }
        #expect(capacity == 8192 && segmented.segments.count == 6)
        #expect((1...capacity).contains(movedMax) && movedLater == 0)
        let wrong = segmented.indices.first { segmented[$0] != UInt64($0) }
        #expect(wrong == nil)
    }

    @Test func neighboursEndWithTheirSegment() {
        var segmented = SegmentedArray<UInt32>()
        let capacity = SegmentedArray<UInt32>.segmentCapacity
        for number in 0..<UInt32(capacity + 10) { segmented.append(number) }
        #expect(Array(segmented.neighbours(from: 3, limit: 2)) == [3, 4])
        #expect(segmented.neighbours(from: capacity - 2, limit: 100).count == 2)
        #expect(segmented.neighbours(from: capacity, limit: 100).first == UInt32(capacity))
        #expect(segmented.neighbours(from: capacity, limit: 100).count == 10)
        #expect(segmented.neighbours(from: capacity + 10, limit: 1).isEmpty)
    }

    /// A count that goes up and down at the border of a segment does not take and give memory each time.
    @Test func anEmptySegmentIsKeptUntilTheOneBeforeItLosesAnElement() {
        var segmented = SegmentedArray<UInt64>()
        let capacity = SegmentedArray<UInt64>.segmentCapacity
        for number in 0...UInt64(capacity) { segmented.append(number) }
        let last = segmented.popLast()
        #expect(last == UInt64(capacity) && segmented.segments.count == 2)
        segmented.append(7)
        #expect(segmented[capacity] == 7 && segmented.segments.count == 2)
        let popped = [segmented.popLast(), segmented.popLast()]
        #expect(popped == [7, UInt64(capacity - 1)] && segmented.segments.count == 1)
    }

    @Test func aSegmentHasAsManyElementsAsFitInto64KBAndAtLeastOne() {
        #expect(SegmentedArray<UInt8>.segmentCapacity == 65_536)
        #expect(SegmentedArray<(UInt64, UInt64, UInt64)>.segmentCapacity == 2048)
        #expect(SegmentedArray<InlineArray<10_000, UInt64>>.segmentCapacity == 1)
    }
}
