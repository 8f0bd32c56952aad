import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct StampTests {
    private func publication(version: UInt32) -> ShardCommand {
        .publish(
            Publication(
                serial: UInt64(version), topicID: TopicID("match"), topicKind: .generic,
                version: version, event: .update, state: EncodedState(["version": .int(Int64(version))]),
                priority: .immediate, alert: nil, staleAfter: nil, dismissAfter: nil))
    }

    /// Publishes versions, each in the second of the one before, and returns the stamps of their pushes.
    private func stamps(of versions: ClosedRange<UInt32>, in shard: Shard, at moment: Moment) -> [Int64] {
        versions.flatMap { version in
            shard.apply(publication(version: version), at: moment)
            return pushes(of: shard, at: moment)
        }
    }

    private func pushes(of shard: Shard, at moment: Moment) -> [Int64] {
        var batch = DeliveryBatch()
        shard.pull(limit: 10, at: moment, into: &batch)
        for delivery in batch.deliveries {
            shard.complete(
                [Completion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted)], at: moment)
        }
        return batch.deliveries.map { batch.payload(of: $0).stamp }
    }

    @Test func stampsAheadOfTheClockWaitForTheirMark() {
        let shard = Shard()
        var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)
        let second = moment.wallSeconds
        moment.stamps = StampBounds(floor: 0, mark: second + 3)
        shard.reserveStamps(beyond: second + 3)
        shard.apply(.follow(ActivityID(1), .topic(TopicID("match")), token: [1]), at: moment)
        #expect(stamps(of: 1...8, in: shard, at: moment) == Array(second...second + 3))
        // The shard has asked for more, once.
        #expect(stampRequests(of: shard, at: moment) == [second + 30])
        #expect(stampRequests(of: shard, at: moment) == [])
        // The newest version leaves once the mark is durable, or the clock has come so far.
        moment.monotonic += .seconds(1)
        moment.wallMilliseconds += 1000
        shard.wakeDue(at: moment)
        #expect(pushes(of: shard, at: moment) == [])
        moment.stamps.mark = second + 30
        moment.monotonic += .seconds(1)
        moment.wallMilliseconds += 1000
        shard.wakeDue(at: moment)
        #expect(pushes(of: shard, at: moment) == [second + 4])
        #expect(shard.isQuiet)
    }

    /// The time of stamps needs no mark: a disk that takes nothing keeps no push.
    @Test func stampsThatFollowTheClockWaitForNothing() {
        let shard = Shard()
        var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)
        moment.stamps = StampBounds(floor: 0, mark: 5)
        shard.reserveStamps(beyond: 5)
        shard.apply(.follow(ActivityID(1), .topic(TopicID("match")), token: [1]), at: moment)
        for version in UInt32(1)...20 {
            #expect(stamps(of: version...version, in: shard, at: moment) == [moment.wallSeconds])
            moment.wallMilliseconds += 1000
            moment.monotonic += .seconds(1)
        }
        // One request, however many stamps there have been since the last look.
        #expect(stampRequests(of: shard, at: moment) == [moment.wallSeconds + 30])
        // While nothing is sent, one each quarter of a minute.
        var count = 0
        for _ in 0..<600 {
            moment.wallMilliseconds += 100
            count += stampRequests(of: shard, at: moment).count
        }
        #expect(count == 3)
    }

    @Test(arguments: [1, 3600, 7 * 3600, 7 * 3600 + 1, 1_000_000_000])
    func stampsBeginBehindThoseOfTheProcessBefore(ahead: Int64) {
        let shard = Shard()
        var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)
        let floor = moment.wallSeconds + ahead
        moment.stamps = StampBounds(floor: floor, mark: floor + 10)
        shard.reserveStamps(beyond: floor + 10)
        for id in UInt64(1)...2 {
            shard.apply(.follow(ActivityID(id), .topic(TopicID("match")), token: [UInt8(id)]), at: moment)
        }
        // Devices drop what is more than eight hours ahead: a clock was wrong then.
        let first = ahead <= 7 * 3600 ? floor : moment.wallSeconds
        #expect(stamps(of: 1...3, in: shard, at: moment) == [first, first, first + 1, first + 1, first + 2, first + 2])
        // Once the clock has come there, it leads.
        moment.wallMilliseconds += ahead * 1000 + 60_000
        moment.monotonic += .seconds(ahead + 60)
        #expect(stamps(of: 4...4, in: shard, at: moment) == [moment.wallSeconds, moment.wallSeconds])
    }

    /// Limits and dates count in stamps, and the clock is to catch up.
    @Test func theLeastStampRisesSlowerThanTheClock() {
        let mark = StampMark(
            StampBounds(after: 1_790_003_600, at: FeedTime(seconds: 1_790_000_000)),
            at: MonotonicTime(nanoseconds: 5))
        var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 5)
        var last: Int64 = 1_790_003_600
        for minute in 0..<1200 as Range<Int64> {
            // Not beyond what is durable.
            if minute > 0 { mark.raise(to: last + 60) }
            moment.stamps = mark.bounds(at: moment.monotonic)
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
        let shard = Shard()
        let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)
        shard.apply(.follow(ActivityID(1), .topic(TopicID("match")), token: [1]), at: moment)
        var stamps: [Int64] = []
        for version in UInt32(1)...100 {
            shard.apply(publication(version: version), at: moment)
            var batch = DeliveryBatch()
            shard.pull(limit: 10, at: moment, into: &batch)
            for delivery in batch.deliveries {
                stamps.append(batch.payload(of: delivery).stamp)
                shard.complete(
                    [Completion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted)], at: moment)
            }
            #expect(shard.violatedInvariant() == nil)
        }
        #expect(stamps == Array(moment.wallSeconds..<moment.wallSeconds + 100))
        #expect(shard.isQuiet)
    }

    /// An audience that takes ten seconds to sweep gets ten versions a second: each member gets a tenth of them, each with a stamp of its own,
    /// so no push waits for the clock.
    @Test func aSlowSweepOfFastVersionsNeverWaitsForTheClock() {
        let shard = Shard()
        var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)
        for member in UInt64(0)..<100 {
            shard.apply(.follow(ActivityID(member), .topic(TopicID("match")), token: [1]), at: moment)
        }
        var last: [ActivitySlot: Int64] = [:]
        for version in UInt32(1)...2000 {
            shard.apply(publication(version: version), at: moment)
            var batch = DeliveryBatch()
            shard.pull(limit: 1, at: moment, into: &batch)
            #expect(batch.deliveries.count == 1)
            for delivery in batch.deliveries {
                let stamp = batch.payload(of: delivery).stamp
                #expect(stamp > last[delivery.slot] ?? 0)
                #expect(stamp <= moment.wallSeconds + 1)
                last[delivery.slot] = stamp
                shard.complete(
                    [Completion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted)], at: moment)
            }
            moment.wallMilliseconds += 100
            moment.monotonic += .milliseconds(100)
        }
        #expect(last.count == 100)
    }
}

/// Returns the marks of stamps that a shard has asked for since the last call.
private func stampRequests(of shard: Shard, at moment: Moment) -> [Int64] {
    shard.requestStamps(at: moment)
    let ring = OneToOneRing<ShardFeedback>(capacity: 1024)
    var producer = ring.takeProducer()
    var consumer = ring.takeConsumer()
    _ = shard.sendFeedback(to: &producer)
    var marks: [Int64] = []
    while let fact = consumer.pop() { if case .stampsReach(let mark) = fact { marks.append(mark) } }
    return marks
}
