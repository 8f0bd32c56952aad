import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct AnswerTimesTests {
    private let millisecond = Duration.milliseconds(1)

    private func measure(
        _ distance: Duration, isUndelayed: Bool = true, _ times: inout AnswerTimes, at now: MonotonicTime
    ) {
        times.notePing(isClear: true, at: now - distance)
        let isTimed = times.notePong(isUndelayed: isUndelayed, at: now)
        #expect(isTimed)
    }

    @Test func aPushThatWasAloneTellsThePeersWork() {
        var times = AnswerTimes()
        measure(millisecond, &times, at: .after(.zero))
        times.noteRest()
        times.noteSent()
        times.noteAccepted(after: .milliseconds(50), at: .after(.zero))
        #expect(times.service.least == .milliseconds(50) && times.roundTrip.least == millisecond)
    }

    @Test func pushesTogetherMayHaveWaitedForOneAnother() {
        var times = AnswerTimes()
        times.noteRest()
        for _ in 0..<2 { times.noteSent() }
        times.noteAccepted(after: .milliseconds(50), at: .after(.zero))
        // The last of several in flight has not been alone.
        times.noteAccepted(after: .milliseconds(60), at: .after(.zero))
        #expect(times.service.least == nil)
        times.noteRest()
        times.noteSent()
        times.noteAccepted(after: .milliseconds(5), at: .after(.zero))
        #expect(times.service.least == .milliseconds(5))
    }

    /// The peer's queue, or ours, fills for minutes: its time is no distance.
    @Test func answersToPushesAreNoDistance() {
        var times = AnswerTimes()
        measure(millisecond, &times, at: .after(.zero))
        for second in 1...300 {
            times.noteAnswers(after: .milliseconds(400), at: .after(.seconds(second)))
            measure(.milliseconds(300), isUndelayed: false, &times, at: .after(.seconds(second)))
        }
        #expect(times.roundTrip.least == millisecond && times.response.least == .milliseconds(400))
    }

    /// A pause of this machine delays one PONG on all connections alike. A longer way delays all of them.
    @Test(arguments: [1, 45, 600] as [Int64]) func oneLatePongIsNoDistanceAndSeveralAre(interval: Int64) {
        var times = AnswerTimes(pingInterval: .seconds(interval))
        for round in 1...100 {
            measure(.milliseconds(round % 3 == 0 ? 300 : 1), &times, at: .after(.seconds(Int64(round) * interval)))
            #expect(round < 2 || times.roundTrip.least == millisecond)
        }
        for round in 101...104 { measure(.milliseconds(100), &times, at: .after(.seconds(Int64(round) * interval))) }
        #expect(times.roundTrip.least == .milliseconds(100))
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

    @Test func measurementsAgreeWhateverIsSentAndAnswered() {
        var random = SplitMix64(seed: 8)
        var times = AnswerTimes()
        var now = MonotonicTime.after(.zero)
        for step in 0..<2000 {
            now += .milliseconds(Int.random(in: 0...3000, using: &random))
            let time = Duration.milliseconds(Int.random(in: 0...500, using: &random))
            switch Int.random(in: 0..<7, using: &random) {
            case 0: times.noteRest()
            case 1: times.noteSent()
            case 2: times.noteAccepted(after: time, at: now)
            case 3: times.noteAnswers(after: time, at: now)
            case 4: times.notePing(isClear: Bool.random(using: &random), at: now)
            case 5: _ = times.notePong(isUndelayed: Bool.random(using: &random), at: now)
            default:
                times.compare(to: .milliseconds(20), at: now)
                times.judge(limit: .milliseconds(100), at: now)
            }
            #expect(times.violation() == nil, "step \(step)")
        }
    }
}
