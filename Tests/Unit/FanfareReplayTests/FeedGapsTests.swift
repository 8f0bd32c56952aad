import FanfareFeeds
import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct FeedGapsTests {
    @Test func aRejectionOfAKnownTopicCountsButIsNotOfAnyTopic() {
        var gaps = FeedGaps()
        gaps.note(FeedRejection(location: "day:1", reason: "no kind", topic: TopicID("match/1")))
        #expect(gaps.rejections == 1 && gaps.ofAnyTopic == 0 && gaps.first == nil)
    }

    @Test func theFirstRejectionWithoutATopicIsKeptAndAllOfThemAreCounted() {
        var gaps = FeedGaps()
        gaps.note(FeedRejection(location: "day:1", reason: "no kind", topic: TopicID("match/1")))
        gaps.note(FeedRejection(location: "day:2", reason: "no JSON"))
        gaps.note(FeedRejection(location: "day:3", reason: "too deep"))
        gaps.note(FeedRejection(location: "day:4", reason: "no time", topic: TopicID("match/1")))
        #expect(gaps.rejections == 4 && gaps.ofAnyTopic == 2)
        #expect(gaps.first == "day:2: no JSON")
    }

    @Test func theFirstTenNoticesAreKeptInOrderAndAreNoRejections() {
        var gaps = FeedGaps()
        for line in 1...12 { gaps.note(FeedNotice(location: "day:\(line)", text: "odd")) }
        #expect(gaps.notices == (1...10).map { "day:\($0): odd" })
        #expect(gaps.rejections == 0 && gaps.ofAnyTopic == 0 && gaps.first == nil)
    }
}
