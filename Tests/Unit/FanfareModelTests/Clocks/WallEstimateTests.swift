import FanfareModel
import Testing

/// A machine's clocks, set and suspended as a test likes, and what is believed of them.
private struct Machine {
    /// Milliseconds since it was switched on.
    private(set) var uptime: Int64 = 0
    /// Unix milliseconds; what somebody sets.
    var wall: Int64
    private(set) var estimate: WallEstimate
    private(set) var moment: Moment
    /// Milliseconds by which a clock that APNs has shown to be right is ahead of the truth; `nil`: nothing is shown.
    var proven: Int64?

    static let start: Int64 = 1_790_000_000_000
    static let hour: Int64 = 3_600_000

    /// - Parameter error: milliseconds that the clock is ahead when the machine is switched on.
    init(ahead error: Int64 = 0) {
        wall = Machine.start + error
        estimate = WallEstimate(wallMilliseconds: wall, monotonicNanoseconds: 0)
        moment = estimate.read(wallMilliseconds: wall, monotonicNanoseconds: 0)
    }

    /// Unix milliseconds of a clock that nobody has set.
    var truth: Int64 { Machine.start + uptime }
    var believed: Int64 { moment.wallMilliseconds }
    var stamp: Int64 { moment.stampMilliseconds }

    mutating func pass(_ milliseconds: Int64) {
        uptime += milliseconds
        wall += milliseconds
    }

    @discardableResult mutating func read() -> Int64 {
        moment = estimate.read(
            wallMilliseconds: wall, monotonicNanoseconds: uptime * 1_000_000,
            provenOrigin: proven.map { (Machine.start + $0) * 1_000_000 })
        return believed
    }

    mutating func read(for milliseconds: Int64, every interval: Int64 = 100) {
        for _ in 0..<milliseconds / interval {
            pass(interval)
            read()
        }
    }
}

@Suite struct WallEstimateTests {
    private static let hour = Machine.hour
    /// Milliseconds: less than a phone minds.
    private static let smallSteps: [Int64] = [1, 900, 1000, 25_000]
    /// Of a leap too much, of daylight saving told to a wrong clock, of a dead battery.
    private static let steps: [Int64] = [
        25_001, 61_000, hour, 4 * hour, 4 * hour + 1, 8 * hour, 26 * hour, 9600 * hour,
    ]

    /// More than APNs bears, than phones bear, and than anybody does.
    private static let refutedSteps: [Int64] = [
        hour + 1, 7 * hour, 7 * hour + 1, 8 * hour + 1, 26 * hour, 9600 * hour,
    ]

    @Test func clockThatIsNeverSetIsBelievedToTheMillisecond() {
        var machine = Machine()
        for interval: Int64 in [0, 1, 1, 7, 100, 60_000, 0, 86_400_000] {
            machine.pass(interval)
            #expect(machine.read() == machine.wall && machine.stamp == machine.wall)
            #expect(machine.estimate.step == nil)
        }
        #expect(machine.moment.stampEpoch == 0)
    }

    @Test(arguments: smallSteps.flatMap { [$0, -$0] }) func aSmallStepIsFollowedAtOnce(step: Int64) {
        var machine = Machine()
        machine.read(for: 1000)
        machine.wall += step
        #expect(machine.read() == machine.wall)
        #expect(machine.stamp == max(machine.wall, machine.truth))
        #expect(machine.moment.stampEpoch == 0)
    }

    @Test(arguments: steps.flatMap { [$0, -$0] }) func aStepThatIsPutRightHasDoneNothingToDates(step: Int64) {
        var machine = Machine()
        machine.read(for: 1000)
        machine.wall += step
        machine.read()
        for _ in 0..<49 {
            machine.pass(100)
            #expect(machine.read() == machine.truth)
        }
        machine.wall -= step
        for _ in 0..<100 {
            machine.pass(100)
            #expect(machine.read() == machine.truth)
        }
    }

    @Test(arguments: steps.flatMap { [$0, -$0] }) func datesFollowAStepThatLastsAfterFiveSeconds(step: Int64) {
        var machine = Machine()
        machine.read(for: 1000)
        machine.wall += step
        #expect(machine.read() == machine.truth)
        machine.pass(4999)
        #expect(machine.read() == machine.truth)
        machine.pass(1)
        #expect(machine.read() == machine.wall)
        machine.read(for: 60_000)
        #expect(machine.believed == machine.wall)
    }

