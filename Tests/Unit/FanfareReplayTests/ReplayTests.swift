import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareFeeds
import FanfareModel
import FanfareReplay
import FanfareTestSupport
import Foundation
import Testing

@Suite struct ReplayTests {
    /// A generated match day in a temporary file.
    private static let matchDay: String = {
        let path = NSTemporaryDirectory() + "fanfare-match-day-\(UUID()).ndjson"
        var bytes: [UInt8] = []
        MatchDay(seed: 7).write { bytes += $0 }
        #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
        // All tests of this process share it, so it goes with the process.
        atexit { try? FileManager.default.removeItem(atPath: ReplayTests.matchDay) }
        return path
    }()

    private struct Result {
        var summary: ReplaySummary
        var log: [UInt8] = []
        var states: [UInt8] = []
    }

    private func replay(_ configure: (inout ReplayOptions) -> Void) throws -> Result {
        var options = ReplayOptions(paths: [ReplayTests.matchDay])
        configure(&options)
        var log: [UInt8] = []
        let replay = try Replay(options, output: ReplayOutput(decision: { log += $0 }, report: { _ in }))
        var result = Result(summary: replay.run(), log: log)
        replay.writeStates { result.states += $0 }
        result.log = log
        return result
    }

    @Test func everybodyHasTheLastState() throws {
        let result = try replay {
            $0.subscribers.count = 5000
            $0.shards = 2
        }
        #expect(result.summary.isClean)
        #expect(result.summary.undelivered == 0)
        #expect(result.summary.counts.pushes.accepted >= 5000)
        #expect(result.summary.goals.count > 10)
        #expect(result.summary.goals.allSatisfy { $0.secondsToLast != nil })
    }

    /// 5,000 people pick three of ten matches: in any order each of the 120 sets is one lineup.
    @Test func summaryTellsHowManyLineupsAreShared() throws {
        let counts = try [LineupRules.Order.person, .schedule].map { order in
            let result = try replay {
                $0.subscribers.count = 5000
                $0.subscribers.lineups = 3...3
                $0.rules.lineups.order = order
            }
            #expect(result.summary.isClean && result.summary.counts.lineups.activities == 0, "all have ended")
            return result.summary.lineups
        }
        #expect(counts.map(\.activities) == [5000, 5000])
        #expect(counts[1].distinct <= 120 && counts[0].distinct > 3 * counts[1].distinct)
    }

    @Test func everyLineupHasTheLastState() throws {
        let result = try replay {
            $0.subscribers.count = 5000
            $0.subscribers.lineups = 3...5
        }
        #expect(result.summary.isClean)
        #expect(result.summary.counts.pushes.accepted >= 5000)
        #expect(result.summary.goals.allSatisfy { $0.secondsToLast != nil })
    }

    /// Invariant 9: speed, shards and waiting shortened by `gapMax` change no byte.
    @Test func theLogDependsOnNothingButTheFeed() throws {
        let reference = try replay { _ in }
        #expect(!reference.log.isEmpty)
        let paced = try replay {
            $0.timetable.speed = .times(20_000)
            $0.shards = 2
            $0.subscribers.count = 100
        }
        #expect(paced.log == reference.log)
        #expect(paced.states == reference.states)
        let hurried = try replay {
            $0.timetable.speed = .times(20_000)
            $0.timetable.gapMax = .seconds(1)
        }
        #expect(hurried.log == reference.log)
    }

