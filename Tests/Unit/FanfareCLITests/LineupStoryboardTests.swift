import FanfareFeeds
import FanfareModel
import FanfareReplay
import Foundation
import Testing

@testable import FanfareCLI

/// Worked example 2: rounds of matches, each in one rotating activity, as `fanfare explain --lineup` tells them, written out and
/// checked in. Read them as a person would; `FANFARE_STORYBOARDS=record` writes them anew.
@Suite struct LineupStoryboardTests {
    private static let folder = #filePath.components(separatedBy: "/LineupStoryboardTests.swift")[0] + "/Storyboards/"
    private static let recordings: String? = {
        let named = ProcessInfo.processInfo.environment["FANFARE_FEEDS"]
        let beside = #filePath.components(separatedBy: "/Tests/")[0] + "/../shared/feeds"
        return [named, beside].compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
    }()
    private static let skipped: Comment = "SKIPPED: no recordings here; set FANFARE_FEEDS to their folder"

    private func check(_ name: String, _ topics: [String], favourite: String? = nil, in paths: [String]) throws {
        let story = try LineupStory(of: topics.map { TopicID($0) }, favourite: favourite.map { TopicID($0) }, in: paths)
        let file = Self.folder + name + ".txt"
        let told = "lineup \(topics.joined(separator: ", "))\n\n\(story.text)"
        if ProcessInfo.processInfo.environment["FANFARE_STORYBOARDS"] == "record" {
            try told.write(toFile: file, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOfFile: file, encoding: .utf8)
        if told != expected {
            let parts = zip(told.split(separator: "\n"), expected.split(separator: "\n")).first { $0 != $1 }
            Issue.record("\(name): told \(parts?.0 ?? "another number of lines"), expected \(parts?.1 ?? "")")
        }
        try hasEveryGoalAtOnce(story, topics, in: paths)
        repeatsNoCard(story)
        keepsTheRotationsBudget(story)
    }

    /// Expects a push with the goal's own match in the spotlight within the second for which goals are gathered, whatever else happens
    /// meanwhile.
    private func hasEveryGoalAtOnce(_ story: LineupStory, _ topics: [String], in paths: [String]) throws {
        var replay = try DecisionReplay(paths: paths)
        let gather = LineupRules().gather
        var goals = 0
        while let (_, decisions) = replay.next() {
            decisions.forEachRecord { record, publication in
                guard let topic = record.topic?.rawValue, topics.contains(topic), record.origin == .event,
                    publication?.alert?.cause == record.id, record.kind == "goal"
                else { return }
                goals += 1
                let spotlights = story.cards.filter { (record.now...record.now + gather).contains($0.at) }
                    .compactMap { $0.content.spotlightRow?.topic }
                #expect(spotlights.contains(topic), "\(record.id ?? "") of \(topic) at \(record.now)")
            }
        }
        #expect(goals > 0)
    }

    private func repeatsNoCard(_ story: LineupStory) {
        for (old, card) in zip(story.cards, story.cards.dropFirst()) where !card.isEnd {
            let (before, after) = (old.content, card.content)
            #expect(
                before.rows != after.rows || before.spotlight != after.spotlight || before.state != after.state
                    || card.alert != nil, "\(card.at)")
        }
    }

    /// Four at once and one a minute, silent and at priority 5.
    private func keepsTheRotationsBudget(_ story: LineupStory) {
        let own = story.cards.filter(\.news.isEmpty)
        #expect(own.allSatisfy { $0.alert == nil && $0.priority == .conserving })
        for (index, first) in own.enumerated() {
            for (count, last) in own[index...].enumerated() {
                #expect(Int64(count + 1) <= 4 + (last.at - first.at).milliseconds / 60_000, "\(first.at)…\(last.at)")
            }
        }
    }

    private static let matches = (2_500_089...2_500_098).map { "match/\($0)" }
    private static func wyscout() throws -> [String] {
        let folder = try #require(recordings) + "/wyscout-football/matches/"
        return (2_500_089...2_500_098).map { "\(folder)\($0).json" }
    }

    @Test(.enabled(if: recordings != nil, skipped)) func storyboardOfTenMatchesAtOnceIsUnchanged() throws {
        try check("ten-matches", Self.matches, in: Self.wyscout())
    }

    @Test(.enabled(if: recordings != nil, skipped)) func storyboardOfFourMatchesAndAFavouriteIsUnchanged() throws {
        let four = [0, 1, 2, 8].map { Self.matches[$0] }
        try check("four-matches", four, favourite: "match/2500097", in: Self.wyscout())
    }

    @Test(.enabled(if: recordings != nil, skipped), arguments: [["304", "305", "306"], ["316", "317"]])
    func storyboardOfAnEveningOfHockeyIsUnchanged(games: [String]) throws {
        let folder = try #require(Self.recordings) + "/pwhl-hockey/games/"
        try check("hockey-\(games[0])", games.map { "game/\($0)" }, in: games.map { "\(folder)\($0).json" })
    }

    @Test func storyboardOfThreeMadeUpMatchesIsUnchanged() throws {
        let feed = NSTemporaryDirectory() + "match-day-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: feed) }
        var bytes: [UInt8] = []
        GeneratedFeed.matchDay.write(seed: 1) { bytes += $0 }
        try Data(bytes).write(to: URL(fileURLWithPath: feed))
        try check("three-matches", ["match/1001", "match/1002", "match/1003"], in: [feed])
    }
}
