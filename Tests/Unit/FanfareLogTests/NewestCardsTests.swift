import FanfareModel
import Testing

@testable import FanfareLog

@Suite struct NewestCardsTests {
    private static func name(_ activity: String, _ app: String? = nil) -> CardName {
        var card = Card(
            activity: activity, token: [1], audience: .topic(TopicID("match/1")), startedAt: .plausible.lowerBound)
        card.app = app.map { AppID(bundleID: $0, environment: .production) }
        return card.name
    }

    /// Returns which of the cards a later one replaces; serials count from 0.
    private func replaced(_ names: [CardName]) -> [Bool] {
        var newest = NewestCards()
        for (serial, name) in names.enumerated() { newest.note(name, UInt64(serial)) }
        return names.enumerated().map { newest.isReplaced($1, UInt64($0)) }
    }

    @Test func theLastCardOfANameStays() {
        #expect(replaced([Self.name("a"), Self.name("b"), Self.name("a")]) == [true, false, false])
    }

    @Test func cardsOfTwoAppsAreTwoCards() {
        #expect(replaced([Self.name("a", "one"), Self.name("a", "two")]) == [false, false])
    }

    @Test func aCardWithoutAnAppIsThatOfAnyApp() {
        #expect(replaced([Self.name("a"), Self.name("a", "one")]) == [true, false], "an engine has named the app")
        #expect(replaced([Self.name("a", "one"), Self.name("a")]) == [true, false], "the file was imported again")
        #expect(replaced([Self.name("a", "one"), Self.name("a", "two"), Self.name("a")]) == [true, true, false])
    }
}
