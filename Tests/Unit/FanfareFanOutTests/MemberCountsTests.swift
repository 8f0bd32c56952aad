import Testing

@testable import FanfareFanOut

@Suite struct MemberCountsTests {
    @Test func eachNumberOfMembersRisesAndFallsAlone() {
        var counts = MemberCounts()
        counts.add(owed: 3)
        counts.add(refused: 2)
        counts.add(inLineups: 1)
        counts.add(owed: -1, refused: 1)
        #expect(counts.owed == 2 && counts.refused == 3 && counts.inLineups == 1 && counts.deferredLineups == 0)
        counts.add(owed: -2, refused: -3, inLineups: -1)
        #expect(counts == MemberCounts())
    }

    @Test func lineupIsCountedWhileItsChangesWait() {
        var counts = MemberCounts()
        counts.noteDeferred()
        counts.noteDeferred()
        counts.noteTaken()
        #expect(counts.deferredLineups == 1 && counts.owed == 0)
        counts.noteTaken()
        #expect(counts == MemberCounts())
    }
}
