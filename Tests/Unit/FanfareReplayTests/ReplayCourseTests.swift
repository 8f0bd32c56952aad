import Fanfare
import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct ReplayCourseTests {
    private static func time(_ seconds: Int64, less nanoseconds: Int64 = 0) -> MonotonicTime {
        MonotonicTime(nanoseconds: seconds * 1_000_000_000 - nanoseconds)
    }

    @Test func replayBeginsOnce() {
        var course = ReplayCourse()
        #expect(!course.hasBegun && !course.isFeeding)
        let first = course.begin()
        let second = course.begin()
        #expect(first && !second && course.hasBegun && course.isFeeding)
    }

    @Test func replayThatWasHaltedDoesNotBegin() {
        var course = ReplayCourse()
        course.halt()
        let begins = course.begin()
        #expect(!begins && !course.isFeeding && !course.isFeedOver)
        #expect(!course.hasBegun, "a second signal has nothing to finish")
    }

    @Test(arguments: [(Settlement.complete, true, true), (.refused, true, false), (.unknown, false, false)])
    func replayIsOverWhenNothingIsOnItsWay(settlement: Settlement, isOver: Bool, everybodyHasAll: Bool) {
        var course = ReplayCourse()
        _ = course.begin()
        course.endFeed()
        #expect(course.isFeedOver && !course.isFeeding)
        let says = course.settle(settlement)
        #expect(says == isOver && course.everybodyHasAll == everybodyHasAll)
    }

    @Test func firstInterruptionLeavesTimeAndTheSecondNone() {
        var course = ReplayCourse()
        _ = course.begin()
        #expect(course.timeLeft(at: Self.time(0)) == nil && course.isLate(at: .never) == nil)
        let first = course.interrupt(at: Self.time(0), patience: .seconds(3))
        #expect(first && course.timeLeft(at: Self.time(1)) == .seconds(2))
        #expect(course.isLate(at: Self.time(3, less: 1)) == false && course.isLate(at: Self.time(3)) == true)
        let second = course.interrupt(at: Self.time(1), patience: .seconds(3))
        #expect(!second && course.timeLeft(at: Self.time(1)) == .zero)
    }

    /// A supervisor that grants ten seconds sees the summary.
    @Test func liveReplayEndsBeforeASupervisorKillsIt() {
        for patience in [nil, Duration.seconds(60)] {
            var course = ReplayCourse()
            _ = course.interrupt(at: Self.time(0), patience: patience)
            #expect(course.timeLeft(at: Self.time(0)) == .seconds(8))
        }
    }

    /// A log has the entries whose alerts are on their way, and sends no alert again.
    @Test func feedThatWasLeftIsDecidedAndSent() {
        var course = ReplayCourse()
        _ = course.begin()
        _ = course.interrupt(at: Self.time(0), patience: .seconds(3))
        course.leaveFeed()
        #expect(course.isLeaving && !course.isFeeding && course.timeLeft(at: Self.time(1)) == .seconds(2))
        #expect(course.unsent(undelivered: 1)?.hasSuffix("not all that was read has been decided") == true)
        course.noteDecided()
        #expect(!course.isLeaving && course.unsent(undelivered: 1)?.hasSuffix("newest state") == true)
        let isOver = course.settle(.complete)
        #expect(isOver && !course.isFeedOver)
    }

    @Test func feedThatIsOverIsNotLeft() {
        var course = ReplayCourse()
        _ = course.begin()
        course.endFeed()
        course.leaveFeed()
        #expect(!course.isLeaving, "it waits for its pushes already")
    }

    @Test func recordedReplayWithoutALogWaitsForNoAnswersAfterAnInterruption() {
        var course = ReplayCourse()
        _ = course.begin()
        course.haltAtOnce()
        #expect(course.timeLeft(at: Self.time(0)) == .zero && !course.isFeeding)
        #expect(course.unsent(undelivered: 2) == nil, "the feed can be read again")
    }

    @Test func unsentStatesAreToldAfterAnInterruptionOnly() {
        var course = ReplayCourse()
        _ = course.begin()
        #expect(course.unsent(undelivered: 2) == nil)
        _ = course.interrupt(at: Self.time(0), patience: .seconds(3))
        #expect(
            course.unsent(undelivered: 1)
                == "stopped after 3 s: 1 activity lacks its newest state, and not all that was read has been decided")
        course.endFeed()
        #expect(course.unsent(undelivered: 2) == "stopped after 3 s: 2 activities lack their newest state")
        #expect(course.unsent(undelivered: 0) == "stopped after 3 s: not all that was decided has been sent")
        _ = course.interrupt(at: Self.time(0), patience: .seconds(3))
        #expect(course.unsent(undelivered: 2) == "stopped at once: 2 activities lack their newest state")
        _ = course.settle(.refused)
        #expect(course.unsent(undelivered: 2) == nil, "nothing more could be sent")
    }
}
