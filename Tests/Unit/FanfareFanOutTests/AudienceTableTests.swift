import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct AudienceTableTests {
    private func audience() -> Audience { Audience(topics: [0], trackedMax: 1) }

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
    @Test func whereTheLargestAudienceHasGoneAnotherOneIsTheLargest() {
        var table = AudienceTable(LineupRules())
        var positions = [UInt32](repeating: 0, count: 5000)
        let (large, other) = (audience(), audience())
        func join(_ audience: Audience, _ slots: Range<UInt32>) -> AudienceIndex {
            let index = table.insert(audience)
            for slot in slots {
                audience.order.join(ActivitySlot(slot), positions: &positions)
                table.noteSize(audience, at: index)
            }
            return index
        }
        let index = join(large, 0..<3000)
        _ = join(other, 3000..<5000)
        while large.order.count > 0 {
            large.order.leave(at: 0, positions: &positions)
            table.noteLoss(at: index)
        }
        table.free(index)
        #expect(table.largestCount == 2000)
    }

    @Test func demandIsThatOfTheAudienceThatStays() {
        let shard = Shard()
        let now = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)
        func follow(_ topic: TopicID, _ ids: Range<UInt64>) {
            for id in ids { shard.apply(.follow(ActivityID(id), .topic(topic), token: [1], preferences: nil), at: now) }
        }
        follow(TopicID("a"), 0..<3000)
        follow(TopicID("b"), 3000..<5000)
        #expect(shard.demand == 3000)
        for id in UInt64(0)..<3000 { shard.apply(.unfollow(ActivityID(id)), at: now) }
        #expect(shard.demand == 2000)
    }

    @Test func vacantPlaceThatIsNotListedIsAViolation() {
        var table = AudienceTable(LineupRules())
        let index = table.insert(audience())
        table[index] = table.vacant
        #expect(table.violation() != nil)
    }
}
