import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareReplay

@Suite struct TimeScaleTests {
    private let start = ManualClock.start
    private static let now = MonotonicTime(nanoseconds: 0)

    @Test func aLateStepMakesTheNextWaitShorter() {
        var timeScale = TimeScale(speed: .times(2), gapMax: .seconds(30), from: nil)
        #expect(timeScale.wait(until: start, now: Self.now) == .zero)
        #expect(timeScale.wait(until: start + .seconds(4), now: Self.now) == .seconds(2))
        #expect(timeScale.wait(until: start + .seconds(8), now: Self.now + .seconds(3)) == .seconds(1))
    }

    @Test func theTimetableOfALiveFeedMakesNobodyWait() {
        var timetable = ReplayTimetable()
        timetable.speed = .times(2)
        timetable.gapMax = .seconds(6)
        let waits = [false, true].map { isLive in
            var timeScale = TimeScale(timetable, isLive: isLive)
            _ = timeScale.wait(until: start, now: Self.now)
            return timeScale.wait(until: start + .seconds(60), now: Self.now)
        }
        #expect(waits == [.seconds(3), .zero])
    }

    @Test(arguments: [1e-9, 1e-300, .leastNonzeroMagnitude, 0.003, 1e300])
    func waitsAreBoundedAtAnySpeed(speed: Double) {
        var timeScale = TimeScale(speed: .times(speed), gapMax: .seconds(31_536_000), from: nil)
        #expect(timeScale.wait(until: start, now: Self.now) == .zero)
        for year in 1...100 {
            let wait = timeScale.wait(until: start + .seconds(year * 31_536_000), now: Self.now)
            #expect((.zero ... .seconds(2_000_000_000)).contains(wait))
        }
    }
}
