import Testing

@testable import FanfareFanOut

@Suite struct DueEntriesTests {
    private static func entries(_ rows: [Int]) -> DueEntries {
        var entries = DueEntries()
        for row in rows { entries.append(row) }
        return entries
    }

    private static func drained(_ entries: DueEntries) -> [Int] {
        var entries = entries
        var rows: [Int] = []
        while let row = entries.popFirst() { rows.append(row) }
        return rows
    }

    @Test func aPassKeepsTheFirstEntryOfEachLineupThatIsDueInOrder() {
        var entries = Self.entries([70, 1, 2, 70, 3, 1, 4])
        let removed = (0..<7).map { _ in entries.examineNext { $0 != 3 } }
        #expect(removed == [false, false, false, true, true, true, false])
        #expect(entries.elements == [70, 1, 2, 4] && Self.drained(entries) == [70, 1, 2, 4])
        #expect(entries.count == 4 && entries.violation() == nil)
    }

    @Test func anotherPassBeginsAfterTheLastEntry() {
        var entries = Self.entries([1, 2, 3])
        let first = (0..<3).map { _ in entries.examineNext { _ in true } }
        entries.append(1)
        // The appended entry belongs to the first pass.
        let second = (0..<4).map { _ in entries.examineNext { $0 != 2 } }
        #expect(first == [false, false, false] && second == [true, false, true, false])
        #expect(Self.drained(entries) == [1, 3])
    }

    @Test func aLineupThatWasVisitedIsKeptAgain() {
        var entries = Self.entries([5, 6])
        _ = entries.examineNext { _ in true }
        let kept = entries.hasKept(5)
        let visited = entries.popFirst()
        #expect(kept && visited == 5 && !entries.hasKept(5) && !entries.hasKept(6) && !entries.hasKept(1000))
        entries.append(5)
        let removed = (0..<2).map { _ in entries.examineNext { _ in true } }
        #expect(entries.violation() == nil)
        #expect(removed == [false, false] && Self.drained(entries) == [6, 5])
    }

    @Test func nothingIsKeptOnceAllAreRemoved() {
        var entries = Self.entries([1, 2])
        _ = entries.examineNext { _ in true }
        entries.removeAll()
        #expect(entries.isEmpty && entries.count == 0 && !entries.hasKept(1) && entries.violation() == nil)
        let removed = entries.examineNext { _ in true }
        #expect(!removed)
    }
}
