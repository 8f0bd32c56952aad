import FanfareDecisions
import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareReplay

@Suite struct ReplayFiguresTests {
    private static let match = TopicID("match/1")
    private static let second: Int64 = 1_000_000_000

    private func figures(events: Int = 4) throws -> ReplayFigures {
        let scan = FeedScan(topics: [Self.match], events: events, skippedFiles: ["notes.txt"])
        var figures = ReplayFigures(try ReplayPlan(ReplayOptions(paths: ["day.ndjson"]), scan: scan))
        figures.connect(at: MonotonicTime(nanoseconds: 0))
        figures.begin(with: ShardCounts(), at: MonotonicTime(nanoseconds: Self.second))
        return figures
    }

    private func goal(_ outcome: Outcome, alert: AlertVerdict? = nil) -> DecisionRecord {
        DecisionRecord(
            origin: .event, topic: Self.match, at: nil, now: FeedTime(seconds: 0), kind: "goal", outcome: outcome,
            reason: "", alert: alert)
    }

    private func publication(_ serial: UInt64) -> Publication {
        Publication.test(serial, of: Self.match, state: [:])
    }

    /// Until `second` seconds after the connections were opened.
    private func finish(
        _ figures: inout ReplayFigures, counts: ShardCounts = ShardCounts(), lastAccepted: Int64? = nil,
        everybodyHasAll: Bool = false, second: Int64 = 3
    ) -> ReplaySummary {
        var freshness = FreshnessReport()
        freshness.lastAccepted = lastAccepted.map { MonotonicTime(nanoseconds: $0) }
        return figures.finish(
            counts: counts, freshness: freshness, everybodyHasAll: everybodyHasAll,
            at: MonotonicTime(nanoseconds: second * Self.second))
    }

    @Test func recordsAreCountedByOutcomeAndAlert() throws {
        var figures = try figures()
        figures.note(goal(.published, alert: .granted), publication(1))
        figures.note(goal(.conflated, alert: .demoted), nil)
        figures.note(goal(.rejected), nil)
        figures.noteInterruption()
        let summary = finish(&figures)
        #expect(summary.decisions.outcomes == [.published: 1, .conflated: 1, .rejected: 1])
        #expect(summary.decisions.updates == 1)
        #expect(summary.decisions.alertsGranted == 1 && summary.decisions.alertsDemoted == 1)
        #expect(summary.interrupted && summary.skippedFiles == ["notes.txt"] && summary.whatIf == nil)
    }

    @Test func secondsCountFromTheFeedAndNotFromTheConnections() throws {
        var figures = try figures()
        let summary = finish(&figures, lastAccepted: 2 * Self.second)
        #expect(summary.resources.seconds == 2 && summary.resources.deliverySeconds == 1)
    }

    @Test func progressIsAShareOfTheFeed() throws {
        var figures = try figures()
        #expect(figures.progress(with: ShardCounts(), at: MonotonicTime(nanoseconds: Self.second)).now == nil)
        figures.noteEvent(at: MonotonicTime(nanoseconds: Self.second), logTime: FeedTime(seconds: 100))
        let progress = figures.progress(with: ShardCounts(), at: MonotonicTime(nanoseconds: 3 * Self.second))
        #expect(progress.fraction == 0.25 && progress.events == 1 && progress.seconds == 2)
        #expect(progress.now == FeedTime(seconds: 100))
        figures.noteTime(FeedTime(seconds: 130))
        #expect(figures.progress(with: ShardCounts(), at: MonotonicTime(nanoseconds: 0)).now == FeedTime(seconds: 130))
        #expect(
            try self.figures(events: 0).progress(with: ShardCounts(), at: MonotonicTime(nanoseconds: 0)).fraction == 1)
    }

    @Test func goalIsTimedUntilItsPublicationIsComplete() throws {
        var figures = try figures()
        figures.noteEvent(at: MonotonicTime(nanoseconds: Self.second), logTime: FeedTime(seconds: 100))
        figures.note(goal(.published), publication(1))
        figures.noteCompletion(of: 1, of: Self.match, at: MonotonicTime(nanoseconds: 3 * Self.second))
        #expect(finish(&figures).goals.map(\.secondsToLast) == [2])
    }

    @Test func overtakenGoalIsTimedWhenEverybodyHasAll() throws {
        for everybodyHasAll in [false, true] {
            var figures = try figures()
            figures.noteEvent(at: MonotonicTime(nanoseconds: Self.second), logTime: FeedTime(seconds: 100))
            figures.note(goal(.published), publication(1))
            figures.noteOvertaken(1, of: Self.match)
            let summary = finish(&figures, lastAccepted: 4 * Self.second, everybodyHasAll: everybodyHasAll)
            #expect(summary.goals.map(\.secondsToLast) == [everybodyHasAll ? 3 : nil])
        }
    }
}
