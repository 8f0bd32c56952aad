import Fanfare
import FanfareLog
import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct StoredPeopleTests {
    /// Two thousand people in all slices, and cards that a replay has to leave alone.
    @Test func everybodyWithACardIsLoadedOnceAndNobodyElse() throws {
        let store = MemoryPeopleStore()
        func card(_ number: UInt16, _ phase: Card.Phase) -> Card {
            var card = Card(
                subscriber: "s\(number)", activity: number.isMultiple(of: 2) ? "a\(number)" : nil,
                token: withUnsafeBytes(of: number.littleEndian, Array.init),
                audience: .topic(TopicID("m/\(number % 3)")),
                startedAt: FeedTime(seconds: Int64(number)))
            card.phase = phase
            card.preferences = Preferences(alerts: .essential)
            return card
        }
        try store.apply((0..<2000).map { .insert(card($0, .shown)) })
        try store.apply((2000..<2010).map { .insert(card($0, .leaving)) })
        try store.apply((2010..<2020).map { .insert(card($0, .starting)) })
        let people = try StoredPeople(store)
        #expect(people.expectedCount == 2020)
        var found: [[UInt8]: Subscription] = [:]
        try people.read { subscription in
            #expect(found[subscription.token] == nil)
            found[subscription.token] = subscription
            return subscription.token == [0, 0] ? "refused" : nil
        }
        #expect(found.count == 2000)
        #expect(people.counts == StoredPeople.Counts(subscribers: 1999))
        let one = try #require(found[[2, 0]])
        #expect(one.activity == ActivityID("a2") && one.subscriber == SubscriberID("s2").key)
        #expect(one.audience == .topic(TopicID("m/2")) && one.startedAt == FeedTime(seconds: 2))
        #expect(one.preferences == Preferences(alerts: .essential))
        // Without an id, the token names the activity, as in a subscriber file.
        #expect(found[[3, 0]]?.activity == ActivityID([UInt8]([3, 0]).keyedHash))
    }
}
