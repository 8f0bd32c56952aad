import FanfareLog
import FanfareModel
import Foundation
import Testing

@testable import FanfareCLI

/// `fanfare people` on a folder.
@Suite final class PeopleCommandTests {
    private let folder = NSTemporaryDirectory() + "people-\(UUID().uuidString)"
    private let now = FeedTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func card(_ activity: String, _ phase: Card.Phase = .shown, hours: Int) -> Card {
        let age = Duration.seconds(hours * 3600)
        var card = Card(
            activity: activity, token: [1], audience: .topic(TopicID("match/1")), startedAt: now + (.zero - age))
        card.phase = phase
        return card
    }

    /// Prunes a store that has these cards, and returns the activities that remain.
    private func remaining(of cards: [Card], _ options: [String] = []) throws -> Set<String> {
        do { try LMDBPeopleStore(store: folder).apply(cards.map(PeopleChange.insert)) }
        let status = try PeopleCommand(["prune", folder] + options).run()
        #expect(status == .done)
        var found: Set<String> = []
        try LMDBPeopleStore(store: folder, isReadOnly: true).read { (_, card) throws(LogError) in
            if case .success(let card) = card, let activity = card.activity { found.insert(activity) }
            return true
        }
        return found
    }

    @Test func aCardThatNoPhoneShowsIsPruned() throws {
        let cards = [
            card("young", hours: 11), card("old", hours: 13), card("ending", .leaving, hours: 11),
            card("ended", .leaving, hours: 13),
        ]
        #expect(try remaining(of: cards) == ["young", "ending"])
    }

    @Test func aWaitingStartIsPrunedOnlyAfterItsPatience() throws {
        let cards = [
            card("new", .starting, hours: 1), card("waiting", .starting, hours: 13),
            card("late", .starting, hours: 7 * 24 - 1), card("given up", .starting, hours: 7 * 24 + 1),
        ]
        #expect(try remaining(of: cards) == ["new", "waiting", "late"])
    }

    /// The time says when cards began, and a waiting start has not begun.
    @Test func aWaitingStartOutlastsTheTimeThatIsGiven() throws {
        let cards = [
            card("shown", hours: 1), card("waiting", .starting, hours: 13),
            card("given up", .starting, hours: 7 * 24 + 1),
        ]
        #expect(try remaining(of: cards, ["--before", "2099-01-01T00:00:00Z"]) == ["waiting"])
    }

    @Test func anEarlierTimeKeepsEvenStartsWhosePatienceIsOver() throws {
        let cards = [card("old", hours: 13), card("given up", .starting, hours: 7 * 24 + 1)]
        #expect(try remaining(of: cards, ["--before", "2020-01-01T00:00:00Z"]) == ["old", "given up"])
    }

    @Test func aMissingOrDamagedStoreIsNoFaultOfTheCommandLine() throws {
        #expect(try PeopleCommand(["stats", folder]).run() == .incomplete)
        try FileManager.default.createDirectory(atPath: folder + "/people", withIntermediateDirectories: true)
        try Data(repeating: 7, count: 1 << 16).write(to: URL(fileURLWithPath: folder + "/people/data.mdb"))
        #expect(try PeopleCommand(["check", folder]).run() == .incomplete)
        #expect(throws: UsageError.self) { try PeopleCommand(["check"]) }
    }
}
