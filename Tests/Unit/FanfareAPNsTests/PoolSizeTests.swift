import FanfareFanOut
import FanfareModel
import Foundation
import Testing

@testable import FanfareAPNs

/// Size of a pool of connections: by audience, distance and time.
@Suite struct PoolSizeTests {
    private var random = SplitMix64(seed: 1)

    static func path(_ milliseconds: Int64, width: Int = 1000) -> ConnectionPath {
        ConnectionPath(roundTrip: .milliseconds(milliseconds), width: width, streams: 1000, requestSize: .bytes(430))
    }

    /// Opens all connections that the pool wants.
    private mutating func grow(
        _ size: inout PoolSize, to demand: Int, over path: ConnectionPath, at now: MonotonicTime
    ) {
        size.note(demand: demand, at: now)
        size.review(path, at: now)
        while size.isGrowing(at: now) { size.grow() }
    }

    // MARK: Demand

    @Test(arguments: [
        (1, 1_000_000, 2), (20, 1_000_000, 23), (50, 1_000_000, 64), (50, 100_000, 20), (50, 10_000, 2),
        (100, 10_000, 21), (101, 10_000, 21), (100, 100_000, 64), (200, 100, 2), (200, 1_000_000, 64),
    ])
    func aPoolIsLargerForDistanceAndDemand(milliseconds: Int64, demand: Int, connections: Int) {
        let needed = PoolSize.needed(for: demand, over: Self.path(milliseconds), PoolSize.Limits())
        #expect(needed == connections)
    }

    /// Returns the requests carried in round trips, as TCP and the peer admit them; of a part of a round trip, its share.
    private static func carried(by connections: Int, over path: ConnectionPath, roundTrips: Double) -> Double {
        (0..<Int(roundTrips.rounded(.up))).reduce(0) { sum, round in
            let window = min(
                Double(path.width), Double(max(1, 14_600 / path.requestSize.bytes)) * pow(2, Double(round)))
            return sum + Double(connections) * window * min(1, roundTrips - Double(round))
        }
    }

