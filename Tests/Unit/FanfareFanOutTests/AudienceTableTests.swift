import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct AudienceTableTests {
    private func audience() -> Audience { Audience(topics: [0], trackedMax: 1) }

    /// An audience that can rest.
    private func follower(_ member: UInt32) -> Audience {
        let audience = Audience(topics: [.none], trackedMax: 1)
        audience.wake(
            RestingFollower(topic: 3, member: ActivitySlot(member), number: 5, freshness: 0, alerts: nil), showing: nil)
        return audience
    }

    private func join(_ slot: UInt32, _ audience: Audience, _ positions: inout GrowingColumn<UInt32>) {
        audience.countJoiner(having: nil)
        audience.join(ActivitySlot(slot), isVisited: false, missesAlert: false, positions: &positions)
    }

    /// Inserts an audience of these slots, and notes its size with each.
    private func insert(
        _ slots: Range<UInt32>, into table: inout AudienceTable, _ positions: inout GrowingColumn<UInt32>
    ) -> AudienceIndex {
        let audience = audience()
        let index = table.insert(audience)
        for slot in slots {
            join(slot, audience, &positions)
            table.noteSize(audience, at: index)
        }
        return index
    }

    /// Removes members until that many are left, and notes each loss.
    private func removeMembers(
        of index: AudienceIndex, downTo count: Int, in table: inout AudienceTable,
        _ positions: inout GrowingColumn<UInt32>
    ) {
        let audience = table[index]
        while audience.order.count > count {
            audience.leave(at: 0, having: 0, inFlight: nil, positions: &positions)
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
        var positions = GrowingColumn<UInt32>(repeating: 0, count: 3)
        join(0, small, &positions)
        for slot in UInt32(1)...2 { join(slot, large, &positions) }
        for one in [small, large, small] {
            let index = table.indices.first { table[$0] === one } ?? table.insert(one)
            table.noteSize(one, at: index)
        }
        #expect(table.largestCount == 2)
    }

    /// The pool keeps the connections that the next goal of the other audience needs.
    @Test func anotherAudienceIsTheLargestOnceTheLargestHasLostHalfOfItsMembers() {
        var table = AudienceTable(LineupRules())
        var positions = GrowingColumn<UInt32>(repeating: 0, count: 5000)
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
        var positions = GrowingColumn<UInt32>(repeating: 0, count: 1500)
        let large = insert(0..<1000, into: &table, &positions)
        let other = insert(1000..<1500, into: &table, &positions)
        removeMembers(of: large, downTo: 0, in: &table, &positions)
        #expect(table.largestCount == 0)
        table.noteSize(table[other], at: other)
        #expect(table.largestCount == 500)
    }

    @Test func smallerAudienceThatShrinksLeavesTheLargestAsItIs() {
        var table = AudienceTable(LineupRules())
        var positions = GrowingColumn<UInt32>(repeating: 0, count: 5000)
        _ = insert(0..<3000, into: &table, &positions)
        let other = insert(3000..<5000, into: &table, &positions)
        removeMembers(of: other, downTo: 0, in: &table, &positions)
        #expect(table.largestCount == 3000)
    }

    @Test func followerAtRestIsAPlaceholderOfOneMemberAndHasItsObjectAgainWhenItWakes() {
        var table = AudienceTable(LineupRules())
        let other = table.insert(audience())
        let follower = follower(8)
        let index = table.insert(follower)
        table.restFollower(index)
        #expect(table[index] === table.restingFollower && table[index].order.count == 1)
        #expect(table.followers[index]?.member == ActivitySlot(8) && table.followers[other] == nil)
        #expect(table.count == 2 && table.violation() == nil)
        let awake = table.wakeFollower(index, trackedMax: 1) { _ in nil }
        #expect(table[index] === awake && awake === follower && Array(awake.order.members) == [ActivitySlot(8)])
        #expect(table.followers[index] == nil && table.violation() == nil)
    }

    /// The place of a follower that has left after its rest serves an audience of another topic.
    @Test func indexOfAFollowerThatRestedIsReused() {
        var table = AudienceTable(LineupRules())
        let follower = follower(8)
        let index = table.insert(follower)
        table.restFollower(index)
        _ = table.wakeFollower(index, trackedMax: 1) { _ in nil }
        table.free(index)
        #expect(table[index] === table.vacant && table.followers.count == 0 && table.violation() == nil)
        let reused = table.insert(audience())
        #expect(reused == index && table.count == 1 && table.violation() == nil)
    }

    @Test func tenantIsFoundUntilItsAudienceRestsOrIsGone() {
        var table = AudienceTable(LineupRules())
        let index = table.insert(follower(8))
        let first = table.tenant(at: index)
        let isThere = table.find(first) === table[index]
        table.restFollower(index)
        let isAtRest = table.find(first) == nil
        #expect(isThere && isAtRest)
        let awake = table.wakeFollower(index, trackedMax: 1) { _ in nil }
        let second = table.tenant(at: index)
        #expect(table.find(first) == nil && table.find(second) === awake && first != second)
        table.free(index)
        let isGone = table.find(second) == nil
        let reused = table.insert(audience())
        #expect(isGone && reused == index && table.find(second) == nil)
        #expect(table.find(table.tenant(at: index)) === table[index] && table.violation() == nil)
    }

    @Test func objectsThatRestServeOtherFollowersAsOtherTenants() {
        var table = AudienceTable(LineupRules())
        let objects = (UInt32(0)..<3).map { follower($0) }
        let indices = objects.map { table.insert($0) }
        let tenants = Set(objects.map(\.tenant))
        for index in indices { table.restFollower(index) }
        let awake = [1, 2, 0].map { table.wakeFollower(indices[$0], trackedMax: 1) { _ in nil } }
        #expect(awake.map { Array($0.order.members) } == [[ActivitySlot(1)], [ActivitySlot(2)], [ActivitySlot(0)]])
        #expect(Set(awake.map { ObjectIdentifier($0) }) == Set(objects.map { ObjectIdentifier($0) }))
        #expect(tenants.count == 3 && !awake.contains { tenants.contains($0.tenant) } && table.violation() == nil)
    }

    @Test func fourThousandObjectsAreKeptForFollowersThatWakeAndFurtherOnesAreMadeAnew() {
        var table = AudienceTable(LineupRules())
        let objects = (UInt32(0)..<5000).map { follower($0) }
        let indices = objects.map { table.insert($0) }
        for index in indices { table.restFollower(index) }
        #expect(table.followers.count == 5000 && table.violation() == nil)
        let awake = indices.map { table.wakeFollower($0, trackedMax: 1) { _ in nil } }
        let kept = Set(objects.map { ObjectIdentifier($0) }).intersection(awake.map { ObjectIdentifier($0) })
        #expect(kept.count == 4096 && table.followers.count == 0 && table.violation() == nil)
        let members = awake.map { $0.order.members[0].rawValue }
        #expect(members == Array(UInt32(0)..<5000))
    }

    @Test func lineupAtRestIsAPlaceholderAndItsObjectServesTheNextOne() {
        let rules = LineupRules()
        var table = AudienceTable(rules)
        let lineup = Lineup(rotation: Rotation(rules, at: .always))
        let audience = Audience(topics: [7, 8], lineup: lineup, trackedMax: 1)
        let index = table.insert(audience)
        let tenant = table.tenant(at: index)
        table.restLineup(index)
        #expect(table[index] === table.resting && table.find(tenant) == nil && table.violation() == nil)
        let topics: [TopicIndex] = [7, 8]
        let states = (UInt32(3)...4).map {
            RestingLineup(
                row: 0, pinned: nil, member: ActivitySlot($0), number: 0, displayHash: 0, priority: .conserving,
                publishedAt: .always, rotation: lineup.rotation.resting, spotlight: nil, wakeUp: nil,
                alertCounts: SIMD2())
        }
        let awake = table.wakeLineup(index, as: states[0], topics, showing: nil, rules, trackedMax: 1)
        #expect(awake === audience && table[index] === awake && table.find(tenant) == nil)
        let other = table.insert(self.audience())
        let fresh = table.wakeLineup(other, as: states[1], topics, showing: nil, rules, trackedMax: 1)
        #expect(fresh !== awake && fresh.lineup != nil && Array(fresh.order.members) == [ActivitySlot(4)])
        #expect(fresh.topics == [7, 8] && table.violation() == nil)
    }

    @Test func audienceWithTheNumberOfAnotherOneIsAViolation() {
        var table = AudienceTable(LineupRules())
        let first = table.insert(audience())
        let second = table.insert(audience())
        #expect(table.violation() == nil)
        table[second].serve(as: table[first].tenant)
        #expect(table.violation() != nil)
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
        let follower = follower(8)
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
