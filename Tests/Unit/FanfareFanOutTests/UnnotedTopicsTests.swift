import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct UnnotedTopicsTests {
    private static func time(_ second: Int64) -> FeedTime { FeedTime(milliseconds: second * 1000) }

    private static func topic(_ place: Int) -> TopicIndex { TopicIndex(place) }

    @Test func aTopicIsListedOnceUntilItIsTaken() {
        var topics = UnnotedTopics()
        #expect(topics.isEmpty && !topics.hasNews)
        for place in [5, 2, 5] { topics.list(Self.topic(place)) }
        #expect(!topics.isEmpty && topics.hasNews && topics.violation() == nil)
        let taken = topics.take(most: 10)
        #expect(taken.map(\.topic) == [Self.topic(5), Self.topic(2)] && taken.allSatisfy(\.reasons.isEmpty))
        #expect(topics.isEmpty && topics.violation() == nil)
        topics.list(Self.topic(2), for: .question)
        topics.list(Self.topic(2), for: .joiners)
        let again = topics.take(most: 10)
        #expect(again.map(\.topic) == [Self.topic(2)] && again[0].reasons == [.joiners, .question])
    }

    @Test func topicsThatWereListedFirstAreTakenFirst() {
        var topics = UnnotedTopics()
        for place in 0..<5 { topics.list(Self.topic(place)) }
        let first = topics.take(most: 3)
        topics.list(Self.topic(0), isNews: false)
        #expect(first.map(\.topic) == (0..<3).map(Self.topic) && topics.count == 3 && topics.violation() == nil)
        let rest = topics.take(most: 3)
        #expect(rest.map(\.topic) == [3, 4, 0].map(Self.topic) && topics.isEmpty && topics.violation() == nil)
    }

    @Test func aTopicThatAPassListsAgainIsNoNews() {
        var topics = UnnotedTopics()
        topics.list(Self.topic(1), isNews: false)
        let isNews = topics.takeNews()
        #expect(!isNews && !topics.isEmpty)
        topics.list(Self.topic(1))
        let (hasSome, hasMore) = (topics.takeNews(), topics.takeNews())
        #expect(hasSome && !hasMore)
    }

    /// Log time stands between two entries, so a note covers joiners only once log time has passed.
    @Test func aJoinedTopicIsListedOnceLogTimeHasPassedTheJoiner() {
        var topics = UnnotedTopics()
        for place in [3, 3, 1] { topics.noteJoined(Self.topic(place)) }
        #expect(topics.isEmpty)
        topics.advance(to: Self.time(10), sent: Self.time(10))
        #expect(topics.isEmpty, "some of them may have joined at that time")
        topics.noteJoined(Self.topic(3))
        topics.advance(to: Self.time(11), sent: Self.time(20))
        let first = topics.take(most: 10)
        #expect(first.map(\.topic) == [Self.topic(3), Self.topic(1)] && first.allSatisfy { $0.reasons == .joiners })
        topics.advance(to: Self.time(21), sent: Self.time(21))
        let second = topics.take(most: 10)
        #expect(second.map(\.topic) == [Self.topic(3)])
        topics.advance(to: Self.time(30), sent: Self.time(30))
        #expect(topics.isEmpty && topics.violation() == nil)
    }
}