    @Test(arguments: 0..<20) func neededConnectionsCarryTheDemandAndOneLessDoesNot(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            let path = ConnectionPath(
                roundTrip: .milliseconds(Int64.random(in: 1...400, using: &random)),
                width: Int.random(in: 1...1000, using: &random), streams: 1000,
                requestSize: .bytes(Int.random(in: 100...5000, using: &random)))
            let demand = Int.random(in: 1...200_000, using: &random)
            let limits = PoolSize.Limits(least: 1, most: 256)
            let needed = PoolSize.needed(for: demand, over: path, limits)
            // A quarter of two seconds, less the round trip of the last answer.
            let roundTrips = max(1, Duration.milliseconds(500) / path.roundTrip - 1)
            // Sums of the same parts in another order differ in their last digits.
            let (least, most) = (Double(demand) * (1 - 1e-9), Double(demand) * (1 + 1e-9))
            #expect(
                needed == 256 || Self.carried(by: needed, over: path, roundTrips: roundTrips) >= least,
                "\(path) \(demand)")
            #expect(
                needed == 1 || Self.carried(by: needed - 1, over: path, roundTrips: roundTrips) < most,
                "\(path) \(demand)")
        }
    }

    /// A millisecond more of distance never takes many connections more: the number would rise with the distance's own changes, and fall
    /// again when they are over.
    @Test(arguments: [10_000, 100_000, 1_000_000]) func aLittleMoreDistanceTakesFewMoreConnections(demand: Int) {
        let limits = PoolSize.Limits(least: 1, most: 100_000)
        func needed(_ milliseconds: Int64) -> Int {
            PoolSize.needed(for: demand, over: Self.path(milliseconds), limits)
        }
        for milliseconds in Int64(5)..<400 {
            let (near, far) = (needed(milliseconds), needed(milliseconds + 1))
            #expect(far >= near, "\(milliseconds) ms: \(near), then \(far)")
            // In the first round trips the connection is narrow, so a part of a round trip is worth most there.
            #expect(Double(far) <= Double(near) * 1.1 + 1, "\(milliseconds) ms: \(near), then \(far)")
        }
    }

    @Test func poolSizeIsWithinItsLimitsForAnyNumbers() {
        for demand in [Int.min / 2, -1, 0, 1, 1 << 40] {
            for roundTrip in [Int64.min / 2, 0, 1, Int64.max] {
                for width in [0, 1, Int.max / 4] {
                    let path = ConnectionPath(
                        roundTrip: .nanoseconds(roundTrip), width: width, streams: 0, requestSize: .zero)
                    #expect((2...64).contains(PoolSize.needed(for: demand, over: path, PoolSize.Limits())))
                }
            }
        }
    }

    @Test mutating func aNumberThatSomebodyHasChosenStays() {
        var size = PoolSize(.exactly(3))
        grow(&size, to: 10_000_000, over: Self.path(200), at: .after(.zero))
        let futile = size.fill(rate: 1000, over: Self.path(200), at: .after(.nanoseconds(1)), using: &random)
        #expect(size.count == 3 && futile == 0 && !size.shrinks(at: MonotonicTime(nanoseconds: .max / 2)))
        let gone = size.refuse()
        #expect(!gone)
    }

    /// The audience has grown since the last goal, and the next goal shows that more connections bring nothing.
    @Test mutating func plannedConnectionsAreNotClosedForBringingNothing() {
        var size = PoolSize(PoolSize.Limits())
        grow(&size, to: 250_000, over: Self.path(50), at: .after(.zero))
        let before = size.count
        for second in 1...8 {
            _ = size.fill(rate: 500_000, over: Self.path(50), at: .after(.seconds(second)), using: &random)
        }
        grow(&size, to: 400_000, over: Self.path(50), at: .after(.seconds(10)))
        #expect(before < 64 && size.count == 64)
        for second in 20..<32 {
            let futile = size.fill(rate: 500_000, over: Self.path(50), at: .after(.seconds(second)), using: &random)
            #expect(futile == 0 && size.count == 64)
        }
        #expect(size.isStopped(at: .after(.seconds(33))))
    }

    // MARK: An evening

    /// People join from six o'clock on, most of them before the kick-off. Goals are due to all at once, and the round trip is longer at
    /// times. At midnight the people leave.
    @Test(arguments: 0..<20) func overAnEveningConnectionsComeOnceAndLeaveOnce(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var size = PoolSize(PoolSize.Limits())
        var turns = 0
        var opened = 0
        var isRising = true
        var before = size.count
        for second in 0..<(12 * 3600) {
            let now = MonotonicTime.after(.seconds(second))
            let present = second < 6 * 3600 ? min(1, Double(second) / 7200) : 0
            let demand = Int(present * 400_000)
            let roundTrip = Int64.random(in: 45...60, using: &random)
            size.note(demand: demand, at: now)
            size.review(Self.path(roundTrip), at: now)
            if size.shrinks(at: now) {}
            if size.isGrowing(at: now) {
                size.grow()
                opened += 1
            }
            if (size.count > before) != isRising, size.count != before {
                turns += 1
                isRising.toggle()
            }
            before = size.count
            #expect(size.count <= 64)
        }
        #expect(turns == 1, "up, and down once")
        #expect(opened <= 62)
        #expect(size.count == 2)
    }

    @Test mutating func aQuarterOfAnHourWithoutAnythingClosesNothing() {
        var size = PoolSize(PoolSize.Limits())
        grow(&size, to: 100_000, over: Self.path(50), at: .after(.zero))
        let count = size.count
        for second in stride(from: Int64(1), to: 900, by: 1) {
            size.note(demand: 0, at: .after(.seconds(second)))
            size.review(Self.path(50), at: .after(.seconds(second)))
            let closes = size.shrinks(at: .after(.seconds(second)))
            #expect(!closes)
        }
        #expect(size.count == count)
    }

    // MARK: Peers whose throughput has a limit

    /// Simulates a peer with a fixed throughput: more connections only make each wait longer, and the measured time is then that of the
    /// queue. There are four measurements a second for hours, each up to a tenth off.
    private static func throttled(
        _ pushesPerSecond: Double, for hours: Int, seed: UInt64
    ) -> (before: Int, most: Int, last: Int) {
        var random = SplitMix64(seed: seed)
        var size = PoolSize(PoolSize.Limits())
        size.note(demand: 10_000, at: .after(.zero))
        size.review(path(50), at: .after(.zero))
        while size.isGrowing(at: .after(.zero)) { size.grow() }
        let before = size.count
        var most = before
        for step in 1..<(hours * 3600 * 4) {
            let now = MonotonicTime.after(.milliseconds(250) * step)
            let rate = pushesPerSecond * Double.random(in: 0.9...1.1, using: &random)
            size.note(demand: 10_000, at: now)
            size.review(path(50), at: now)
            if size.fill(rate: rate, over: path(50), at: now, using: &random) > 0 { continue }
            if size.isGrowing(at: now) { size.grow() }
            most = max(most, size.count)
        }
        return (before, most, size.count)
    }

    @Test(arguments: 0..<10) func aPeerThatThrottlesGetsNoMoreConnections(seed: UInt64) {
        let (before, most, last) = Self.throttled(20_000, for: 4, seed: seed)
        #expect(most <= before + 2 && last <= before + 1, "\(before), then \(most), and \(last) in the end")
    }

    @Test(arguments: 0..<10) func aPoolGrowsWhereConnectionsAreTheLimit(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var size = PoolSize(PoolSize.Limits())
        size.note(demand: 10_000, at: .after(.zero))
        size.review(Self.path(20), at: .after(.zero))
        var most = 0
        for step in 1..<(4 * 1200) {
            let now = MonotonicTime.after(.milliseconds(250) * step)
            let rate = 10_000 * Double(size.count) * Double.random(in: 0.9...1.1, using: &random)
            _ = size.fill(rate: rate, over: Self.path(20), at: now, using: &random)
            if size.isGrowing(at: now) { size.grow() }
            most = max(most, size.count)
        }
        #expect(most == 64, "\(most)")
    }

    /// A state of ten times the bytes is carried far more slowly, and so is any over a longer way. Connections that come with it are not to
    /// blame: they are kept, and more are tried.
    @Test(arguments: [true, false]) func anotherPathIsNoReasonToStopGrowing(isLonger: Bool) {
        var random = SplitMix64(seed: 7)
        var size = PoolSize(PoolSize.Limits())
        var path = Self.path(20)
        size.note(demand: 10_000, at: .after(.zero))
        for step in 1..<240 {
            let now = MonotonicTime.after(.milliseconds(250) * step)
            if step == 80 {
                if isLonger { path.roundTrip = path.roundTrip * 10 } else { path.requestSize = path.requestSize * 10 }
            }
            size.review(path, at: now)
            let rate = (step < 80 ? 10_000 : 1000) * Double(size.count) * Double.random(in: 0.9...1.1, using: &random)
            let futile = size.fill(rate: rate, over: path, at: now, using: &random)
            #expect(futile == 0 && !size.isStopped(at: now), "step \(step)")
            if size.isGrowing(at: now) { size.grow() }
        }
        #expect(size.count > 30, "\(size.count)")
    }

    /// Goals come every twenty minutes and are over in two seconds. The peer has a fixed throughput; its distance is another one with each goal.
    @Test(arguments: 0..<10, [100, 130]) func goalsFarApartDoNotAddUpConnections(seed: UInt64, other: Int64) {
        var random = SplitMix64(seed: seed)
        var size = PoolSize(PoolSize.Limits(most: 256))
        size.note(demand: 10_000, at: .after(.zero))
        size.review(Self.path(other), at: .after(.zero))
        while size.isGrowing(at: .after(.zero)) { size.grow() }
        let planned = size.count
        for goal in 1...60 as ClosedRange<Int64> {
            let path = Self.path(goal % 2 == 0 ? 100 : other)
            for step in 0..<8 {
                let now = MonotonicTime.after(.seconds(goal * 1200) + .milliseconds(250) * step)
                size.note(demand: 10_000, at: now)
                size.review(path, at: now)
                let rate = 20_000 * Double.random(in: 0.9...1.1, using: &random)
                if size.fill(rate: rate, over: path, at: now, using: &random) > 0 { continue }
                if size.isGrowing(at: now) { size.grow() }
            }
            #expect(size.count <= planned * 5 / 4 + 2, "goal \(goal): \(planned) planned, \(size.count) open")
        }
    }

    /// Connections that brought nothing under load say nothing about an audience that has grown since.
    @Test mutating func connectionsInVainHoldBackNoPlannedOnes() {
        var size = PoolSize(PoolSize.Limits())
        for step in 1..<400 {
            let now = MonotonicTime.after(.milliseconds(250) * step)
            if size.fill(rate: 20_000, over: Self.path(50), at: now, using: &random) > 0 { break }
            if size.isGrowing(at: now) { size.grow() }
        }
        #expect(size.isStopped(at: .after(.seconds(10))))
        grow(&size, to: 1_000_000, over: Self.path(50), at: .after(.seconds(10)))
        #expect(size.count == 64)
    }

    /// The plan is four connections, but the load needs twenty: none is closed while it lasts.
    @Test mutating func noConnectionIsClosedInTheMidstOfLoad() {
        var size = PoolSize(PoolSize.Limits())
        for step in 1..<(4 * 3600) {
            let now = MonotonicTime.after(.milliseconds(250) * step)
            size.note(demand: 100, at: now)
            size.review(Self.path(50), at: now)
            _ = size.fill(rate: 10_000 * Double(min(size.count, 20)), over: Self.path(50), at: now, using: &random)
            let closes = size.shrinks(at: now)
            #expect(!closes)
            if size.isGrowing(at: now), size.count < 20 { size.grow() }
        }
        #expect(size.count == 20)
    }
}

