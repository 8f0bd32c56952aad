import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct AudienceTableTests {
    private func audience() -> Audience { Audience(topics: [0], openMax: 1) }

    @Test func indexOfAFreedAudienceIsReused() {
        var table = AudienceTable(LineupRules())
        let first = table.insert(audience())
        let second = table.insert(audience())
        table.free(first)
        #expect(table[first] === table.vacant && table.violation() == nil)
        let third = audience()
        let reused = table.insert(third)
        #expect(reused == first && table[reused] === third && table[second] !== third)
        #expect(table.count == 2 && table.violation() == nil)
    }

    @Test func largestAudienceIsTheOneWithMostMembers() {
        var table = AudienceTable(LineupRules())
        #expect(table.largestCount == 0)
        let (small, large) = (audience(), audience())
        var positions: [UInt32] = [0, 0, 0]
        small.order.join(ActivitySlot(0), positions: &positions)
        for slot in UInt32(1)...2 { large.order.join(ActivitySlot(slot), positions: &positions) }
        for one in [small, large, small] {
            let index = table.rows.firstIndex { $0 === one } ?? table.insert(one)
            table.noteSize(one, at: index)
        }
        #expect(table.largestCount == 2)
    }

    @Test func vacantPlaceThatIsNotListedIsAViolation() {
        var table = AudienceTable(LineupRules())
        let index = table.insert(audience())
        table[index] = table.vacant
        #expect(table.violation() != nil)
    }
}
