import FanfareModel
import Testing

@testable import FanfareLog

@Suite struct PruningTests {
    private static let now = FeedTime(seconds: 1_790_000_000)

    private static func card(
        _ activity: String, hours: Int, _ phase: Card.Phase = .shown, app: String? = nil
    ) -> Card {
        let age = Duration.seconds(hours * 3600)
        var card = Card(
            activity: activity, token: [1], audience: .topic(TopicID("match/1")), startedAt: now + (.zero - age))
        card.phase = phase
        card.app = app.map { AppID(bundleID: $0) }
        return card
    }

    /// Returns the causes of removal of the cards, in the order of their insertion.
    private static func causes(_ cards: [Card], before: FeedTime? = nil) throws -> [Pruning.Cause?] {
        let store = MemoryPeopleStore()
        try store.apply(cards.map { PeopleChange.insert($0) })
        let pruning = Pruning(before: before, now: now)
        var causes: [UInt64: Pruning.Cause?] = [:]
        for slice in 0..<Card.slices {
            try pruning.judge(slice: slice, of: store) { (key, found) throws(LogError) in
                if case .success(let cause) = found { causes.updateValue(cause, forKey: key.serial) }
            }
        }
        return causes.sorted { $0.key < $1.key }.map { $0.value }
    }

    @Test func aCardIsOverAfterTwelveHoursAndAStartAfterSevenDays() throws {
        let cards = [
            Self.card("young", hours: 11), Self.card("old", hours: 13), Self.card("ended", hours: 13, .leaving),
            Self.card("waiting", hours: 7 * 24 - 1, .starting), Self.card("given up", hours: 7 * 24 + 1, .starting),
        ]
        #expect(try Self.causes(cards) == [nil, .isOver, .isOver, nil, .isOver])
    }

    @Test func theTimeThatAnOperatorNamesConcernsNoStartThatWaits() throws {
        let cards = [Self.card("young", hours: 1), Self.card("waiting", hours: 13, .starting)]
        #expect(try Self.causes(cards, before: Self.now) == [.isOver, nil])
    }

    @Test func aLaterCardReplacesOneOfTheSameActivityUnlessBothNameDifferentApps() throws {
        let imported = [Self.card("a", hours: 1, app: "one"), Self.card("a", hours: 1)]
        #expect(try Self.causes(imported) == [.isReplaced, nil])
        let ofTwoApps = [Self.card("a", hours: 1, app: "one"), Self.card("a", hours: 1, app: "two")]
        #expect(try Self.causes(ofTwoApps) == [nil, nil])
    }
}
