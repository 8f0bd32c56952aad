import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct SyntheticSubscribersTests {
    private func subscribers(lineups: ClosedRange<Int>, topics: Int) -> SyntheticSubscribers {
        SyntheticSubscribers(
            count: 10_000, lineups: lineups, seed: 3, topics: (0..<topics).map { TopicID("match/\($0)") })
    }

    @Test func syntheticSubscribersAreAsTheOptionsSay() {
        var options = SubscriberOptions()
        options.count = 7
        options.lineups = 2...4
        options.hasFavourites = true
        options.seed = 5
        let subscribers = SyntheticSubscribers(options, topics: [TopicID("match/1")])
        #expect(subscribers.count == 7 && subscribers.lineups == 2...4 && subscribers.hasFavourites)
        #expect(subscribers.seed == 5 && subscribers.topics == [TopicID("match/1")])
    }

    @Test(arguments: [1, 4, 20])
    func lineupsHaveThatManyTopicsEachOnce(size: Int) {
        let subscribers = subscribers(lineups: size...size, topics: 20)
        for number in 0..<2000 {
            let topics = subscribers.audience(of: number).topics
            #expect(topics.count == size && Set(topics).count == size)
        }
    }

    @Test(arguments: [false, true]) func theFirstTopicMayBeTheFavourite(hasFavourites: Bool) {
        let subscribers = SyntheticSubscribers(
            count: 10, lineups: 3...3, hasFavourites: hasFavourites, seed: 3,
            topics: (0..<5).map { TopicID("match/\($0)") })
        for number in 0..<10 {
            let audience = subscribers.audience(of: number)
            let favourite = hasFavourites ? audience.topics[0] : nil
            #expect(audience == .lineup(audience.topics, favourite: favourite))
        }
    }

    @Test func lineupsDifferInSize() {
        let subscribers = subscribers(lineups: 3...8, topics: 20)
        let sizes = Dictionary(grouping: (0..<2000).map { subscribers.audience(of: $0).topics.count }) { $0 }
        #expect(
            Set(sizes.keys) == Set(3...8) && sizes.values.allSatisfy { $0.count > 100 }, "\(sizes.mapValues(\.count))")
    }

    /// Everybody's first topic is one of all in turn; the others follow Zipf's law.
    @Test func fewTopicsArePopularAndNoneIsLeftOut() {
        let subscribers = subscribers(lineups: 3...3, topics: 50)
        var followers = Array(repeating: 0, count: 50)
        for number in 0..<subscribers.count {
            for topic in subscribers.audience(of: number).topics.dropFirst() {
                followers[Int(topic.rawValue.dropFirst(6)) ?? 0] += 1
            }
        }
        #expect(followers.allSatisfy { $0 > 0 })
        #expect(followers[0] > 5 * followers[9] && followers[9] > 2 * followers[49], "\(followers)")
    }
}