@Suite struct RoundTripTests {
    private var roundTrip = RoundTrip(memory: .seconds(10))

    @Test mutating func roundTripIsTheLeastOfLately() {
        for (time, now) in [(50, 0), (40, 1), (90, 2)] { roundTrip.note(.nanoseconds(time), at: .after(.seconds(now))) }
        #expect(roundTrip.least == .nanoseconds(40))
    }

    /// A longer round trip is noticed after twenty seconds.
    @Test mutating func roundTripsOfLongAgoCountNoMore() {
        roundTrip.note(.nanoseconds(40), at: .after(.zero))
        for now in 1...25 { roundTrip.note(.nanoseconds(90), at: .after(.seconds(now))) }
        #expect(roundTrip.least == .nanoseconds(90))
    }

    @Test mutating func roundTripStaysTheLastKnownDuringASilence() {
        roundTrip.note(.nanoseconds(40), at: .after(.zero))
        #expect(roundTrip.least == .nanoseconds(40))
        roundTrip.note(.nanoseconds(70), at: .after(.seconds(3600)))
        #expect(roundTrip.least == .nanoseconds(70))
    }

    @Test mutating func aRoundTripIsOfThePresentPeriodOrTheOneBefore() {
        var random = SplitMix64(seed: 3)
        var now = MonotonicTime.after(.zero)
        #expect(roundTrip.violation() == nil)
        for step in 0..<1000 {
            now += .milliseconds(Int.random(in: 0...5000, using: &random))
            roundTrip.note(.milliseconds(Int.random(in: -1...500, using: &random)), at: now)
            #expect(roundTrip.violation() == nil && roundTrip.notedAt == now, "step \(step)")
        }
    }
}

