import Testing

@testable import FanfareAPNs

@Suite struct AnswerTimesTests {
    private let millisecond: Int64 = 1_000_000

    @Test func aPushThatWasAloneTellsThePeersWork() {
        var times = AnswerTimes()
        times.notePong(after: millisecond, at: 0)
        times.noteRest()
        times.noteSent()
        times.noteAccepted(after: 50 * millisecond, at: 0)
        #expect(times.service.least == 50 * millisecond && times.roundTrip.least == millisecond)
    }

    @Test func pushesTogetherMayHaveWaitedForOneAnother() {
        var times = AnswerTimes()
        times.noteRest()
        for _ in 0..<2 { times.noteSent() }
        times.noteAccepted(after: 50 * millisecond, at: 0)
        // The last of several in flight has not been alone.
        times.noteAccepted(after: 60 * millisecond, at: 0)
        #expect(times.service.least == nil)
        times.noteRest()
        times.noteSent()
        times.noteAccepted(after: 5 * millisecond, at: 0)
        #expect(times.service.least == 5 * millisecond)
    }
}
