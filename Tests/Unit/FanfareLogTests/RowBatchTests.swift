import FanfareModel
import Testing

@testable import FanfareLog

@Suite struct RowBatchTests {
    @Test func aBatchIsFullWithItsNumberOfRows() {
        var batch = RowBatch(most: 2)
        #expect(!batch.isFull)
        batch.append([1], at: 7)
        #expect(!batch.isFull)
        batch.append([2, 3], at: 8)
        #expect(batch.isFull && batch.size == .bytes(3))
        #expect(batch.rows.map { $0.position } == [7, 8] && batch.rows.map { $0.bytes } == [[1], [2, 3]])
        #expect(batch.violation() == nil)
        batch.append([4], at: 9)
        #expect(batch.violation() != nil, "it was full")
    }

    @Test func aBatchIsFullWithSixteenMegabytesHoweverFewItsRows() {
        var batch = RowBatch()
        batch.append([UInt8](repeating: 0, count: (16 << 20) - 1), at: 1)
        #expect(!batch.isFull)
        batch.append([0], at: 2)
        #expect(batch.isFull && batch.rows.count == 2)
        var large = RowBatch()
        large.append([UInt8](repeating: 0, count: 17 << 20), at: 1)
        #expect(large.isFull && large.rows.count == 1)
        #expect(batch.violation() == nil && large.violation() == nil)
    }

    @Test func rowsOutOfTheLogsOrderAreAViolation() {
        var batch = RowBatch()
        #expect(batch.violation() == nil)
        for position in [7, 9] as [LogPosition] { batch.append([1], at: position) }
        #expect(batch.violation() == nil)
        batch.append([1], at: 8)
        #expect(batch.violation() != nil)
    }
}