/// The size, and the replacements of connections, over an evening.
@Suite struct PoolEveningTests {
    /// Each goal of the evening exceeds the plan: all connections are full for three seconds. Connections opened for one goal are
    /// there for the next one, and none is closed between them. Once an hour all get a GOAWAY, and for ten minutes each new one gets it
    /// after a second.
    @Test(arguments: 0..<20) func overAnEveningOfGoalsConnectionsComeOnceAndLeaveOnce(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var size = PoolSize(PoolSize.Limits())
        var (turns, opened, isRising, before) = (0, 0, true, size.count)
        var replacements = Replacements()
        // The time of each connection's opening, past or planned; and the number of handshakes in each minute.
        var opens: [MonotonicTime] = []
        var handshakes: [Int: Int] = [:]
        func open(at time: MonotonicTime) -> MonotonicTime {
            handshakes[Int(time.nanoseconds / 60_000_000_000), default: 0] += 1
            return time
        }
        let (stepsInAnHour, illMinutes) = (4 * 3600, 250..<260)
        for step in 0..<(12 * stepsInAnHour) {
            let now = MonotonicTime.after(.milliseconds(250) * step)
            let hour = Double(step) / Double(stepsInAnHour)
            let isMatch = (2..<6).contains(hour)
            size.note(demand: hour < 6 ? Int(min(1, hour / 2) * 30_000) : 0, at: now)
            size.review(PoolSizeTests.path(Int64.random(in: 45...60, using: &random)), at: now)
            if size.shrinks(at: now) {}
            if isMatch, step % (20 * 60 * 4) < 12 {
                let rate = 10_000 * Double(size.count) * Double.random(in: 0.9...1.1, using: &random)
                _ = size.fill(rate: rate, over: PoolSizeTests.path(50), at: now, using: &random)
            }
            if size.isGrowing(at: now) {
                size.grow()
                opened += 1
            }
            while opens.count < size.count { opens.append(open(at: now)) }
            opens.removeLast(opens.count - size.count)
            let isIll = illMinutes.contains(step / 240)
            for index in opens.indices where isIll && opens[index] + .seconds(1) <= now || step % stepsInAnHour == 1 {
                opens[index] = open(at: replacements.next(after: .zero, slots: size.count, pools: 1, at: now))
            }
            if (size.count > before) != isRising, size.count != before {
                turns += 1
                isRising.toggle()
            }
            before = size.count
            if let violation = size.violation() { Issue.record("step \(step), seed \(seed): \(violation)") }
        }
        #expect(turns == 1, "up, and down once: seed \(seed)")
        #expect(opened <= 62)
        for (minute, count) in handshakes {
            let mayBeTold = minute % 60 == 0 || (illMinutes.lowerBound...illMinutes.upperBound).contains(minute)
            #expect(count <= (mayBeTold ? 600 + 2 * 64 : 6), "minute \(minute): seed \(seed)")
        }
        #expect(illMinutes.allSatisfy { handshakes[$0] ?? 0 > 500 }, "those that it ends come back")
        #expect(size.count == 2)
    }
}
