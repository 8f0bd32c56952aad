import FanfareDecisions
import FanfareFeeds
import FanfareModel
import FanfareReplay
import Foundation
import Testing

@testable import FanfareCLI

/// `fanfare explain` and `fanfare diff`, on a match day.
@Suite final class QuestionTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "questions-\(UUID().uuidString)/"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: folder + name, atomically: true, encoding: .utf8)
        return folder + name
    }

    private let feed = """
        {"topic":"match/1","topicKind":"football","at":1000,"id":"t","kind":"start","fact":{"id":"t","kind":"teams","home":"A","away":"B"}}
        {"topic":"match/2","topicKind":"football","at":1000,"id":"t","kind":"start","fact":{"id":"t","kind":"teams","home":"C","away":"D"}}
        {"topic":"match/1","at":1010,"id":"p1","kind":"pass"}
        {"topic":"match/1","at":1011,"id":"p2","kind":"pass"}
        {"topic":"match/1","at":1012,"id":"g1","kind":"goal","fact":{"id":"g1","side":"home","player":"Ada"}}
        {"topic":"match/1","at":1013,"id":"c1","kind":"card","fact":{"id":"c1","side":"away","color":"yellow"}}
        {"topic":"match/1","at":1013.5,"id":"g2","kind":"goal","fact":{"id":"g2","side":"away"}}
        {"topic":"match/1","at":1014,"id":"c2","kind":"card","fact":{"id":"c2","side":"away","color":"yellow"}}
        {"topic":"match/2","at":1020,"id":"p3","kind":"pass"}

        """

    /// The line that is missing may be the one that is asked for.
    @Test func aStoryNamesWhatCouldNotBeRead() throws {
        let path = try write("feed.ndjson", feed.replacing(#""id":"g1","kind":"goal""#, with: #""id":"g1","kin"#))
        for subject in [["--topic", "match/1"], ["--lineup", "match/1,match/2"]] {
            let command = try ExplainCommand([path] + subject)
            let last = try command.story().split(separator: "\n").last ?? ""
            #expect(
                last.hasPrefix(
                    "1 part of the feed could not be read, and may have been of this topic: \(path):5: "), "\(last)")
            #expect(try command.run() == .incomplete)
        }
        #expect(try ExplainCommand([try write("whole.ndjson", feed), "--topic", "match/1"]).run() == .done)
    }

    @Test func aTopicsStoryExplainsEachEvent() throws {
        let path = try write("feed.ndjson", feed)
        let story = try TopicStory(of: TopicID("match/1"), in: [path])
        let text = story.text(showsEverything: false, at: nil)
        #expect(text.contains("2 events until 1970-01-01T00:16:51.000Z: nothing people can see (pass 2)"), "\(text)")
        #expect(text.contains("goal g1: published as version 2: visible change, goal is essential\n"), "\(text)")
        #expect(text.contains("    homeScore: 0 → 1\n"))
        let words = "    words: Goal! A 1–0 B — Ada (A)\n"
        let buckets = "    buckets: goal 9 of 10; reserve 8 of 8\n"
        #expect(text.contains("    alert granted: goal\n" + words + buckets), "\(text)")
        #expect(text.contains("card c1: conflated: until 1970-01-01T00:16:54.000Z"), "\(text)")
        #expect(text.contains("    carries c1, g2\n"))
        #expect(text.contains("timer flush: published as version 4: one change waited"), "\(text)")
        #expect(text.contains("at the end: match/1, football, version 4\n"))
        let dearest = try #require(story.dearest)
        let version = "version \(dearest.version) is the largest"
        #expect(text.hasSuffix("    pushes  \(version): \(dearest.cost.text)\n"), "\(text)")
        #expect([2, 3].contains(dearest.version) && dearest.cost.bodySize > .bytes(400), "a goal's, with its alert")
        #expect(!text.contains("match/2"))
        #expect(story.text(showsEverything: true, at: nil).contains("pass p2: unchanged: nothing people can see"))
    }

    /// Orders for a whole kind are part of the story of each of its topics, and of no other.
    @Test func aTopicsStoryExplainsOrdersOfOperators() throws {
        let orders = """
            {"topic":"*","topicKind":"hockey","at":1010,"kind":"mute","operator":"mute"}
            {"topic":"*","topicKind":"football","at":1010,"kind":"pause","operator":"pause"}
            {"topic":"match/1","at":1030,"id":"k1","operator":"correct","retracts":"c1"}
            {"topic":"*","at":1040,"operator":"republish"}
            {"topic":"*","topicKind":"football","at":1050,"operator":"resume"}

            """
        let path = try write("orders.ndjson", feed + orders)
        let text = try TopicStory(of: TopicID("match/1"), in: [path]).text(showsEverything: false, at: nil)
        #expect(text.contains("republish by an operator: no running topic\n"), "\(text)")
        #expect(text.contains("pause: unchanged: pause by an operator: 2 running football topics"), "\(text)")
        #expect(text.contains("until the topic is resumed: paused by an operator"))
        #expect(
            text.contains("correct k1: conflated: correction by an operator: until the topic is resumed"), "\(text)")
        #expect(text.contains("timer flush: published as version 5: one change waited"), "\(text)")
        #expect(!text.contains("mute"))
        #expect(throws: UsageError.self) {
            _ = try ExplainCommand(["--topic", "match/9", path]).run()
        }
    }

    @Test func aTopicsStoryTellsHowThingsStoodAtAMoment() throws {
        let path = try write("feed.ndjson", feed)
        let moment = FeedTime(seconds: 1013)
        let story = try TopicStory(of: TopicID("match/1"), in: [path], until: moment)
        let text = story.text(showsEverything: false, at: moment)
        #expect(text.contains("at 1970-01-01T00:16:53.000Z: match/1, football, version 2\n"), "\(text)")
        #expect(text.contains("    waits   until 1970-01-01T00:16:54.000Z"))
        #expect(text.contains(#"    known   {"away":"B","awayRed":0,"awayScore":0,"awayYellow":1"#), "\(text)")
        #expect(story.end?.published?["awayYellow"] == 0)
    }

    @Test func aLineupsStoryTellsItsRotation() throws {
        let path = try write("feed.ndjson", feed)
        let story = try LineupStory(of: [TopicID("match/2"), TopicID("match/1")], in: [path])
        #expect(
            story.text.hasPrefix(
                """
                1970-01-01T00:16:40.000Z  match/1 start, match/2 start
                    > C 0 | 0 D
                      A 0 | 0 B
                1970-01-01T00:16:52.000Z  match/1 goal; alert “Goal! A 1–0 B: Ada (A)”
                      C 0 | 0 D
                    > A 1 | 0 B  homeScore 1  Goal: Ada (A)
                1970-01-01T00:16:53.500Z  match/1 goal; alert “Goal! A 1–1 B: B”
                      C 0 | 0 D
                    > A 1 | 1 B  awayScore 1  Goal: B
                1970-01-01T00:16:55.500Z  match/1 what waited
                      C 0 | 0 D
                    > A 1 | 1 B  awayYellow 2  Yellow card: B

                4 pushes: 2 with an alert, 0 of the rotation's own
                """), "\(story.text)")
        let dearest = try #require(story.cards.compactMap(\.cost).max { $0.bodySize < $1.bodySize })
        let largest = try #require(story.cards.map(\.size).max())
        let sizes = "the largest content state has \(largest)\nthe largest push has \(dearest.text)\n"
        #expect(story.text.hasSuffix("; \(sizes)"), "\(story.text)")
    }

    @Test func aTopicThatIsNotInTheFeedIsNotExplained() throws {
        let path = try write("feed.ndjson", feed)
        #expect { try ExplainCommand([path, "--topic", "match/9"]).run() } throws: {
            "\($0)".contains("match/9: the feed does not speak of it")
        }
        #expect { try ExplainCommand([path, "--lineup", "match/1,match/9"]).run() } throws: {
            "\($0)".contains("match/9: the feed does not speak of it")
        }
        for words in [
            ["--lineup", "a,,b"], ["--lineup", "a,a"], ["--lineup", "a,b", "--favourite", "c"],
            ["--lineup", "a,b", "--all"],
            ["--lineup", "a", "--topic", "b"], ["--topic", "a", "--favourite", "a"],
        ] {
            #expect(throws: UsageError.self, "\(words)") { try ExplainCommand([path] + words) }
        }
        #expect(throws: UsageError.self) { try ExplainCommand([path]) }
    }

    // MARK: - Diff

    @Test func rulesThatHoldUpAGoalAreFoundOut() throws {
        let path = try write("feed.ndjson", feed)
        var slow = Rules.builtIn
        slow.kinds[.football]?.occasions[.goal] = nil
        slow.kinds[.football]?.pace.minimumInterval = .seconds(60)
        let comparison = try RulesComparison(.builtIn, slow, paths: [path], feed: FeedOptions())
        // The first is still inside the start's interval.
        #expect(comparison.essentialDelayed == 2)
        let same = try RulesComparison(.builtIn, .builtIn, paths: [path], feed: FeedOptions())
        #expect(same.essentialDelayed == 0)
        let json = comparison.json("a", "b")
        #expect(
            json.contains(#""essentialDelayed":2,"kinds":{"football":{"a":{"alertsDemoted":0,"alertsGranted":2"#),
            "\(json)")
        #expect(comparison.text("a", "b").contains("essential events that waited"))
    }

    @Test func logsAreComparedEventByEvent() throws {
        func log(_ rules: Rules, _ name: String) throws -> String {
            let path = try write("feed.ndjson", feed)
            var bytes: [UInt8] = []
            var replay = try DecisionReplay(paths: [path], rules: rules)
            while let (_, decisions) = replay.next() {
                decisions.forEachRecord { record, _ in record.write(to: &bytes) }
            }
            return try write(name, String(decoding: bytes, as: UTF8.self))
        }
        var silent = Rules.builtIn
        silent.kinds[.football]?.content.fields["awayYellow"] = .ignored
        silent.kinds[.football]?.content.fields["lastEvent"] = .ignored
        silent.kinds[.football]?.content.fields["highlight"] = .ignored
        let (a, b) = (try log(.builtIn, "a"), try log(silent, "b"))
        let comparison = try LogComparison(a, b)
        #expect(!comparison.areEqual)
        #expect(comparison.text.contains("2  conflated → unchanged"), "\(comparison.text)")
        #expect(comparison.json.contains(#""equal":false"#))
        #expect(try LogComparison(a, a).areEqual)
        #expect(throws: UsageError.self) { try LogComparison(a, write("c", "hello\n")) }
    }

    @Test func aLogThatCannotBeReadIsComparedWithNothing() {
        #expect { try LogComparison("/", "/") } throws: { "\($0)" == "/: cannot be read: Is a directory" }
    }

    @Test(arguments: [
        ("", "expected two decision logs, or --rules twice and a feed"), ("--rules built-in f", "expected it twice"),
        ("--rules built-in --rules built-in", "feed is missing"),
    ])
    func theDiffCommandNamesTheArgumentsThatItExpects(line: String, says: String) {
        #expect { try DiffCommand(line.split(separator: " ").map(String.init)) } throws: { "\($0)".contains(says) }
    }
}
