import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct LaneTests {
    private let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)

    private func publication(_ topic: String, serial: UInt64, alert: String?) -> ShardCommand {
        .publish(
            Publication(
                serial: serial, topicID: TopicID(topic), topicKind: .football, version: 1,
                event: .update, state: EncodedState(["version": .int(Int64(serial)), "highlight": "period"]),
                priority: .immediate,
                alert: alert.map {
                    Alert(
                        cause: $0, class: .essential, text: AlertText(title: $0, body: ""), freshFor: .seconds(60),
                        highlight: "homeScore")
                }, staleAfter: nil, dismissAfter: nil))
    }

    private func pull(_ shard: Shard, _ limit: Int) -> [(delivery: Delivery, payload: Payload)] {
        var batch = DeliveryBatch()
        shard.pull(limit: limit, at: moment, into: &batch)
        return batch.deliveries.map { ($0, batch.payload(of: $0)) }
    }

    /// The alert of an audience of one was not processed, while a silent sweep of a hundred has begun.
    @Test func anAlertSentAgainStillGoesFirst() throws {
        let shard = Shard()
        for member in 0..<100 {
            shard.apply(.follow(ActivityID(UInt64(member)), .topic(TopicID("silent")), token: [1]), at: moment)
        }
        shard.apply(.follow(ActivityID(1000), .topic(TopicID("goal")), token: [2]), at: moment)
        shard.apply(publication("goal", serial: 1, alert: "goal"), at: moment)
        let first = try #require(pull(shard, 1).first)
        #expect(first.payload.alert?.title == "goal")

        shard.apply(publication("silent", serial: 2, alert: nil), at: moment)
        #expect(pull(shard, 5).allSatisfy { $0.payload.alert == nil })
        shard.complete(
            [Completion(slot: first.delivery.slot, generation: first.delivery.generation, outcome: .notProcessed)],
            at: moment)
        #expect(pull(shard, 1).first?.payload.alert?.title == "goal")
        #expect(pull(shard, 5).count == 5)
    }
}
