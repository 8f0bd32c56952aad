import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct LiveEndingTests {
    /// Returns the time some seconds after the interruption.
    private static func time(_ seconds: Int, less nanoseconds: Int64 = 0) -> MonotonicTime {
        MonotonicTime(nanoseconds: (100 + Int64(seconds)) * 1_000_000_000 - nanoseconds)
    }

    /// An ending that began at `time(0)`.
    private func ending(patience: Duration? = .seconds(3)) -> LiveEnding {
        var ending = LiveEnding()
        _ = ending.begin(at: Self.time(0), patience: patience)
        return ending
    }

    @Test func nothingIsLateOrUnsentBeforeTheInterruption() {
        let ending = LiveEnding()
        #expect(ending.isLate(at: .never) == nil && ending.timeLeft(at: .never) == nil)
        #expect(ending.unsent(undelivered: 7, isDecided: false) == nil)
    }

    @Test(arguments: [(nil, 8), (0, 0), (3, 3), (8, 8), (60, 8)] as [(Int?, Int)])
    func anEndingLastsAsLongAsThePatienceButAtMostEightSeconds(patience: Int?, limit: Int) {
        let ending = ending(patience: patience.map { Duration.seconds($0) })
        #expect(ending.timeLeft(at: Self.time(0)) == Duration.seconds(limit))
        #expect(ending.isLate(at: Self.time(limit, less: 1)) == false)
        #expect(ending.isLate(at: Self.time(limit)) == true)
        #expect(
            ending.unsent(undelivered: 2, isDecided: true)
                == "stopped after \(limit) s: 2 activities lack their newest state")
    }

    @Test func timeLeftFallsToZeroAndNotBelow() {
        let ending = ending()
        let left = [0, 2, 3, 4].map { ending.timeLeft(at: Self.time($0)) }
        let expected: [Duration?] = [.seconds(3), .seconds(1), .zero, .zero]
        #expect(left == expected)
    }

    @Test func onlyTheFirstInterruptionLeavesTime() {
        var ending = LiveEnding()
        let goesOn = (0..<3).map { ending.begin(at: Self.time($0), patience: .seconds(3)) }
        #expect(goesOn == [true, false, false])
        #expect(ending.timeLeft(at: Self.time(2)) == Duration.zero)
        #expect(
            ending.unsent(undelivered: 2, isDecided: true) == "stopped at once: 2 activities lack their newest state")
    }

    @Test func laterInterruptionsDoNotMoveTheDeadline() {
        var ending = ending()
        _ = ending.begin(at: Self.time(2), patience: .seconds(8))
        #expect(ending.isLate(at: Self.time(3, less: 1)) == false && ending.isLate(at: Self.time(3)) == true)
    }

    @Test(arguments: [
        (undelivered: 0, what: "not all that was decided has been sent"), (1, "1 activity lacks its newest state"),
        (2, "2 activities lack their newest state"),
    ])
    func peopleAreToldWhatIsUnsentAndWhetherAllWasDecided(undelivered: Int, what: String) {
        let ending = ending()
        let decided = ending.unsent(undelivered: undelivered, isDecided: true)
        let undecided = ending.unsent(undelivered: undelivered, isDecided: false)
        #expect(decided == "stopped after 3 s: \(what)")
        #expect(undecided == "stopped after 3 s: \(what), and not all that was read has been decided")
    }
}
