import Testing

@testable import FanfareFanOut

@Suite struct LackCountsTests {
    private var counts = LackCounts()

    @Test mutating func membersAreCountedByWhatTheyLack() {
        #expect(counts.isEmpty)
        counts.add(owed: 3, refused: 1)
        counts.add(owed: -1)
        #expect(counts.owed == 2 && counts.refused == 1 && !counts.isEmpty)
        counts.add(owed: -2)
        #expect(!counts.isEmpty, "a member was refused the version")
        counts.add(refused: -1)
        #expect(counts.isEmpty)
    }

    @Test mutating func aNewVersionIsOwedToThoseWhoWereRefusedTheOneBefore() {
        counts.add(owed: 1, refused: 2)
        counts.restart(owed: 5)
        #expect(counts.owed == 5 && counts.refused == 0)
    }

    @Test(arguments: [(-1, 0), (0, -1), (0, 3), (3, 2), (5, 0)])
    mutating func numbersThatTwoMembersAndTwoStartsDoNotAllowAreAViolation(owed: Int, refused: Int) {
        counts.add(owed: 4)
        #expect(counts.violation(members: 2, starts: 2) == nil)
        counts.add(owed: owed - 4, refused: refused)
        #expect(counts.violation(members: 2, starts: 2) != nil)
    }
}
