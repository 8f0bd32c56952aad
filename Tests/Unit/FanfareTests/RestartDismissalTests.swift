import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareQueues
import Testing

@testable import Fanfare

/// Rule L3 across a restart: an ended card stays for what is left of its time.
@Suite struct RestartDismissalTests {
    private static let topic = TopicID("order/1")
    private static let begun = FeedTime(seconds: 1_790_000_000)
    private static let ended = begun + .seconds(60)

    private static func core(_ rules: Rules, _ rings: ShardRings = ShardRings(), isLive: Bool = true) -> EngineCore {
        EngineCore(rules: rules, shards: [ShardLink(rings) {}], perApp: 1, isLive: isLive)
    }

    /// Log of an order that has ended, and of the seconds since.
    private static func log(_ rules: Rules, _ seconds: Int64) throws -> MemoryLog {
        let log = MemoryLog()
        // The first recall of a log gives it the rules.
        try core(rules).recall(log, under: rules)
        let patch = FeedEvent(
            topic: topic, topicKind: .generic, at: begun, kind: "patch", change: .patch(["eta": 5]))
        let end = FeedEvent(topic: topic, at: ended, kind: "end", lifecycle: .end, change: .nothing)
        log.append([
            LogEntry(now: begun, .event(patch, wall: begun)), LogEntry(now: ended, .event(end, wall: nil)),
            LogEntry(now: ended + .seconds(seconds), .tick),
        ])
        return log
    }

    /// Returns the dismissals of the publications that a restart hands to its shard.
    ///
    /// - Parameters:
    ///   - seconds: log time from the end to the last entry.
    ///   - wall: wall clock time of the restart.
    private static func dismissals(
        _ rules: Rules, after seconds: Int64, wall: FeedTime, isLive: Bool = true
    ) throws -> [DismissalTime?] {
        let rings = ShardRings()
        let core = core(rules, rings, isLive: isLive)
        let log = try log(rules, seconds)
        let earlier = try EarlierProcess(log) { _ in }
        let horizon = earlier.horizon(since: begun) { wall }
        _ = try core.recall(log, under: rules, LogRules(rules), within: horizon, report: { _ in })
        core.turnIsOver()
        var commands = rings.commands.takeConsumer()
        var found: [DismissalTime?] = []
        while let command = commands.pop() {
            if case .publish(let publication) = command { found.append(publication.dismissal) }
        }
        return found
    }

    /// The card stays for 15 minutes.
    @Test(arguments: [(0, 900), (100, 800), (300, 600), (1000, 0)] as [(Int64, Int64)])
    func L3_aRestartHandsOverWhatIsLeftOfADismissal(passed: Int64, left: Int64) throws {
        let found = try Self.dismissals(.builtIn, after: passed, wall: Self.ended + .seconds(passed))
        #expect(found == [.after(.seconds(left))])
    }

    /// A downtime of three hours came before the end, which does not tell its wall clock time. Counted by the wall clock, the end of a minute ago would
    /// be three hours old, and the final score would leave at once.
    @Test func L3_anEndAfterADowntimeKeepsWhatIsLeftByLogTime() throws {
        let found = try Self.dismissals(.builtIn, after: 60, wall: Self.ended + .seconds(3 * 3600 + 60))
        #expect(found == [.after(.seconds(840))])
    }

    /// A recorded feed plays hours in seconds: its time would take the final score away at once.
    @Test func L3_aReplayThatGoesOnKeepsTheWholeDismissal() throws {
        let found = try Self.dismissals(
            .builtIn, after: 3600, wall: Self.ended + .seconds(5), isLive: false)
        #expect(found == [.after(.seconds(900))])
    }

    @Test func L3_aRestartLeavesADateAsItIs() throws {
        let date = Self.ended + .seconds(1200)
        var rules = Rules.builtIn
        rules.other.lifetime.dismissal = .at(date)
        let found = try Self.dismissals(rules, after: 300, wall: Self.ended + .seconds(300))
        #expect(found == [.at(date)])
    }
}
