import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct AnswerTimesTests {
    private let millisecond: Int64 = 1_000_000

    private func measure(
        _ distance: Int64, isUndelayed: Bool = true, _ times: inout AnswerTimes, at now: MonotonicTime
    ) {
        times.notePing(isClear: true, at: now.advanced(byNanoseconds: -distance))
        let isTimed = times.notePong(isUndelayed: isUndelayed, at: now)
        #expect(isTimed)
    }

    @Test func aPushThatWasAloneTellsThePeersWork() {
        var times = AnswerTimes()
        measure(millisecond, &times, at: .after(.zero))
        times.noteRest()
        times.noteSent()
        times.noteAccepted(after: 50 * millisecond, at: .after(.zero))
        #expect(times.service.least == 50 * millisecond && times.roundTrip.least == millisecond)
    }

    @Test func pushesTogetherMayHaveWaitedForOneAnother() {
        var times = AnswerTimes()
        times.noteRest()
        for _ in 0..<2 { times.noteSent() }
        times.noteAccepted(after: 50 * millisecond, at: .after(.zero))
        // The last of several in flight has not been alone.
        times.noteAccepted(after: 60 * millisecond, at: .after(.zero))
        #expect(times.service.least == nil)
        times.noteRest()
        times.noteSent()
        times.noteAccepted(after: 5 * millisecond, at: .after(.zero))
        #expect(times.service.least == 5 * millisecond)
    }

    /// The peer's queue, or ours, fills for minutes: its time is no distance.
    @Test func answersToPushesAreNoDistance() {
        var times = AnswerTimes()
        measure(millisecond, &times, at: .after(.zero))
        for second in 1...300 {
            times.noteAnswers(after: 400 * millisecond, at: .after(.seconds(second)))
            measure(300 * millisecond, isUndelayed: false, &times, at: .after(.seconds(second)))
        }
        #expect(times.roundTrip.least == millisecond && times.pace.least == 400 * millisecond)
    }

    /// A pause of this machine delays one PONG on all connections alike. A longer way delays all of them.
    @Test(arguments: [1, 45, 600] as [Int64]) func oneLatePongIsNoDistanceAndSeveralAre(interval: Int64) {
        var times = AnswerTimes(pingInterval: .seconds(interval))
        for round in 1...100 {
            measure((round % 3 == 0 ? 300 : 1) * millisecond, &times, at: .after(.seconds(Int64(round) * interval)))
            #expect(round < 2 || times.roundTrip.least == millisecond)
        }
        for round in 101...104 { measure(100 * millisecond, &times, at: .after(.seconds(Int64(round) * interval))) }
        #expect(times.roundTrip.least == 100 * millisecond)
    }

    @Test func aPingBehindPushesMeasuresNoDistance() {
        var times = AnswerTimes()
        measure(millisecond, &times, at: .after(.zero))
        times.notePing(isClear: false, at: .after(.seconds(300)))
        // The pushes that stood before it have all been answered meanwhile.
        let isTimed = times.notePong(isUndelayed: true, at: .after(.seconds(301)))
        #expect(isTimed && times.roundTrip.least == millisecond)
    }

    @Test func aPongThatNoPingAskedForIsIgnored() {
        var times = AnswerTimes()
        let isTimed = times.notePong(isUndelayed: true, at: .after(.zero))
        #expect(!isTimed && times.roundTrip.least == nil)
    }
}
