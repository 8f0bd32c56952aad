import FanfareModel
import Testing

@Suite struct LogClockTests {
    private static let start: Int64 = 1_790_000_000_000
    private static let hour: Int64 = 3_600_000

    /// Log time at readings a tenth of a second apart, for so many milliseconds.
    private struct Run {
        var uptime: Int64 = 0
        var wall = LogClockTests.start
        var log = LogClock(at: Moment(wallMilliseconds: LogClockTests.start, monotonicNanoseconds: 0))
        var now: Int64 { log.now.milliseconds }

        mutating func pass(_ milliseconds: Int64, every interval: Int64 = 100) {
            for _ in 0..<milliseconds / interval {
                uptime += interval
                wall += interval
                _ = log.advance(to: Moment(wallMilliseconds: wall, monotonicNanoseconds: uptime * 1_000_000))
            }
        }
    }

    /// Pauses, and by how much log time is later after them.
    private static let restarts: [(Int64, Int64)] = [
        (-hour, 0), (0, 0), (10_000, 10_000), (172_800_000, 30_000), (.max - start, 30_000),
    ]

    /// A restart after a pause, and after the machine's clock was set.
    @Test(arguments: restarts)
    func logClockGoesOnWithTheLogTimeOfAnEarlierRun(pause: Int64, step: Int64) {
        let moment = Moment(wallMilliseconds: LogClockTests.start + pause, monotonicNanoseconds: 0)
        let log = LogClock(at: moment, continuing: FeedTime(milliseconds: LogClockTests.start))
        #expect(log.now.milliseconds == LogClockTests.start + step)
    }

    @Test func logClockFollowsAWallClockThatIsNeverSet() {
        var run = Run()
        run.pass(10_000)
        #expect(run.now == run.wall)
    }

    /// However the wall is set, an interval of two seconds lasts two seconds, and what lasts eight hours is not over.
    @Test(arguments: [-400 * 24 * hour, -hour, hour, 8 * hour, 400 * 24 * hour]) func aStepOfTheWallIsNoStep(
        step: Int64
    ) {
        var run = Run()
        run.pass(1000)
        run.wall += step
        let before = run.now
        run.pass(2000)
        #expect((1875...2125).contains(run.now - before), "\(run.now - before) ms")
    }

    @Test func logClockCatchesUpWithTheWallASixteenthFaster() {
        var run = Run()
        run.wall += LogClockTests.hour
        run.pass(16 * LogClockTests.hour - 1600, every: 1600)
        #expect(run.now == run.wall - 100)
        run.pass(1600)
        #expect(run.now == run.wall)
        run.pass(1000)
        #expect(run.now == run.wall)
    }

    @Test func logClockLingersUntilTheWallHasCaughtUp() {
        var run = Run()
        run.wall -= 1000
        run.pass(15_900)
        #expect(run.now > run.wall)
        run.pass(200)
        #expect(run.now == run.wall)
    }

    @Test(arguments: UInt64(1)...50) func logClockNeverGoesBackNorFarFromTheMonotonicPace(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var run = Run()
        for _ in 0..<5000 {
            if random.next() % 20 == 0 {
                run.wall += Int64.random(in: -100 * LogClockTests.hour...100 * LogClockTests.hour, using: &random)
            }
            let interval = Int64.random(in: 1...2000, using: &random)
            let before = run.now
            run.pass(interval, every: interval)
            // One millisecond, because log time is finer than that.
            #expect((interval * 15 / 16 - 1...interval * 17 / 16 + 1).contains(run.now - before), "seed \(seed)")
        }
    }

    /// A clock source in microseconds, or a machine whose clock is garbage at boot: intervals end nevertheless.
    @Test(arguments: [5_680_281_600_000, Int64.max]) func aTimeThatNoEventMayHaveIsNoBeginning(wall: Int64) {
        var clock = LogClock(at: Moment(wallMilliseconds: wall, monotonicNanoseconds: 0))
        let begin = clock.now
        #expect(begin.isPlausible)
        let later = clock.advance(to: Moment(wallMilliseconds: wall, monotonicNanoseconds: 60_000_000_000))
        #expect(later.isPlausible && later >= begin + .seconds(60))
        let corrected = clock.advance(
            to: Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 120_000_000_000))
        #expect(corrected >= later + .seconds(56) && corrected.isPlausible)
    }
}
