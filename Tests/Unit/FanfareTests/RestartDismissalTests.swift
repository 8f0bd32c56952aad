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

    /// Returns the commands with which a restart begins its shard.
    ///
    /// - Parameters:
    ///   - seconds: log time from the end to the last entry.
    ///   - wall: wall clock time of the restart.
    ///   - completions: completions of the process before; `nil` if none are kept.
    private static func commands(
        _ rules: Rules, after seconds: Int64, wall: FeedTime, isLive: Bool = true,
        keeping completions: EarlierCompletions? = nil
    ) throws -> [ShardCommand] {
        let rings = ShardRings()
        let core = core(rules, rings, isLive: isLive)
        if let completions { core.keepCompletions(completions) }
        let log = try log(rules, seconds)
        let earlier = try EarlierProcess(log) { _ in }
        let horizon = earlier.horizon(since: begun) { wall }
        _ = try core.recall(log, under: rules, LogRules(rules), within: horizon, report: { _ in })
        core.turnIsOver()
        var commands = rings.commands.takeConsumer()
        var found: [ShardCommand] = []
        while let command = commands.pop() { found.append(command) }
        return found
    }

    /// Returns the dismissals of the publications that a restart hands to its shard.
    private static func dismissals(
        _ rules: Rules, after seconds: Int64, wall: FeedTime, isLive: Bool = true
    ) throws -> [DismissalTime?] {
        try commands(rules, after: seconds, wall: wall, isLive: isLive).compactMap { command -> DismissalTime?? in
            if case .publish(let publication) = command { .some(publication.dismissal) } else { nil }
        }
    }

    /// Returns whether a restart believes a completion of the end in lineups.
    ///
    /// - Parameters:
    ///   - before: log time of the completion, in seconds after the end.
    ///   - seconds: log time from the end to the last entry.
    private static func believes(
        completionBefore before: Int64, after seconds: Int64, _ rules: Rules = .builtIn, isLive: Bool = true
    ) throws -> Bool {
        let wall = ended + .seconds(seconds)
        let publications = try commands(rules, after: seconds, wall: wall, isLive: isLive)
            .compactMap { command -> Publication? in
                if case .publish(let publication) = command { publication } else { nil }
            }
        let end = try #require(publications.first)
        var completions = EarlierCompletions()
        let completion = TopicCompletion(end, of: .lineups, before: ended + .seconds(before), except: [])
        completions.insert(
            StoredCompletion(completion, app: nil, serials: 0),
            at: CompletionKey(birth: end.topic.birth, app: 0, of: .lineups))
        completions.through = .max
        let found = try commands(rules, after: seconds, wall: wall, isLive: isLive, keeping: completions)
        return found.contains { command in
            if case .publishResumed(let resumed) = command { resumed.isCompleteInLineups } else { false }
        }
    }

    /// The card's row leaves lineups 15 minutes after the end. A process that died before the store's note has left the row on the cards.
    @Test(
        arguments: [
            (60, 899, true), (60, 900, false), (899, 1000, false), (900, 1000, true), (950, 1000, true),
        ] as [(Int64, Int64, Bool)])
    func aRestartBelievesNoCompletionOfLineupsThatARowWasToLeaveSince(
        before: Int64, passed: Int64, isBelieved: Bool
    ) throws {
        let believes = try Self.believes(completionBefore: before, after: passed)
        #expect(believes == isBelieved)
    }

    /// Neither is over by log time.
    @Test func aRestartBelievesCompletionsOfLineupsWithADateOrInAReplay() throws {
        var rules = Rules.builtIn
        rules.other.lifetime.dismissal = .at(Self.ended + .seconds(900))
        let withDate = try Self.believes(completionBefore: 60, after: 1000, rules)
        let inReplay = try Self.believes(completionBefore: 60, after: 1000, isLive: false)
        #expect(withDate && inReplay)
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
