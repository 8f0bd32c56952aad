import FanfareModel
import Testing

@testable import Fanfare

@Suite struct JoinTimesTests {
    /// Returns the log time that many seconds after the first entry's.
    private static func time(_ second: Int64) -> FeedTime { FeedTime(seconds: 1_790_000_000 + second) }

    private static func second(_ time: FeedTime) -> Int64 { time.milliseconds / 1000 - 1_790_000_000 }

    /// Returns what the shards are told at each of these log times, in seconds: before when all joiners were sent, and when the last one was.
    private static func told(_ times: inout JoinTimes, at seconds: Int64...) -> [[Int64]?] {
        seconds.map { now in times.next(at: time(now)).map { [second($0.before), second($0.sent)] } }
    }

    @Test func shardsAreToldNothingBeforeSomebodyJoins() {
        var times = JoinTimes()
        let told = Self.told(&times, at: 0, 60)
        #expect(told == [nil, nil])
    }

    /// Others may join at the same log time, so the shards know all joiners only once log time has gone on.
    @Test func shardsAreToldAgainOnceLogTimeIsPastTheLastJoiner() {
        var times = JoinTimes()
        times.noteSent(at: Self.time(10))
        let told = Self.told(&times, at: 10, 10, 11, 12)
        #expect(told == [[10, 10], nil, [11, 10], nil])
    }

    @Test func shardsAreToldWhenTheLastOfSeveralJoinersWasSent() {
        var times = JoinTimes()
        for second in [Int64(10), 12, 12, 15] { times.noteSent(at: Self.time(second)) }
        let told = Self.told(&times, at: 15, 16, 17)
        #expect(told == [[15, 15], [16, 15], nil])
    }

    @Test func aJoinerThatIsStillToBeSentHoldsTheTimeBack() {
        var times = JoinTimes()
        times.noteSent(at: Self.time(10))
        times.pending = Self.time(5)
        let held = Self.told(&times, at: 20, 30)
        #expect(held == [[5, 10], nil])
        times.pending = Self.time(8)
        let moved = Self.told(&times, at: 30, 40)
        #expect(moved == [[8, 10], nil])
        times.pending = nil
        let free = Self.told(&times, at: 40, 50)
        #expect(free == [[40, 10], nil])
    }

    /// A joiner on its way is not among those that were sent, and nothing is known of its time before it is sent.
    @Test func aJoinerOnItsWayLeavesNothingToTellOnceAllOthersAreKnown() {
        var times = JoinTimes()
        times.noteSent(at: Self.time(10))
        times.pending = Self.time(15)
        let told = Self.told(&times, at: 20, 30)
        #expect(told == [[15, 10], nil])
        times.noteSent(at: Self.time(30))
        times.pending = nil
        let later = Self.told(&times, at: 30, 31, 32)
        #expect(later == [[30, 30], [31, 30], nil])
    }

    @Test func aJoinerOnItsWayDoesNotPutTheTimeAheadOfLogTime() {
        var times = JoinTimes()
        times.noteSent(at: Self.time(10))
        times.pending = Self.time(99)
        let told = Self.told(&times, at: 20)
        #expect(told == [[20, 10]])
    }

    /// A shard that knows of a later time has no use for an earlier one, and still waits for the time of the last joiner.
    @Test func aTimeThatIsToldNeverGoesBackAndTheLastJoinerIsNotLost() {
        var times = JoinTimes()
        times.noteSent(at: Self.time(10))
        let first = Self.told(&times, at: 20)
        times.noteSent(at: Self.time(20))
        times.pending = Self.time(15)
        let held = Self.told(&times, at: 20, 21)
        times.pending = nil
        let later = Self.told(&times, at: 21, 22)
        #expect(first == [[20, 10]] && held == [nil, nil] && later == [[21, 20], nil])
    }

    /// Joiners are sent and are on their way, while log time goes on.
    @Test(arguments: 0..<20 as Range<UInt64>) func noJoinerIsSentBeforeATimeThatTheShardsKnow(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var times = JoinTimes()
        var now: Int64 = 100
        for step in 0..<1000 {
            now += Int64.random(in: 0...2, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: times.noteSent(at: Self.time(now))
            case 1: times.pending = random.chance(0.5) ? nil : Self.time(now - Int64.random(in: 0...9, using: &random))
            default: _ = times.next(at: Self.time(now))
            }
            #expect(times.violation() == nil, "seed \(seed), step \(step)")
        }
        times.pending = nil
        times.noteSent(at: Self.time(now + 1))
        _ = times.next(at: Self.time(now + 2))
        times.noteSent(at: Self.time(now + 1))
        #expect(times.violation() != nil, "log time has gone back")
    }

    /// Log time begins there: nobody can have joined before.
    @Test func theFirstPlausibleTimeIsNotTold() {
        var times = JoinTimes()
        let first = FeedTime.plausible.lowerBound
        times.noteSent(at: first)
        let atOnce = times.next(at: first)?.before
        let later = times.next(at: first + .milliseconds(1))?.before
        #expect(atOnce == nil && later == first + .milliseconds(1))
    }
}