    /// Phones drop stamps behind their time: no stamp is behind, whichever of the two clocks is right.
    @Test(arguments: steps.filter { $0 <= 7 * hour }.flatMap { [$0, -$0] })
    func stampsAreNotBehindTheClockBeforeAStepNorBehindTheOneAfterIt(step: Int64) {
        var machine = Machine()
        machine.read(for: 1000)
        machine.wall += step
        // A clock set ahead by more than phones take may be put right in a moment.
        if step > 4 * Self.hour { machine.read(for: 5100) }
        for _ in 0..<1000 {
            machine.pass(30_000)
            machine.read()
            #expect(machine.stamp == max(machine.truth, machine.wall))
        }
    }

    @Test(arguments: [Machine.hour, 3 * Machine.hour])
    func aClockThatWasAheadForASecondLeavesOnlyStampsAhead(step: Int64) {
        var machine = Machine()
        machine.read(for: 1000)
        machine.wall += step
        machine.read(for: 1000)
        machine.wall -= step
        machine.read(for: 1000)
        #expect(machine.believed == machine.truth)
        #expect(machine.stamp == machine.truth + step)
        #expect(machine.moment.stampEpoch == 1, "stamps leapt: perhaps those of before were too early")
    }

    /// Another process that stamps for the same cards knows nothing of such a lead.
    @Test func aClockThatAPNsRefutesTakesNoStampsAlong() {
        var machine = Machine()
        machine.read(for: 1000)
        machine.proven = 0
        machine.wall += 3 * Self.hour
        machine.read(for: 10_000)
        #expect(machine.stamp == machine.truth)
        machine.wall -= 3 * Self.hour
        machine.read(for: 10_000)
        #expect(machine.stamp == machine.truth && machine.moment.stampEpoch == 0)
    }

    /// No phone has taken a push that was stamped so far ahead.
    @Test func aClockThatBeganTooFarAheadTakesStampsBackWhenItIsPutRight() {
        var machine = Machine(ahead: 9 * Self.hour)
        machine.read(for: 60_000)
        machine.wall -= 9 * Self.hour
        machine.read(for: 4900)
        #expect(machine.stamp == machine.truth + 9 * Self.hour, "it may be put right in a moment")
        machine.read(for: 200)
        #expect(machine.stamp == machine.truth && machine.moment.stampEpoch == 1)
    }

    @Test func aClockThatBeganBehindTellsWhenItIsPutRight() {
        var machine = Machine(ahead: -Self.hour)
        machine.read(for: 60_000)
        machine.wall += Self.hour
        machine.read(for: 100)
        #expect(machine.stamp == machine.truth && machine.moment.stampEpoch == 1)
        machine.read(for: 60_000)
        #expect(machine.moment.stampEpoch == 1)
    }

    /// One that flickers is doubted anew each time.
    @Test func aClockThatFlickersIsNotBelieved() {
        var machine = Machine()
        for round in 0..<100 {
            machine.wall += round.isMultiple(of: 2) ? 30 * Machine.hour : -30 * Machine.hour
            machine.read(for: 2000)
            #expect(machine.believed == machine.truth && machine.stamp == machine.truth)
        }
    }

    /// Put right, and set a week ahead before that is believed.
    @Test func eachSettingOfTheClockIsDoubtedForItself() {
        var machine = Machine()
        machine.wall -= 2 * Self.hour
        machine.read(for: 7000)
        #expect(machine.believed == machine.wall)
        machine.wall += 2 * Self.hour
        machine.read(for: 2000)
        machine.wall += 168 * Self.hour
        machine.read(for: 3500)
        #expect(machine.believed < machine.truth + 1000 && machine.stamp == machine.truth)
        machine.wall -= 168 * Self.hour
        machine.read(for: 6000)
        #expect(machine.believed == machine.truth && machine.stamp == machine.truth)
    }