    /// A mistyped topic would otherwise look like a lineup in which nothing happens.
    @Test func aPreviewIsOfTheFeedsTopics() throws {
        let known = TopicID("match/1001")
        _ = try replay { $0.preview = [known] }
        let error = #expect(throws: ReplayError.self) {
            try replay { $0.preview = [known, TopicID("match/1o02")] }
        }
        #expect(error?.description.hasPrefix("match/1o02: ") == true)
    }

    @Test func aReplayStopsAtTheTimeOfUntil() throws {
        let half = try #require(FeedTime(rfc3339: "1970-01-01T00:00:00Z"))
        let result = try replay { $0.timetable.until = half }
        #expect(result.summary.events == 0)
    }

    /// A feed of a season: what was over long before its end is told where everything else is.
    @Test func statesOfTopicsThatWereForgottenOnTheWayAreTold() throws {
        let path = NSTemporaryDirectory() + "fanfare-season-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var feed = ""
        for (day, topic) in ["a", "b", "a"].enumerated() {
            let noon = 1_781_204_400 + day * 86_400
            feed += #"{"topic":"\#(topic)","at":\#(noon),"set":{"day":\#(day)}}"# + "\n"
            feed += #"{"topic":"\#(topic)","at":\#(noon + 60),"kind":"end"}"# + "\n"
        }
        try feed.write(toFile: path, atomically: true, encoding: .utf8)
        let result = try replay {
            $0.paths = [path]
            $0.keepsStates = true
        }
        let states = String(decoding: result.states, as: UTF8.self).split(separator: "\n")
        #expect(states.map { $0.prefix(45) }.count == 3)
        #expect(states.map { $0.contains(#""ended":true"#) } == [true, true, true])
        for (day, state) in states.enumerated() { #expect(state.contains(#""state":{"day":\#(day)}"#)) }
        #expect(String(decoding: result.log, as: UTF8.self).contains(#""kind":"forget""#))
    }

    private static func goals(_ lines: [String]) throws -> String {
        let path = NSTemporaryDirectory() + "fanfare-goals-\(UUID().uuidString).ndjson"
        let begin = ["followed", "unfollowed"].map { topic in
            #"{"topic":"match/\#(topic)","topicKind":"football","at":1781204400,"id":"t","kind":"start","#
                + #""fact":{"id":"t","kind":"teams","home":"A","away":"B"}}"#
        }
        try (begin + lines).map { $0 + "\n" }.joined().write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private static func goal(_ number: Int, of topic: String, at second: Int) -> String {
        #"{"topic":"match/\#(topic)","at":\#(1_781_204_400 + second),"id":"g\#(number)","kind":"goal","#
            + #""fact":{"id":"g\#(number)","side":"home"}}"#
    }

    /// A goal that nobody was to be told of came to nobody, and not at once to everybody.
    @Test func aGoalThatNobodyFollowsHasNoTime() throws {
        let path = try ReplayTests.goals(
            (1...4).map { ReplayTests.goal($0, of: $0 % 2 == 0 ? "followed" : "unfollowed", at: $0) })
        defer { try? FileManager.default.removeItem(atPath: path) }
        let goals = try replay {
            $0.paths = [path]
            $0.subscribers.count = 1
        }.summary.goals
        #expect(goals.map { $0.topic.rawValue == "match/followed" } == [false, true, false, true])
        #expect(goals.map { $0.secondsToLast != nil } == [false, true, false, true])
    }

    /// People get it when the pause is over, which is what they have waited for.
    @Test func aGoalThatAPauseHeldBackIsAmongTheGoals() throws {
        let path = try ReplayTests.goals([
            #"{"topic":"match/followed","at":1781204500,"kind":"pause","operator":"pause"}"#,
            ReplayTests.goal(1, of: "followed", at: 110), ReplayTests.goal(2, of: "followed", at: 120),
            #"{"topic":"match/followed","at":1781204540,"kind":"resume","operator":"resume"}"#,
        ])
        defer { try? FileManager.default.removeItem(atPath: path) }
        let clock = ManualClock()
        var options = ReplayOptions(paths: [path])
        options.subscribers.count = 1
        options.clock.wall = clock.source.wall
        options.clock.monotonic = {
            // No two looks at a machine's clock see one moment.
            clock.pass(.microseconds(1))
            return clock.source.monotonic()
        }
        let output = ReplayOutput(
            decision: { line in
                // Ten seconds between each goal and what comes next.
                if String(decoding: line, as: UTF8.self).contains(#""kind":"goal""#) { clock.pass(.seconds(10)) }
            }, report: { _ in })
        let goals = try Replay(options, output: output).run().goals
        #expect(goals.map { $0.secondsToLast.map { Int($0) } } == [20, 10])
    }

    /// Hardly any time passes until the feed is over, as on a machine that is quick: the lineup waits for further alerts meanwhile, and
    /// so many versions come that the shard does not tell all of them apart.
    @Test func aGoalThatWasOvertakenInALineupHasItsTime() throws {
        let kickOffs = ["followed", "unfollowed"].map { topic in
            #"{"topic":"match/\#(topic)","at":1781204401,"id":"k","kind":"period","#
                + #""fact":{"id":"k","kind":"period","period":"1H"}}"#
        }
        let path = try ReplayTests.goals(
            kickOffs + (1...200).map { ReplayTests.goal($0, of: $0 % 2 == 0 ? "followed" : "unfollowed", at: $0 * 10) })
        defer { try? FileManager.default.removeItem(atPath: path) }
        let clock = ManualClock()
        var options = ReplayOptions(paths: [path])
        options.subscribers.count = 2
        options.subscribers.lineups = 2...2
        options.clock.wall = clock.source.wall
        options.clock.monotonic = {
            // No two looks at a machine's clock see one moment.
            clock.pass(.nanoseconds(1))
            return clock.source.monotonic()
        }
        let output = ReplayOutput(report: { _ in }, progress: { if $0.fraction == 1 { clock.pass(.seconds(1)) } })
        let summary = try Replay(options, output: output).run()
        #expect(summary.isClean && summary.goals.count == 200)
        #expect(summary.goals.filter { $0.secondsToLast == nil }.map(\.version) == [])
    }
}
