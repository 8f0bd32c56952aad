import FanfareLoop
import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct ReplayPacingTests {
    /// A pacing at twice the feed's speed, whose loop stops when it is due.
    private func stage() throws -> (Loop, ReplayPacing) {
        let loop = try Loop()
        let pacing = try ReplayPacing(TimeScale(speed: .times(2), gapMax: .seconds(30), from: nil), loop: loop)
        pacing.onDue = { loop.stop() }
        return (loop, pacing)
    }

    @Test(.timeLimit(.minutes(10))) func momentThatHasNotComeIsWaitedFor() throws {
        let (loop, pacing) = try stage()
        let start = FeedTime(seconds: 0)
        #expect(pacing.hasCome(start, at: MonotonicTime(nanoseconds: 0)))
        #expect(!pacing.hasCome(start + .milliseconds(20), at: MonotonicTime(nanoseconds: 0)))
        let began = ContinuousClock.now
        loop.run()
        #expect(ContinuousClock.now - began >= .milliseconds(10))
        #expect(pacing.hasCome(start + .milliseconds(20), at: MonotonicTime(nanoseconds: 10_000_000)))
        loop.close()
    }

    @Test(.timeLimit(.minutes(10))) func nextTurnIsDueAtOnce() throws {
        let (loop, pacing) = try stage()
        pacing.yield()
        loop.run()
        pacing.step()
        loop.run()
        loop.close()
    }
}
