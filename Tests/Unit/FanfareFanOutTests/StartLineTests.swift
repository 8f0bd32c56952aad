import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct StartLineTests {
    private var positions = GrowingColumn<UInt32>(repeating: 0, count: 8)
    private var line = StartLine()
    private let prompt = ActivitySlot(1)
    private let late = ActivitySlot(2)

    init() {
        line.append(late, isLate: true, positions: &positions)
        line.append(prompt, isLate: false, positions: &positions)
    }

    @Test mutating func lateStartHasASmallShareOfTheVisits() {
        #expect(line.count == 2 && line.next == prompt)
        line.noteVisits(63)
        #expect(line.next == prompt)
        line.noteVisits(1)
        #expect(line.next == late)
        line.remove(at: Int(positions[2]), isLate: true, positions: &positions)
        line.append(late, isLate: true, positions: &positions)
        #expect(line.next == prompt && line.violation() == nil, "from here on the others' visits count again")
    }

    @Test mutating func chanceChoosesAmongThePromptStarts() {
        for number: UInt32 in 3...5 { line.append(ActivitySlot(number), isLate: false, positions: &positions) }
        line.remove(at: Int(positions[4]), isLate: false, positions: &positions)
        var drawn: Set<ActivitySlot> = []
        for random in UInt64(0)..<100 {
            line.drawNext(by: random, positions: &positions)
            if let next = line.next { drawn.insert(next) }
            #expect(line.prompt.places.allSatisfy { positions[Int($0.slot.rawValue)] == UInt32($0.position) })
        }
        #expect(drawn == [prompt, ActivitySlot(3), ActivitySlot(5)])
    }

    @Test mutating func visitsBeforeALateStartDoNotCount() {
        line.remove(at: Int(positions[2]), isLate: true, positions: &positions)
        line.noteVisits(1000)
        line.append(late, isLate: true, positions: &positions)
        #expect(line.next == prompt)
    }
}
