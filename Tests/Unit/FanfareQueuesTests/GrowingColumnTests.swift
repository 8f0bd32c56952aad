import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareQueues

@Suite struct GrowingColumnTests {
    /// Appends of one element and of many, changes of single elements and of neighbours, reservations, and copies that go their own way.
    @Test(arguments: UInt64(1)...20) func aColumnAgreesWithAnArray(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var column = GrowingColumn<UInt64>()
        var model: [UInt64] = []
        var copies: [(column: GrowingColumn<UInt64>, model: [UInt64])] = []
        for _ in 0..<2000 {
            let value = random.next()
            switch random.next() % 8 {
            case 0:
                let count = Int(random.next() % 300)
                column.append(repeating: value, count: count)
                model.append(contentsOf: repeatElement(value, count: count))
            case 1 where !model.isEmpty:
                let place = Int(value % UInt64(model.count))
                let values = (0..<min(5, model.count - place)).map { value &+ UInt64($0) }
                column.replace(from: place, by: values)
                model.replaceSubrange(place..<place + values.count, with: values)
            case 2...4 where !model.isEmpty:
                let place = Int(value % UInt64(model.count))
                column[place] &+= value
                model[place] &+= value
            case 5 where random.chance(0.05):
                if copies.count == 3 { (column, model) = copies.removeFirst() }
                copies.append((column, model))
            case 6 where random.chance(0.05): column.reserveCapacity(model.count + Int(value % 1000))
            default:
                column.append(value)
                model.append(value)
            }
            #expect(column.count == model.count && column.isEmpty == model.isEmpty, "seed \(seed)")
        }
        copies.append((column, model))
        for (column, model) in copies {
            #expect(column.indices.map { column[$0] } == model, "seed \(seed)")
            #expect(column.count(where: { $0 % 2 == 0 }) == model.count(where: { $0 % 2 == 0 }), "seed \(seed)")
        }
    }

    /// Six hundred thousand elements of eight bytes: without a reservation, with one for all, and with one that is too small.
    @Test(arguments: [0, 600_000, 200_000]) func noAppendCopiesMoreThanAMegabyte(reserved: Int) {
        var column = GrowingColumn<UInt64>()
        column.reserveCapacity(reserved)
        for number in 0..<UInt64(600_000) { column.append(number.mixed) }
        let wrong = column.indices.first { column[$0] != UInt64($0).mixed }
        #expect(wrong == nil && column.count == 600_000)
        #expect(column.copiedBytesMax <= ColumnMemory.blockSizeMax)
        #expect((column.copiedBytesMax == 0) == (reserved > 0))
    }

    @Test func aLargeColumnGrowsWhereItIs() {
        var column = GrowingColumn<UInt64>()
        let count = ColumnMemory.blockSizeMax / 4
        column.append(repeating: 7, count: count)
        let before = UInt(bitPattern: column.elements(0..<1).baseAddress)
        column.append(repeating: 8, count: 2 * count)
        let after = UInt(bitPattern: column.elements(0..<1).baseAddress)
        #expect(before == after && column[count - 1] == 7 && column[count] == 8)
    }

    @Test func aCopyOfALargeColumnKeepsItsElements() {
        var column = GrowingColumn<UInt32>()
        column.append(repeating: 1, count: ColumnMemory.blockSizeMax)
        let copy = column
        column[0] = 2
        column.append(3)
        #expect(copy[0] == 1 && copy.count == ColumnMemory.blockSizeMax)
        #expect(column[0] == 2 && column[copy.count] == 3 && column[1] == 1)
    }

    /// In a block, and in a range, which is gone for good once nothing keeps it.
    @Test(arguments: [1000, 1_000_000]) func aCopyKeepsItsElementsInOptimisedCode(count: Int) {
        let sums = ColumnCopies.change(count: count)
        let last = ColumnCopies.readLast(count: count)
        #expect(sums.ofCopy == UInt64(count) && sums.ofColumn == 2 * UInt64(count) && last == 7)
    }

    @Test func aLoopOverAllElementsChangesThem() {
        var column = GrowingColumn<UInt16>()
        column.append(repeating: 1, count: 100)
        let copy = column
        let elements = column.mutableElements()
        for place in 0..<100 { elements[place] = UInt16(place) }
        #expect(column[99] == 99 && copy[99] == 1)
    }

    @Test func aColumnWithoutElementsHasNone() {
        var column = GrowingColumn<UInt8>()
        column.append(repeating: 1, count: 0)
        column.replace(from: 0, by: [UInt8]())
        #expect(column.isEmpty && column.indices.isEmpty && column.copiedBytesMax == 0)
    }

    @Test func memoryGrowsInARangeAndNotInABlock() {
        let block = ColumnMemory(100, after: nil, used: 0)
        let canExtend = block.extend(to: 1000)
        #expect(!canExtend && block.size == 100)
        let range = ColumnMemory(ColumnMemory.blockSizeMax + 1, after: block, used: 64)
        let size = range.size
        let isExtended = range.extend(to: 10 * size)
        #expect(isExtended && size > ColumnMemory.blockSizeMax && range.size == 10 * size && range.copiedMax == 64)
        let goesBeyond = range.extend(to: 1 << 40)
        #expect(!goesBeyond && range.size == 10 * size)
    }
}
