import Fanfare
import FanfareFeeds
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
            $0.subscribers = 5000
            $0.shards = 2
        }
        #expect(result.summary.isClean)
        #expect(result.summary.undelivered == 0)
        #expect(result.summary.counts.pushes.accepted >= 5000)
        #expect(result.summary.goals.count > 10)
        #expect(result.summary.goals.allSatisfy { $0.secondsToLast != nil })
    }

    @Test func lineupsToo() throws {
        let result = try replay {
            $0.subscribers = 5000
            $0.lineups = 3...5
        }
        #expect(result.summary.isClean)
        #expect(result.summary.counts.pushes.accepted >= 5000)
    }

    /// Invariant 9: speed, shards and waiting shortened by `gapMax` change no byte.
    @Test func theLogDependsOnNothingButTheFeed() throws {
        let reference = try replay { _ in }
        #expect(!reference.log.isEmpty)
        let paced = try replay {
            $0.speed = .times(20_000)
            $0.shards = 2
            $0.subscribers = 100
        }
        #expect(paced.log == reference.log)
        #expect(paced.states == reference.states)
        let hurried = try replay {
            $0.speed = .times(20_000)
            $0.gapMax = .seconds(1)
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

    @Test func untilStopsThere() throws {
        let half = try #require(FeedTime(rfc3339: "1970-01-01T00:00:00Z"))
        let result = try replay { $0.until = half }
        #expect(result.summary.events == 0)
    }
}
