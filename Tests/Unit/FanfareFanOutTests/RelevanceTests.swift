import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@Suite struct RelevanceTests {
    @Test(arguments: [nil, 80]) func U7_aTopicsRelevanceGoesWithItsPush(relevance: Int?) throws {
        let stage = EmbeddedShard()
        stage.apply(.follow(ActivityID(1), .topic(TopicID("match")), token: [1]))
        stage.publish(Publication.test(kind: .generic, state: ["n": 1], relevance: relevance))
        let push = try #require(stage.pull(limit: 1).first)
        #expect(push.payload.relevanceScore == relevance.map(Double.init))
    }
}
