import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct StampTests {
    private static func stage() -> EmbeddedShard {
        EmbeddedShard(at: Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1))
    }

    @Test func stampsAheadOfTheClockWaitForTheirCeiling() {
        let stage = Self.stage()
        let second = stage.moment.wallSeconds
        stage.moment.stamps = StampBounds(floor: 0, ceiling: second + 3)
        stage.shard.reserveStamps(beyond: second + 3)
        stage.apply(.follow(ActivityID(1), .topic(stage.topic), token: [1]))
        #expect(stage.stamps(of: 1...8) == Array(second...second + 3))
        // The shard has asked for more, once.
        #expect(stage.stampRequests() == [second + 30])
        #expect(stage.stampRequests() == [])
        // The newest version leaves once the ceiling is durable, or the clock has come so far.
        stage.pass(seconds: 1)
        stage.shard.wakeDue(at: stage.moment)
        #expect(stage.stamps() == [])
        stage.moment.stamps.ceiling = second + 30
        stage.pass(seconds: 1)
        stage.shard.wakeDue(at: stage.moment)
        #expect(stage.stamps() == [second + 4])
        #expect(stage.shard.isQuiet)
    }

    /// The time of stamps needs no ceiling: a disk that takes nothing keeps no push.
    @Test func stampsThatFollowTheClockWaitForNothing() {
        let stage = Self.stage()
        stage.moment.stamps = StampBounds(floor: 0, ceiling: 5)
        stage.shard.reserveStamps(beyond: 5)
        stage.apply(.follow(ActivityID(1), .topic(stage.topic), token: [1]))
        for version in UInt64(1)...20 {
            #expect(stage.stamps(of: version...version) == [stage.moment.wallSeconds])
            stage.pass(seconds: 1)
        }
        // One request, however many stamps there have been since the last look.
        #expect(stage.stampRequests() == [stage.moment.wallSeconds + 30])
        // While nothing is sent, one each quarter of a minute.
        var count = 0
        for _ in 0..<600 {
            stage.moment.wallMilliseconds += 100
            count += stage.stampRequests().count
        }
        #expect(count == 3)
    }

    @Test(arguments: [1, 3600, 7 * 3600, 7 * 3600 + 1, 1_000_000_000])
    func stampsBeginBehindThoseOfTheProcessBefore(ahead: Int64) {
        let stage = Self.stage()
        let floor = stage.moment.wallSeconds + ahead
        stage.moment.stamps = StampBounds(floor: floor, ceiling: floor + 10)
        stage.shard.reserveStamps(beyond: floor + 10)
        for id in UInt64(1)...2 { stage.apply(.follow(ActivityID(id), .topic(stage.topic), token: [UInt8(id)])) }
        // Devices drop what is more than eight hours ahead: a clock was wrong then.
        let first = ahead <= 7 * 3600 ? floor : stage.moment.wallSeconds
        #expect(stage.stamps(of: 1...3) == [first, first, first + 1, first + 1, first + 2, first + 2])
        // Once the clock has come there, it leads.
        stage.pass(seconds: ahead + 60)
        let now = stage.moment.wallSeconds
        #expect(stage.stamps(of: 4...4) == [now, now])
    }

    /// Limits and dates count in stamps, and the clock is to catch up.
    @Test func theLeastStampRisesSlowerThanTheClock() {
        let ceiling = StampCeiling(
            StampBounds(after: 1_790_003_600, at: FeedTime(seconds: 1_790_000_000)),
            at: MonotonicTime(nanoseconds: 5))
        var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 5)
        var last: Int64 = 1_790_003_600
        for minute in 0..<1200 as Range<Int64> {
            // Not beyond what is durable.
            if minute > 0 { ceiling.raise(to: last + 60) }
            moment.stamps = ceiling.bounds(at: moment.monotonic)
            #expect(moment.stampSecond > last)
            last = moment.stampSecond
            let lead = max(0, 3601 - minute * 6)
            #expect(moment.stampSecond - moment.wallSeconds == lead, "minute \(minute)")
            moment.wallMilliseconds += 60_000
            moment.monotonic += .seconds(60)
        }
    }

    /// Each version gets a second of its own as its stamp, and none waits for the clock.
    @Test func aHundredVersionsInOneSecondAllGoOutAtOnce() {
        let stage = Self.stage()
        stage.apply(.follow(ActivityID(1), .topic(stage.topic), token: [1]))
        var stamps: [Int64] = []
        for version in UInt64(1)...100 {
            stamps += stage.stamps(of: version...version)
            #expect(stage.shard.violatedInvariant() == nil)
        }
        let second = stage.moment.wallSeconds
        #expect(stamps == Array(second..<second + 100))
        #expect(stage.shard.isQuiet)
    }

    /// An audience that takes ten seconds to sweep gets ten versions a second: each member gets a tenth of them, each with a stamp of its own,
    /// so no push waits for the clock.
    @Test func aSlowSweepOfFastVersionsNeverWaitsForTheClock() {
        let stage = Self.stage()
        for member in UInt64(0)..<100 { stage.apply(.follow(ActivityID(member), .topic(stage.topic), token: [1])) }
        var last: [ActivitySlot: Int64] = [:]
        for version in UInt64(1)...2000 {
            stage.publish(Publication.test(version, kind: .generic))
            let pushes = stage.pull(limit: 1)
            #expect(pushes.count == 1)
            for push in pushes {
                #expect(push.payload.stamp > last[push.slot] ?? 0)
                #expect(push.payload.stamp <= stage.moment.wallSeconds + 1)
                last[push.slot] = push.payload.stamp
            }
            stage.answer(pushes)
            stage.pass(.milliseconds(100))
        }
        #expect(last.count == 100)
    }
}

extension EmbeddedShard {
    /// Publishes versions, each in the second of the one before, and returns the stamps of their pushes.
    fileprivate func stamps(of versions: ClosedRange<UInt64>) -> [Int64] {
        versions.flatMap { version in
            publish(Publication.test(version, kind: .generic))
            return stamps()
        }
    }

    /// Returns the stamps of the pushes that are due, which are accepted.
    fileprivate func stamps() -> [Int64] {
        let pushes = pull()
        for push in pushes { answer([push]) }
        return pushes.map(\.payload.stamp)
    }

    /// Returns the stamp ceilings that the shard has asked for since the last call.
    fileprivate func stampRequests() -> [Int64] {
        shard.requestStamps(at: moment)
        return feedback().compactMap { if case .stampsReach(let ceiling) = $0 { ceiling } else { nil } }
    }
}
