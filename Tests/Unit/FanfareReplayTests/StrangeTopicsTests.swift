import Fanfare
import FanfareLoop
import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct StrangeTopicsTests {
    private struct Fault: Error {}

    /// Keeps the answers to its subscriptions, and may fail after the last one.
    private final class Source: SubscriberSource {
        let subscriptions: [Subscription]
        let fails: Bool
        let answers = Locked([String?]())

        init(_ audiences: [AudienceKey], fails: Bool = false) {
            subscriptions = audiences.enumerated().map { number, audience in
                Subscription(
                    audience: audience, activity: ActivityID(UInt64(number)), subscriber: UInt64(number), token: [1])
            }
            self.fails = fails
        }

        /// Differs from the number of subscriptions, because a source may know it only approximately.
        var expectedCount: Int { subscriptions.count + 100 }

        func read(_ take: (Subscription) -> String?) throws {
            for subscription in subscriptions {
                let answer = take(subscription)
                answers.withLock { $0.append(answer) }
            }
            if fails { throw Fault() }
        }
    }

    private static let known: Set<TopicID> = [topic(1), topic(2)]

    private static func topic(_ number: Int) -> TopicID { TopicID("match/\(number)") }

    /// Returns the notice after all activities with these audiences were read.
    private func notice(of audiences: [AudienceKey]) throws -> String? {
        let strangers = StrangeTopics(Source(audiences), known: Self.known)
        try strangers.read { _ in nil }
        return strangers.notice
    }

    @Test func eachSubscriptionIsPassedOnInOrderAndItsFaultIsPassedBack() throws {
        let source = Source([3, 1, 2].map { .topic(Self.topic($0)) })
        let strangers = StrangeTopics(source, known: Self.known)
        var taken: [Subscription] = []
        try strangers.read { subscription in
            taken.append(subscription)
            return taken.count == 2 ? "no token" : nil
        }
        #expect(taken == source.subscriptions)
        let answers = source.answers.withLock { $0 }
        let expected: [String?] = [nil, "no token", nil]
        #expect(answers == expected)
        #expect(strangers.expectedCount == 103)
    }

    @Test func nothingIsNoticedBeforeTheReadingOrIfTheFeedHasEachTopic() throws {
        let unread = StrangeTopics(Source([.topic(Self.topic(3))]), known: Self.known)
        #expect(unread.notice == nil)
        let notice = try notice(of: [.topic(Self.topic(1)), .lineup([Self.topic(2), Self.topic(1)])])
        #expect(notice == nil)
    }

    @Test func anActivityIsCountedOnceHoweverManyOfItsTopicsAreStrange() throws {
        let notice = try notice(of: [.lineup([Self.topic(9), Self.topic(1), Self.topic(8)]), .topic(Self.topic(2))])
        #expect(notice == "1 activity follows topics that the feed does not speak of: match/9, match/8")
    }

    @Test func theFirstThreeStrangeTopicsAreNamedOnceEachAndAllActivitiesAreCounted() throws {
        let notice = try notice(of: [9, 8, 9, 1, 7, 6].map { .topic(Self.topic($0)) })
        #expect(notice == "5 activities follow topics that the feed does not speak of: match/9, match/8, match/7")
    }

    @Test func aFaultOfTheSourceReachesTheReader() {
        let strangers = StrangeTopics(Source([.topic(Self.topic(1))], fails: true), known: Self.known)
        #expect(throws: Fault.self) { try strangers.read { _ in nil } }
    }
}
