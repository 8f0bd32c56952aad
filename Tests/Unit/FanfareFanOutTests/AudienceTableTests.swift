import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct AudienceTableTests {
    private func audience() -> Audience { Audience(topics: [0], trackedMax: 1) }

    /// Inserts an audience of these slots, and notes its size with each.
    private func insert(
        _ slots: Range<UInt32>, into table: inout AudienceTable, _ positions: inout [UInt32]
    ) -> AudienceIndex {
        let audience = audience()
        let index = table.insert(audience)
        for slot in slots {
            audience.order.join(ActivitySlot(slot), positions: &positions)
            table.noteSize(audience, at: index)
        }
        return index
    }

    /// Removes members until that many are left, and notes each loss.
    private func removeMembers(
        of index: AudienceIndex, downTo count: Int, in table: inout AudienceTable, _ positions: inout [UInt32]
    ) {
        let audience = table[index]
        while audience.order.count > count {
            audience.order.leave(at: 0, positions: &positions)
            table.noteLoss(at: index)
        }
    }

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
            let index = table.indices.first { table[$0] === one } ?? table.insert(one)
            table.noteSize(one, at: index)
        }
        #expect(table.largestCount == 2)
    }

    /// The pool keeps the connections that the next goal of the other audience needs.
    @Test func anotherAudienceIsTheLargestOnceTheLargestHasLostHalfOfItsMembers() {
        var table = AudienceTable(LineupRules())
        var positions = [UInt32](repeating: 0, count: 5000)
        let large = insert(0..<3000, into: &table, &positions)
        _ = insert(3000..<5000, into: &table, &positions)
        removeMembers(of: large, downTo: 1501, in: &table, &positions)
        #expect(table.largestCount == 1501, "nobody has compared them yet")
        removeMembers(of: large, downTo: 1500, in: &table, &positions)
        #expect(table.largestCount == 2000)
        removeMembers(of: large, downTo: 0, in: &table, &positions)
        table.free(large)
        #expect(table.largestCount == 2000)
    }

    /// A comparison reads every audience, and most of them are small.
    @Test func smallAudienceIsTheLargestFromItsNextChangeOn() {
        var table = AudienceTable(LineupRules())
        var positions = [UInt32](repeating: 0, count: 1500)
        let large = insert(0..<1000, into: &table, &positions)
        let other = insert(1000..<1500, into: &table, &positions)
        removeMembers(of: large, downTo: 0, in: &table, &positions)
        #expect(table.largestCount == 0)
        table.noteSize(table[other], at: other)
        #expect(table.largestCount == 500)
    }

    @Test func smallerAudienceThatShrinksLeavesTheLargestAsItIs() {
        var table = AudienceTable(LineupRules())
        var positions = [UInt32](repeating: 0, count: 5000)
        _ = insert(0..<3000, into: &table, &positions)
        let other = insert(3000..<5000, into: &table, &positions)
        removeMembers(of: other, downTo: 0, in: &table, &positions)
        #expect(table.largestCount == 3000)
    }

    @Test func followerAtRestIsAPlaceholderOfOneMemberAndHasItsObjectAgainWhenItWakes() {
        var table = AudienceTable(LineupRules())
        let (other, follower) = (table.insert(audience()), audience())
        follower.order.rest(ActivitySlot(8))
        let index = table.insert(follower)
        table.restFollower(index)
        #expect(table[index] === table.restingFollower && table[index].order.count == 1)
        #expect(table.followers[index]?.member == ActivitySlot(8) && table.followers[other] == nil)
        #expect(table.count == 2 && table.violation() == nil)
        let awake = table.wakeFollower(index, trackedMax: 1) { _ in nil }
        #expect(table[index] === awake && awake === follower && awake.order.members == [ActivitySlot(8)])
        #expect(table.followers[index] == nil && table.violation() == nil)
    }

    /// The place of a follower that has left after its rest serves an audience of another topic.
    @Test func indexOfAFollowerThatRestedIsReused() {
        var table = AudienceTable(LineupRules())
        let follower = audience()
        follower.order.rest(ActivitySlot(8))
        let index = table.insert(follower)
        table.restFollower(index)
        _ = table.wakeFollower(index, trackedMax: 1) { _ in nil }
        table.free(index)
        #expect(table[index] === table.vacant && table.followers.count == 0 && table.violation() == nil)
        let reused = table.insert(audience())
        #expect(reused == index && table.count == 1 && table.violation() == nil)
    }

    @Test func placeholderOfAFollowerThatIsNotListedIsAViolation() {
        var table = AudienceTable(LineupRules())
        let index = table.insert(audience())
        #expect(table.violation() == nil)
        table[index] = table.restingFollower
        #expect(table.violation() != nil)
    }

    @Test func listedFollowerWhosePlaceHasAnotherAudienceIsAViolation() {
        var table = AudienceTable(LineupRules())
        let follower = audience()
        follower.order.rest(ActivitySlot(8))
        let index = table.insert(follower)
        table.restFollower(index)
        table[index] = audience()
        #expect(table.violation() != nil)
    }

    @Test func vacantPlaceThatIsNotListedIsAViolation() {
        var table = AudienceTable(LineupRules())
        let index = table.insert(audience())
        table[index] = table.vacant
        #expect(table.violation() != nil)
    }
}