    /// The battery-backed clock said 1970, and the time service puts it right soon after the start.
    @Test func aClockThatBeganWrongIsPutRight() {
        var estimate = WallEstimate(wallMilliseconds: 0, monotonicNanoseconds: 0)
        for second: Int64 in 1...6 {
            _ = estimate.read(
                wallMilliseconds: Machine.start + second * 1000, monotonicNanoseconds: second * 1_000_000_000)
        }
        let moment = estimate.read(wallMilliseconds: Machine.start + 7000, monotonicNanoseconds: 7_000_000_000)
        #expect(moment.wallMilliseconds == Machine.start + 7000)
        #expect(moment.stampMilliseconds == Machine.start + 7000)
    }

    /// Where the monotonic clock counts the sleep there is no step; where it does not, the sleep looks like one ahead.
    @Test(arguments: [Machine.hour, 30 * Machine.hour]) func aMachineThatSleptIsBackWithinSeconds(slept: Int64) {
        var counting = Machine()
        counting.read(for: 1000)
        counting.pass(slept)
        #expect(counting.read() == counting.wall)
        #expect(counting.estimate.step == nil)

        var stopped = Machine()
        stopped.read(for: 1000)
        stopped.wall += slept
        stopped.read()
        stopped.read(for: 5000)
        #expect(stopped.believed == stopped.wall)
    }

    // MARK: What APNs has shown

    /// A clock that is right to an hour by APNs' acceptances goes on, and a clock that cannot be right has no say, however long.
    @Test(arguments: refutedSteps.flatMap { [$0, -$0] })
    func aClockThatAPNsRefutesIsNotBelievedHoweverLongItStaysSo(step: Int64) {
        var machine = Machine()
        machine.proven = 0
        machine.read(for: 1000)
        #expect(!machine.estimate.isRefuted)
        machine.wall += step
        machine.read()
        #expect(machine.estimate.isRefuted, "told together with the step")
        for _ in 0..<3000 {
            machine.pass(30_000)
            machine.read()
            // Stamps some hours ahead harm nobody, and are right if the proof is not.
            guard machine.believed == machine.truth, (0...4 * Self.hour).contains(machine.stamp - machine.truth) else {
                Issue.record("believed \(machine.believed), stamp \(machine.stamp), truth \(machine.truth)")
                return
            }
        }
        machine.wall -= step
        machine.read(for: 6000)
        #expect(!machine.estimate.isRefuted && machine.believed == machine.wall)
    }

    @Test(arguments: [-hour, -600_000, 600_000, hour]) func aClockThatMayBeRightIsFollowed(step: Int64) {
        var machine = Machine()
        machine.proven = 0
        machine.wall += step
        machine.read(for: 6000)
        #expect(machine.believed == machine.wall && !machine.estimate.isRefuted)
    }

    /// APNs refuses a proven time from some moment on: an estimate that has waited for that believes the clock at once.
    @Test(arguments: [-26 * hour, 26 * hour]) func aProofThatIsWithdrawnLeavesTheClock(step: Int64) {
        var machine = Machine()
        machine.proven = 0
        machine.wall += step
        machine.read(for: 60_000)
        #expect(machine.believed == machine.truth && machine.stamp == machine.truth)
        machine.proven = nil
        machine.read()
        #expect(machine.believed == machine.wall && machine.stamp == machine.wall)
        #expect(machine.moment.stampEpoch == 1)
    }

    /// It was believed, and then APNs took the time before it.
    @Test(arguments: [-26 * hour, 26 * hour]) func aProofThatComesLateIsFollowedAtOnce(step: Int64) {
        var machine = Machine()
        machine.wall += step
        machine.read(for: 60_000)
        #expect(machine.believed == machine.wall && machine.stamp == machine.wall)
        machine.proven = 0
        machine.read()
        #expect(machine.believed == machine.truth && machine.stamp == machine.truth)
        machine.read(for: 60_000)
        #expect(machine.believed == machine.truth && machine.moment.stampEpoch == 2)
    }

