import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct DueLineupsTests {
    @Test func entriesThatDoNotCountAreFewerThanTheOthers() {
        let due = DueLineups(lane: 2)
        #expect(!due.hasWork && due.preferredLane == 2)
        var isDue = Set(0..<1000)
        for row in 0..<1000 { due.append(row) }
        for row in stride(from: 0, to: 1000, by: 2) {
            isDue.remove(row)
            due.abandon { isDue.contains($0) }
        }
        #expect(due.count <= 2 * isDue.count + 16 && due.violation(due: isDue) == nil)
        var visited: [Int] = []
        while let row = due.popFirst(isDue: { isDue.contains($0) }) {
            visited.append(row)
            isDue.remove(row)
        }
        #expect(visited == Array(stride(from: 1, to: 1000, by: 2)), "first come, first served, each once")
        #expect(!due.hasWork)
    }

    /// Entries that go first take the room of claims, so those that nobody will visit must not stay.
    @Test func aVisitToTheLastLineupThatIsDueRemovesTheEntriesThatDoNotCount() {
        let due = DueLineups(lane: 0)
        for row in 0..<4 { due.append(row, isFirst: true) }
        for _ in 1...3 { due.abandon { $0 == 0 } }
        let visited = due.popFirst { $0 == 0 }
        #expect(visited == 0 && due.firstCount == 0 && due.count == 0 && due.violation(due: []) == nil)
    }

    @Test func aLineupWithoutAnEntryAndAnEntryThatCountsForNoneAreViolations() {
        let due = DueLineups(lane: 1)
        for row in 0..<5 { due.append(row, isFirst: row == 3) }
        due.abandon { $0 != 2 }
        let first = due.popFirst { $0 != 2 }
        #expect(first == 3 && due.violation(due: [0, 1, 4]) == nil)
        #expect(due.violation(due: [0, 1]) != nil && due.violation(due: [0, 1, 9]) != nil)
        due.append(2)
        #expect(due.violation(due: [0, 1, 2, 4]) == nil)
    }

    @Test func lineupsThatGoFirstAreVisitedBeforeTheOthersEachInTheOrderOfArrival() {
        let due = DueLineups(lane: 0)
        for (row, isFirst) in [(1, false), (3, true), (2, false), (4, true)] { due.append(row, isFirst: isFirst) }
        #expect(due.count == 4 && due.firstCount == 2)
        let visited = (0..<5).map { _ in due.popFirst { _ in true } }
        #expect(visited == [3, 4, 1, 2, nil] && due.firstCount == 0)
    }

    @Test func chanceDrawsAmongThoseThatGoFirstWhileThereAreAny() {
        func drawn(_ random: UInt64, first: Set<Int>) -> Int? {
            let due = DueLineups(lane: 0)
            for row in 1...5 { due.append(row, isFirst: first.contains(row)) }
            due.drawNext(by: random)
            return due.popFirst { _ in true }
        }
        let ofThoseThatGoFirst = (UInt64(0)..<2).map { drawn($0, first: [4, 5]) }
        let ofAll = (UInt64(0)..<5).map { drawn($0, first: []) }
        #expect(ofThoseThatGoFirst == [4, 5] && ofAll == [1, 2, 3, 4, 5])
    }

    @Test func nothingIsLeftOfEntriesOfWhichNoneCounts() {
        let due = DueLineups(lane: 0)
        for row in 0..<3 { due.append(row, isFirst: row == 0) }
        for _ in 0..<3 { due.abandon { _ in false } }
        #expect(due.count == 0 && due.firstCount == 0 && !due.hasWork && due.violation(due: []) == nil)
        due.append(7)
        #expect(due.hasWork && due.violation(due: [7]) == nil)
    }

    /// Lineups that are due again have an earlier entry that does not count and a later one that does.
    @Test func aLineupThatIsDueAgainKeepsOneEntryWhenOthersAreRemoved() {
        let due = DueLineups(lane: 0)
        var isDue = Set(0..<20)
        for row in 0..<20 { due.append(row) }
        for row in 0..<9 {
            due.abandon { isDue.contains($0) && $0 != row }
            due.append(row)
        }
        for row in 9..<20 {
            isDue.remove(row)
            due.abandon { isDue.contains($0) }
        }
        #expect(due.count <= 2 * isDue.count + 16 && due.violation(due: isDue) == nil)
        var visited: [Int] = []
        while let row = due.popFirst(isDue: { isDue.contains($0) }) {
            visited.append(row)
            isDue.remove(row)
        }
        #expect(visited == Array(0..<9) && !due.hasWork)
    }

    /// Lineups become due again and again while nothing is served, and then most of them do no more.
    @Test(arguments: 0..<5 as Range<UInt64>) func anAbandonedEntryMakesTheQueueExamineFewOthers(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let due = DueLineups(lane: 0)
        var isDue = Set(0..<2000)
        for row in 0..<2000 { due.append(row) }
        for step in 0..<40_000 {
            let row = Int.random(in: 0..<2000, using: &random)
            guard isDue.remove(row) != nil else { continue }
            var examined = 0
            due.abandon {
                examined += 1
                return isDue.contains($0)
            }
            if step < 30_000 {
                due.append(row, isFirst: random.chance(0.1))
                isDue.insert(row)
            }
            guard examined <= DueLineups.examinedMax, due.count <= 2 * isDue.count + 32 else {
                Issue.record("step \(step): \(examined) examined, \(due.count) entries of \(isDue.count) lineups")
                return
            }
        }
        #expect(due.violation(due: isDue) == nil)
        var visited: [Int] = []
        while let row = due.popFirst(isDue: { isDue.contains($0) }) {
            visited.append(row)
            isDue.remove(row)
        }
        #expect(!visited.isEmpty && isDue.isEmpty && Set(visited).count == visited.count && due.count == 0)
    }
}
