import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

@Suite struct EntryMakerTests {
    private static let now = FeedTime(seconds: 1_790_000_000)

    /// Entries that were to be made durable.
    private final class Commits {
        var entries: [LogEntry] = []
    }

    private static func maker() -> (maker: EntryMaker, intake: Intake, commits: Commits) {
        let commits = Commits()
        let intake = Intake(commit: { commits.entries += $0 }, write: { _ in })
        let rings = ShardRings(commandsMax: 64, feedbackMax: 64)
        let core = EngineCore(shards: [ShardLink(rings) {}], perApp: 1, isLive: true)
        let inbox = Inbox(capacity: 64, topicIDSizeMax: .bytes(256), hasStore: true)
        let keyed = KeyedCalls(core, CoreReports(clock: ThreadClock(ManualClock().source)) { _ in })
        return (EntryMaker(intake, inbox, keyed), intake, commits)
    }

    private static func moment(milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test func anEntryAdvancesTimeOnlyIfATimerIsDue() {
        let (maker, intake, commits) = Self.maker()
        maker.tick(due: nil, Self.now, at: Self.moment(milliseconds: 0))
        maker.tick(due: Self.now + .seconds(1), Self.now, at: Self.moment(milliseconds: 0))
        #expect(!intake.holdsEntry)
        maker.tick(due: Self.now, Self.now, at: Self.moment(milliseconds: 0))
        intake.send(at: Self.moment(milliseconds: 0), now: Self.now)
        #expect(commits.entries == [LogEntry(now: Self.now, .tick)])
    }

    @Test func twoEntriesThatOnlyAdvanceTimeAreApart() {
        let (maker, intake, _) = Self.maker()
        func holds(at milliseconds: Int64) -> Bool {
            maker.tick(due: Self.now, Self.now, at: Self.moment(milliseconds: milliseconds))
            return intake.holdsEntry
        }
        let first = holds(at: 0)
        intake.send(at: Self.moment(milliseconds: 0), now: Self.now)
        let isOnItsWay = holds(at: 500)
        intake.entriesAreDurable(from: 1)
        let isReady = holds(at: 500)
        _ = intake.take()
        let early = holds(at: 99)
        let second = holds(at: 100)
        #expect(first && second && !early)
        #expect(!isOnItsWay && !isReady, "the core has not decided the first one")
    }

    @Test func theEntryOfACallHasItsKeyAndARepeatedCallMakesNone() throws {
        let (maker, intake, commits) = Self.maker()
        let key = CallKey(try IdempotencyKey("job/7"), content: 1)
        for _ in 0..<2 { maker.hold(.keyed(key, .event(.number(1)), nil), Self.now, wall: Self.now) }
        intake.send(at: Self.moment(milliseconds: 0), now: Self.now)
        let keys = commits.entries.map(\.key)
        #expect(keys == [key])
    }
}
