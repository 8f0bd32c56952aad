import Testing

@testable import FanfareFanOut

@Suite struct ClaimFrontTests {
    private var front = ClaimFront()

    @Test(arguments: [(100, 10), (6400, 100), (1_000_000, 1000)])
    mutating func blockIsAPartOfTheAudienceWithinItsBounds(members: Int, block: Int) {
        front.restart(members: members, blocks: 10...1000)
        #expect(front.block == block && front.wanted == block && front.ahead == 0)
        #expect(front.violation() == nil)
    }

    @Test mutating func blockIsWantedWhenHalfOfTheLastOneIsVisited() {
        front.restart(members: 6400, blocks: 10...1000)
        front.claimed(100)
        #expect(front.wanted == nil)
        front.visited(50)
        #expect(front.ahead == 50 && front.wanted == 100)
        front.visited(60)
        #expect(front.ahead == 0, "members have left, so more are visited than were claimed")
        #expect(front.violation() == nil)
        front.claimed(-1)
        #expect(front.violation() != nil, "fewer than no members are claimed")
    }

    @Test mutating func blocksDoubleOnceWhereClaimsComeLate() {
        front.restart(members: 6400, blocks: 10...1000)
        front.widen()
        front.widen()
        #expect(front.block == 200)
        front.restart(members: 1_000_000, blocks: 10...1000)
        front.widen()
        #expect(front.block == 1000 && front.violation() == nil)
    }
}
