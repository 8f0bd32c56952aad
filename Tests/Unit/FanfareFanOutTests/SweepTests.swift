import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct SweepTests {
    private let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)

    /// A new version is published before each answer, and half of the audience fits on the network: the halves alternate.
    @Test func versionsFasterThanAnswersStarveNoMember() {
        let shard = Shard()
        var moment = moment
        for member in UInt64(0)..<100 {
            shard.apply(.follow(ActivityID(member), .topic(TopicID("match")), token: [1]), at: moment)
        }
        var flying: [Completion] = []
        var served: [ActivitySlot: Int] = [:]
        for version in UInt64(1)...20 {
            moment.wallMilliseconds += 1000
            moment.monotonic += .seconds(1)
            shard.apply(
                .publish(
                    Publication(
                        serial: version, topicID: TopicID("match"), topicKind: .generic, version: UInt32(version),
                        event: .update, state: EncodedState(["version": .int(Int64(version))]), priority: .immediate,
                        alert: nil, staleAfter: nil, dismissAfter: nil)), at: moment)
            shard.complete(flying, at: moment)
            #expect(shard.violatedInvariant() == nil)
            var batch = DeliveryBatch()
            shard.pull(limit: 50, at: moment, into: &batch)
            #expect(batch.deliveries.allSatisfy { batch.payload(of: $0).serial == version }, "measurements go by it")
            flying = batch.deliveries.map {
                Completion(slot: $0.slot, generation: $0.generation, outcome: .accepted)
            }
            for delivery in batch.deliveries { served[delivery.slot, default: 0] += 1 }
        }
        #expect(served.count == 100)
        #expect(served.values.allSatisfy { $0 == 10 })
    }

    /// A state that all members have is not sent again, unless an operator republishes it.
    @Test func aRepublishedStateReachesThoseWhoHaveIt() {
        let shard = Shard()
        var moment = moment
        for member in UInt64(0)..<3 {
            shard.apply(.follow(ActivityID(member), .topic(TopicID("match")), token: [1]), at: moment)
        }
        func pushes(ofVersion version: UInt64, isRepublished: Bool = false) -> Int {
            moment.wallMilliseconds += 1000
            moment.monotonic += .seconds(1)
            shard.apply(
                .publish(
                    Publication(
                        serial: version, topicID: TopicID("match"), topicKind: .generic, version: UInt32(version),
                        event: .update, state: EncodedState(["score": 1]), priority: .conserving, alert: nil,
                        staleAfter: nil, dismissAfter: nil, isRepublished: isRepublished)), at: moment)
            var batch = DeliveryBatch()
            shard.pull(limit: 10, at: moment, into: &batch)
            shard.complete(
                batch.deliveries.map { Completion(slot: $0.slot, generation: $0.generation, outcome: .accepted) },
                at: moment)
            #expect(shard.violatedInvariant() == nil)
            return batch.deliveries.count
        }
        #expect(pushes(ofVersion: 1) == 3)
        #expect(pushes(ofVersion: 2) == 0)
        #expect(pushes(ofVersion: 3, isRepublished: true) == 3)
        #expect(pushes(ofVersion: 4) == 0)
    }
}
