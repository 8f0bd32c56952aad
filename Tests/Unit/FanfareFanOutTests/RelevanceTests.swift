import FanfareFanOut
import FanfareModel
import Testing

@Suite struct RelevanceTests {
    @Test(arguments: [nil, 80]) func U7_aTopicsRelevanceGoesWithItsPush(relevance: Int?) throws {
        let shard = Shard()
        let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)
        shard.apply(.follow(ActivityID(1), .topic(TopicID("match")), token: [1]), at: moment)
        let publication = Publication(
            serial: 1, topicID: TopicID("match"), topicKind: .generic, version: 1,
            event: .update, state: EncodedState(["n": 1]), priority: .immediate, alert: nil, relevance: relevance,
            staleAfter: nil, dismissAfter: nil)
        shard.apply(.publish(publication), at: moment)
        var batch = DeliveryBatch()
        shard.pull(limit: 1, at: moment, into: &batch)
        let delivery = try #require(batch.deliveries.first)
        #expect(batch.payload(of: delivery).relevanceScore == relevance.map(Double.init))
    }
}
