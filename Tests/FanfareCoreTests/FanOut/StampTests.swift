import Testing

@testable import FanfareCore

@Suite struct StampTests {
    private func publication(version: UInt32) -> ShardCommand {
        .publish(
            Publication(
                serial: UInt64(version), topicID: TopicID("match"), topicKind: .generic,
                version: version, event: .update, state: EncodedState(["version": .int(Int64(version))]),
                priority: .immediate, alert: nil, staleAfter: nil, dismissAfter: nil))
    }

    /// Every version takes a second of its own; a minute ahead of the clock the audience waits, newer states coalesce, and the
    /// newest goes out when the clock has come near enough.
    @Test func waitsWhenStampsRunAMinuteAhead() throws {
        let shard = Shard()
        var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)
        shard.apply(.follow(ActivityID(1), .topic(TopicID("match")), token: [1]), at: moment)
        var stamps: [Int64] = []
        func pull() -> Payload? {
            var batch = DeliveryBatch()
            shard.pull(limit: 10, at: moment, into: &batch)
            guard let delivery = batch.deliveries.first else { return nil }
            shard.complete(
                [Completion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted)], at: moment)
            return batch.payload(of: delivery)
        }
        for version in UInt32(1)...100 {
            shard.apply(publication(version: version), at: moment)
            if let payload = pull() { stamps.append(payload.stamp) }
            #expect(shard.violatedInvariant() == nil)
        }
        #expect(stamps == Array(moment.wallSeconds...moment.wallSeconds + Audience.aheadSecondsMax))
        #expect(!shard.isQuiet)

        let due = try #require(shard.nextDue)
        moment.wallMilliseconds += (due - moment.monotonicNanoseconds) / 1_000_000
        moment.monotonicNanoseconds = due
        let last = try #require(pull(), "what is due is sent")
        #expect(String(decoding: last.state, as: UTF8.self) == #"{"version":100}"#)
        #expect(last.stamp == (stamps.last ?? 0) + 1)
        #expect(shard.isQuiet)
    }

    /// Ten versions a second to an audience that takes ten seconds to sweep: everybody gets a tenth of them, each in a second of
    /// its own, so nobody ever waits for the clock.
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
            moment.monotonicNanoseconds += 100_000_000
        }
        #expect(last.count == 100)
    }
}
