import FanfareModel
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
            moment.monotonicNanoseconds += 100_000_000
        }
        #expect(last.count == 100)
    }
}
