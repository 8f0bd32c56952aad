import LoadJSON
import Testing

@testable import CrashTest

/// States as the simulator's dump has them, and what the judge reads in them.
@Suite struct RecordTests {
    private static let topics = ["match/0": 0, "favourite/1": 1]

    private func content(_ topic: String, _ number: Int64, note: String) -> Record.Content? {
        let state: JSON = ["topic": .string(topic), "number": .int(number), "note": .string(note)]
        return Record.content(state, "h", Self.topics)
    }

    @Test func aStateIsThatOfItsNumberWithThatNumbersNote() {
        let large = content("match/0", 9, note: Names.note("match/0", 9))
        #expect(large == Record.Content(name: "h", shown: [.init(0, 9)]))
        #expect(content("match/0", 10, note: "") == Record.Content(name: "h", shown: [.init(0, 10)]))
    }

    @Test func aStateThatMixesTwoNumbersIsNone() {
        #expect(content("match/0", 10, note: Names.note("match/0", 9)) == nil)
        #expect(content("match/0", 9, note: "") == nil)
        #expect(content("match/0", 9, note: Names.note("match/0", 17)) == nil)
        #expect(content("match/0", 9, note: String(Names.note("match/0", 9).dropLast())) == nil)
        #expect(content("match/9", 10, note: "") == nil)
        #expect(Record.content(["topic": "match/0", "number": 10], "h", Self.topics) == nil)
    }

    @Test func aLineupShowsTheNumbersOfItsRows() {
        let row: JSON = ["id": "match/0", "minimal": "9"]
        let other: JSON = ["id": "favourite/1", "minimal": "4"]
        let lineup = Record.content(["topics": [row, other]], "h", Self.topics)
        #expect(lineup == Record.Content(name: "h", shown: [.init(0, 9), .init(1, 4)], isLineup: true))
        #expect(Record.content(["topics": [row, ["id": "match/7", "minimal": "4"]]], "h", Self.topics) == nil)
    }

    /// The largest state that rules allow by default has 3 KB, and a lineup has room for short rows alone.
    @Test func someNotesFillAStateNearly() {
        let sizes = (1...32).map { Names.note("match/0", $0).utf8.count }
        #expect(sizes.count { $0 > 2500 } == 4 && sizes.count { $0 == 0 } == 28)
        #expect(sizes.allSatisfy { $0 < 2900 })
        #expect((1...32).allSatisfy { Names.note("favourite/1", $0).isEmpty })
        #expect(Names.note("match/0", 9) != Names.note("match/0", 17))
        #expect(Names.note("match/0", 9) != Names.note("match/1", 9))
    }
}
