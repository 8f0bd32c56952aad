import Testing

@testable import FanfareFanOut

@Suite struct ClaimWaitTests {
    private var wait = ClaimWait()

    @Test mutating func aWaitForRoomBeginsOnceAndEndsOnce() {
        let begun = [wait.awaitRoom(), wait.awaitRoom()]
        #expect(begun == [true, false] && wait.isUnnamed)
        let ended = [wait.endWaitForRoom(), wait.endWaitForRoom()]
        #expect(ended == [true, false] && !wait.isUnnamed)
    }

    @Test mutating func anAudienceIsReadyUntilItsNextVisit() {
        wait.noteReady()
        #expect(wait.isReady)
        wait.noteVisit()
        #expect(!wait.isReady && !wait.isUnnamed)
    }
}
