import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Testing

@testable import Fanfare

/// The counts of a store, as a person on call asks for them.
@Suite(.timeLimit(.minutes(5))) struct EngineStoreCountsTests {
    private static func engine(_ store: StoreChoice?) throws -> Engine {
        try Engine(Engine.Options(transport: .discard, store: store))
    }

    private static func follow(_ engine: Engine) async throws {
        _ = try await engine.follow(
            .topic(TopicID("topic")), activity: "card", subscriber: "anna", token: [1, 2, 3])
    }

    @Test func anEngineWithoutAStoreHasNoCountsOfOne() async throws {
        let engine = try Self.engine(nil)
        #expect(engine.storeCounts() == nil)
        _ = await engine.shutdown()
    }

    @Test func theCountsHaveWhatTheStoreHasAcknowledged() async throws {
        let folder = TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let engine = try Self.engine(.folder(folder.path))
        let first = try await engine.ingest(.number(1))
        let last = try await engine.ingest(.number(2))
        try await Self.follow(engine)
        let counts = try #require(engine.storeCounts())
        let (oldest, newest) = (try #require(counts.oldestEntry), try #require(counts.newestEntry))
        let (firstEntry, lastEntry) = (try #require(first.entry), try #require(last.entry))
        #expect(oldest <= firstEntry && newest >= lastEntry)
        #expect(counts.cards == 1 && counts.claimsWaiting == 0)
        let people = try #require(counts.people)
        for commits in [counts.log, people] {
            #expect(commits.times.count > 0 && commits.times.max > .zero && commits.trouble == nil)
            #expect(commits.written > .zero && commits.fileSize > commits.written)
            #expect(commits.mapSize >= commits.fileSize)
        }
        let claims = try #require(counts.claims)
        #expect(claims.mapSize > .zero && claims.trouble == nil)
        _ = await engine.shutdown()
        // The store's threads have ended, and their figures stay.
        let after = try #require(engine.storeCounts())
        #expect(after.entriesWaiting == 0 && after.changesWaiting == 0 && after.log.running == nil)
    }

    @Test func nothingWaitsOnceAStopHasGivenUpWhatTheDiskRefuses() async throws {
        let log = FailingLog()
        let engine = try Self.engine(.parts(log: log, people: MemoryPeopleStore(), claims: MemoryClaims()))
        log.fails.withLock { $0 = true }
        let event = Task { try await engine.ingest(.number(1)) }
        var before = try #require(engine.storeCounts())
        while before.log.trouble == nil || before.entriesWaiting == 0 {
            await Task.yield()
            before = try #require(engine.storeCounts())
        }
        // The change is carried out after the event.
        let change = Task { try await Self.follow(engine) }
        while before.changesWaiting == 0 {
            await Task.yield()
            before = try #require(engine.storeCounts())
        }
        let report = await engine.shutdown(within: .zero)
        _ = await (event.result, change.result)
        let after = try #require(engine.storeCounts())
        #expect(report.unstored > 0 && before.log.running != nil)
        #expect(after.entriesWaiting == 0 && after.changesWaiting == 0 && after.claimsWaiting == 0)
        #expect(after.log.running == nil && after.log.trouble == nil)
        #expect(after.log.times.count == before.log.times.count)
    }

    @Test func theCountsOfAnEmptyLogHaveNoPositions() {
        let meter = CommitMeter()
        let empty = StoreCounts(log: meter, entriesWaiting: 0)
        #expect(empty.oldestEntry == nil && empty.newestEntry == nil && empty == StoreCounts())
        meter.noteWaiting(3)
        let waiting = StoreMeters(log: meter, people: CommitMeter(), claims: CommitMeter()).counts(changesWaiting: 5)
        #expect(waiting.entriesWaiting == 3 && waiting.changesWaiting == 5 && waiting.cards == nil)
    }
}
