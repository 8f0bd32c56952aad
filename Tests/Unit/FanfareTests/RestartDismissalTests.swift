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

    private static func core(_ rules: Rules, _ rings: ShardRings = ShardRings()) -> EngineCore {
        EngineCore(rules: rules, shards: [ShardLink(rings) {}], perApp: 1, isLive: true)
    }

    /// Log of an order that has ended, and of a hundred seconds since.
    private static func log(_ rules: Rules) throws -> MemoryLog {
        let log = MemoryLog()
        // The first recall of a log gives it the rules.
        try core(rules).recall(log, under: rules)
        let patch = FeedEvent(
            topic: topic, topicKind: .generic, at: begun, kind: "patch", change: .patch(["eta": 5]))
        let end = FeedEvent(topic: topic, at: ended, kind: "end", lifecycle: .end, change: .nothing)
        log.append([
            LogEntry(now: begun, .event(patch, wall: nil)), LogEntry(now: ended, .event(end, wall: nil)),
            LogEntry(now: ended + .seconds(100), .tick),
        ])
        return log
    }

    /// Returns the dismissals of the publications that a restart hands to its shard.
    ///
    /// - Parameter present: seconds from the end to the present time of the log; `nil` if the restart counts by log time.
    private static func dismissals(_ rules: Rules, at present: Int64?) throws -> [DismissalTime?] {
        let rings = ShardRings()
        let core = core(rules, rings)
        let time = present.map { ended + .seconds($0) }
        _ = try core.recall(log(rules), under: rules, LogRules(rules), within: nil, at: { time }, report: { _ in })
        core.turnIsOver()
        var commands = rings.commands.takeConsumer()
        var found: [DismissalTime?] = []
        while let command = commands.pop() {
            if case .publish(let publication) = command { found.append(publication.dismissal) }
        }
        return found
    }

    /// The card stays for 15 minutes. Log time alone says that 100 seconds of them have passed, also beside a clock that was set back.
    @Test(arguments: [(nil, 800), (300, 600), (-86_400, 800), (86_400, 0)] as [(Int64?, Int64)])
    func L3_aRestartHandsOverWhatIsLeftOfADismissal(present: Int64?, left: Int64) throws {
        let found = try Self.dismissals(.builtIn, at: present)
        #expect(found == [.after(.seconds(left))])
    }

    @Test func L3_aRestartLeavesADateAsItIs() throws {
        let date = Self.ended + .seconds(1200)
        var rules = Rules.builtIn
        rules.other.lifetime.dismissal = .at(date)
        let found = try Self.dismissals(rules, at: 300)
        #expect(found == [.at(date)])
    }
}
