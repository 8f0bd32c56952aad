import FanfareDecisions
import FanfareFeeds
import FanfareModel
import FanfareReplay
import Foundation
import Testing

/// Changes on a phone although the feed says nothing more.
@Suite final class LineupPreviewTests {
    private let path = NSTemporaryDirectory() + "lineup-preview-\(UUID().uuidString).ndjson"
    private let topics = [TopicID("match/1"), TopicID("match/2")]
    private let goal = FeedTime(seconds: 1012)
    private var cards: [LineupPreview.ShownCard] = []

    /// Two matches that are being played, and a goal in the first.
    init() throws {
        let feed = """
            {"topic":"match/1","topicKind":"football","at":1000,"id":"t","kind":"start","fact":{"id":"t","kind":"teams","home":"A","away":"B"}}
            {"topic":"match/2","topicKind":"football","at":1000,"id":"t","kind":"start","fact":{"id":"t","kind":"teams","home":"C","away":"D"}}
            {"topic":"match/1","at":1001,"id":"k","kind":"period","fact":{"id":"k","kind":"period","period":"1H"}}
            {"topic":"match/2","at":1001,"id":"k","kind":"period","fact":{"id":"k","kind":"period","period":"1H"}}
            {"topic":"match/1","at":1012,"id":"g","kind":"goal","fact":{"id":"g","side":"home","player":"Ada"}}

            """
        try Data(feed.utf8).write(to: URL(fileURLWithPath: path))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func preview() throws -> LineupPreview {
        let preview = LineupPreview(of: topics)
        var replay = try DecisionReplay(paths: [path])
        while let (_, decisions) = replay.next() { preview.take(decisions) { cards.append($0) } }
        return preview
    }

    private var goals: [FeedTime] { cards.filter { $0.alert?.title == "Goal! A 1–0 B" }.map(\.at) }

    @Test func aLineupPreviewSaysWhenThereIsMoreToSee() throws {
        let preview = try preview()
        #expect(preview.nextDue == goal + .milliseconds(1), "what was said of a moment is seen when it is over")
        preview.pass(to: goal + .milliseconds(1)) { cards.append($0) }
        #expect(goals == [] && preview.nextDue == goal + .seconds(1), "a goal waits a second for others")
        preview.pass(to: goal + .seconds(1)) { cards.append($0) }
        #expect(goals == [goal + .seconds(1)])
    }

    /// Match 2 is announced first, so it is the first row whatever the picks.
    @Test func rowsStandByTheSchedule() throws {
        let feed = """
            {"topic":"match/2","topicKind":"game","at":1000,"set":{"score":1}}
            {"topic":"match/1","topicKind":"game","at":2000,"set":{"score":2}}

            """
        try Data(feed.utf8).write(to: URL(fileURLWithPath: path))
        for (order, rows) in [(LineupRules.Order.person, topics), (.schedule, topics.reversed())] {
            var rules = Rules.builtIn
            rules.lineups.order = order
            let story = try LineupStory(of: topics, in: [path], rules: rules)
            #expect(story.cards.last?.content.rows.map(\.topic) == rows.map(\.rawValue))
        }
    }

    @Test func aLineupPreviewShowsWhatWaitsWhenTheFeedIsOver() throws {
        let preview = try preview()
        preview.finish { cards.append($0) }
        #expect(goals == [goal + .seconds(1)])
    }

    /// A topic that comes later has no row yet; one that never comes is a slip of the pen.
    @Test func aLineupPreviewShowsWhatIsKnownSoFar() throws {
        let feed = """
            {"topic":"a","topicKind":"game","at":1000,"set":{"score":1}}
            {"topic":"b","topicKind":"game","at":2000,"set":{"score":2}}

            """
        try Data(feed.utf8).write(to: URL(fileURLWithPath: path))
        func story(_ topics: [String], until: Int64) throws -> LineupStory {
            try LineupStory(of: topics.map { TopicID($0) }, in: [path], until: FeedTime(seconds: until))
        }
        #expect(try story(["a", "b"], until: 1500).cards.last?.content.rows.map(\.topic) == ["a"])
        #expect(try story(["a", "b"], until: 2500).cards.last?.content.rows.map(\.topic) == ["a", "b"])
        #expect(throws: ReplayError.self) { try story(["a", "c"], until: 1500) }
        #expect(throws: ReplayError.self) { try story(["a", "b"], until: 500) }
    }

    @Test func aLineupPreviewKeepsToTheRulesOfLineups() throws {
        let rules = Rules(kinds: [:], other: .football, lineups: LineupRules(gather: .zero))
        cards = try LineupStory(of: topics, in: [path], rules: rules).cards
        #expect(goals == [goal])
        cards = try LineupStory(of: topics, in: [path], rules: rules, until: goal).cards
        #expect(goals == [goal])
        cards = try LineupStory(of: topics, in: [path], until: goal + .milliseconds(900)).cards
        #expect(goals == [])
    }
}
