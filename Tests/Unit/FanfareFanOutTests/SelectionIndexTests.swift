import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct SelectionIndexTests {
    /// Hashes collide often, so rows stand far from their homes, and move back when others go.
    @Test(arguments: UInt64(1)...5) func aRowIsFoundByItsHashWhateverHasComeAndGone(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let hashes = (0..<400).map { UInt64($0 % 7) }
        var index = SelectionIndex()
        var rows: Set<Int> = []
        for _ in 0..<4000 {
            let row = Int.random(in: 0..<400, using: &random)
            if rows.remove(row) != nil {
                index.remove(row) { hashes[$0] }
            } else {
                index.insert(row) { hashes[$0] }
                rows.insert(row)
            }
            let violation = index.violation()
            #expect(violation == nil, "seed \(seed)")
        }
        var found: Set<Int> = []
        for row in 0..<400 where index.find(hashes[row], where: { $0 == row }) == row { found.insert(row) }
        #expect(found == rows && index.count == rows.count, "seed \(seed)")
    }

    /// Selections of two topics among 600, and lineups whose hashes are equal.
    @Test(arguments: [false, true]) func anInsertionMovesTheRowsOfOneSegment(areAlike: Bool) {
        let selections = (0..<(areAlike ? 2000 : 100_000)).map { [TopicIndex($0 % 600), TopicIndex($0 / 600)] }
        let hashes = selections.map { areAlike ? 7 : SelectionIndex.hash($0, nil) }
        var index = SelectionIndex()
        for row in selections.indices { index.insert(row) { hashes[$0] } }
        #expect(index.violation() == nil && index.count == selections.count)
        #expect((index.longestSegment == SegmentTable.segmentSizeMax) != areAlike)
        let lost = selections.indices.first { row in index.find(hashes[row]) { $0 == row } != row }
        #expect(lost == nil)
    }

    @Test func theOrderOfTopicsAndTheFavouriteChangeTheHash() {
        let topics: [TopicIndex] = [1, 2]
        let turned: [TopicIndex] = [2, 1]
        let hashes: Set<UInt64> = [
            SelectionIndex.hash(topics, nil), SelectionIndex.hash(turned, nil), SelectionIndex.hash(topics, 0),
            SelectionIndex.hash(topics, 1),
        ]
        #expect(hashes.count == 4)
    }
}