    /// A time that APNs has proven to an hour, whatever is done to the clock and for however long, keeps stamps where phones take
    /// them, and dates within that hour.
    @Test(arguments: UInt64(1)...50) func withAProofNoStepsTakeStampsOutOfWhatPhonesTake(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var machine = Machine()
        machine.proven = Int64.random(in: 0...Self.hour, using: &random)
        for reading in 0..<5000 {
            machine.pass(Int64.random(in: 0...2000, using: &random))
            if random.next() % 50 == 0 {
                let most = [2000, Machine.hour, 10 * Machine.hour, 900 * Machine.hour][Int(random.next() % 4)]
                machine.wall += Int64.random(in: -most...most, using: &random)
            }
            machine.read()
            let (stamp, believed) = (machine.stamp - machine.truth, machine.believed - machine.truth)
            guard (-25_000...8 * Self.hour).contains(stamp), abs(believed) <= 2 * Self.hour + 25_000 else {
                Issue.record("seed \(seed), reading \(reading): stamps \(stamp) ms ahead, dates \(believed)")
                return
            }
        }
        #expect(machine.moment.stampEpoch < 300)
    }

    /// A time service slews by up to 500 ppm; a machine without one drifts by less.
    @Test(arguments: [-500, 500]) func driftIsFollowed(partsPerMillion: Int64) {
        var machine = Machine()
        for _ in 0..<10_000 {
            machine.pass(1000)
            if machine.uptime % 2000 == 0 { machine.wall += partsPerMillion / 500 }
            machine.read()
            #expect(machine.believed == machine.wall)
            #expect(machine.estimate.step == nil)
        }
    }

    @Test func aStepIsToldOnceWithItsSize() {
        var machine = Machine()
        machine.read(for: 1000)
        machine.wall -= Machine.hour
        machine.read()
        #expect(machine.estimate.step == .seconds(-3600))
        machine.pass(100)
        machine.read()
        #expect(machine.estimate.step == nil)
        machine.wall += 8 * Machine.hour
        machine.read()
        #expect(machine.estimate.step == .seconds(8 * 3600))
        machine.wall += 1999
        machine.read()
        #expect(machine.estimate.step == nil, "the time service at its work")
    }

    /// Dates are seconds from the clock, whatever is done to it, but for the time of a doubt, and stamps neither behind it nor too far
    /// ahead for phones.
    @Test(arguments: UInt64(1)...50) func noStepsTakeTheEstimateFromTheClockForLong(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var machine = Machine()
        var farSince: Int64?
        for reading in 0..<5000 {
            machine.pass(Int64.random(in: 0...1000, using: &random))
            if random.next() % 50 == 0 {
                let most = [2000, Machine.hour, 10 * Machine.hour, 900 * Machine.hour][Int(random.next() % 4)]
                machine.wall += Int64.random(in: -most...most, using: &random)
            }
            let before = machine.moment
            machine.read()
            let (believed, stamp) = (machine.believed, machine.stamp)
            if abs(believed - machine.wall) > 25_000 {
                let since = farSince ?? machine.uptime
                farSince = since
                // A step over to the other side begins a doubt of its own; it takes two in a row to double the time.
                #expect(machine.uptime - since < 60_000, "seed \(seed), reading \(reading)")
            } else {
                farSince = nil
                #expect(stamp >= machine.wall, "seed \(seed), reading \(reading)")
            }
            #expect((0...7 * Machine.hour).contains(stamp - believed), "seed \(seed), reading \(reading)")
            #expect(
                stamp >= before.stampMilliseconds || machine.moment.stampEpoch > before.stampEpoch,
                "seed \(seed), reading \(reading): it goes back by a step only that is told")
        }
    }

    @Test(arguments: UInt64(1)...20) func noReadingOfAClockOverflowsTheEstimate(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max / 1_000_000, .max - 1, .max]
        var estimate = WallEstimate(
            wallMilliseconds: extremes.randomElement(using: &random)!,
            monotonicNanoseconds: extremes.randomElement(using: &random)!)
        var log = LogClock(at: Moment(wallMilliseconds: .max, monotonicNanoseconds: .min))
        for _ in 0..<500 {
            let wall =
                random.next() % 2 == 0 ? extremes.randomElement(using: &random)! : Int64(bitPattern: random.next())
            let monotonic = extremes.randomElement(using: &random)!
            let moment = estimate.read(
                wallMilliseconds: wall, monotonicNanoseconds: monotonic,
                provenOrigin: random.next() % 2 == 0 ? nil : extremes.randomElement(using: &random))
            #expect((0...7_258_118_400_000).contains(moment.wallMilliseconds))
            #expect((0...7_258_118_400_000).contains(moment.stampMilliseconds))
            let before = log.now
            #expect(log.advance(to: moment) >= before)
        }
    }
}
