import FanfareFanOut
import FanfareModel
import FanfareQueues
import Testing

@testable import Fanfare

/// Sums of what the shards have reported last.
@Suite struct ShardFiguresTests {
    private static func counts(activities: Int, sent: Int) -> ShardCounts {
        var counts = ShardCounts()
        counts.activities = activities
        counts.pushes.sent = sent
        return counts
    }

    /// - Parameter ages: ages of the kind's states when they left.
    private static func report(
        ages: [Int64] = [], of kind: TopicKind = .football, oldest: Int64 = 0, accepted: Int64? = nil
    ) -> FreshnessReport {
        var report = FreshnessReport()
        if !ages.isEmpty {
            var freshness = Freshness()
            for age in ages { freshness.stateAge.record(age) }
            report.kinds[kind] = freshness
        }
        report.oldestUndelivered = .nanoseconds(oldest)
        report.lastAccepted = accepted.map { MonotonicTime(nanoseconds: $0) }
        return report
    }

    @Test func shardsThatHaveReportedNothingCountForNothing() {
        var figures = ShardFigures(shards: 3)
        #expect(figures.counts == ShardCounts() && figures.freshness == FreshnessReport())
        let counts = Self.counts(activities: 3, sent: 5)
        figures.update(counts, of: 2)
        #expect(figures.counts == counts && figures.freshness == FreshnessReport())
        let report = Self.report(ages: [7], oldest: 11, accepted: 13)
        figures.update(report, of: 0)
        #expect(figures.counts == counts && figures.freshness == report)
    }

    @Test func theFirstAndTheLastShardCountLikeThoseBetween() {
        var figures = ShardFigures(shards: 3)
        for (shard, activities) in [1, 10, 100].enumerated() {
            figures.update(Self.counts(activities: activities, sent: 2 * activities), of: shard)
        }
        #expect(figures.counts == Self.counts(activities: 111, sent: 222))
    }

    /// A shard reports all that it has counted since the start, and the activities that it has now.
    @Test func theNewestCountsOfAShardReplaceItsOlderOnes() {
        var figures = ShardFigures(shards: 2)
        figures.update(Self.counts(activities: 10, sent: 20), of: 0)
        figures.update(Self.counts(activities: 100, sent: 200), of: 1)
        figures.update(Self.counts(activities: 4, sent: 30), of: 0)
        #expect(figures.counts == Self.counts(activities: 104, sent: 230))
    }

    @Test func agesAreAddedUpOverTheShardsForEachKindApart() {
        var figures = ShardFigures(shards: 3)
        figures.update(Self.report(ages: [10, 20]), of: 0)
        figures.update(Self.report(ages: [30]), of: 1)
        figures.update(Self.report(ages: [40], of: .transit), of: 2)
        let kinds = figures.freshness.kinds
        #expect(
            kinds == Self.report(ages: [10, 20, 30]).kinds.merging(Self.report(ages: [40], of: .transit).kinds) { $1 })
        // A shard's newest report has the ages of its older ones.
        figures.update(Self.report(ages: [30, 50]), of: 1)
        #expect(figures.freshness.kinds[.football] == Self.report(ages: [10, 20, 30, 50]).kinds[.football])
    }

    @Test func theShardThatIsMostBehindTellsTheOldestPublicationUntilItHasCaughtUp() {
        var figures = ShardFigures(shards: 2)
        figures.update(Self.report(oldest: 7), of: 0)
        figures.update(Self.report(oldest: 3), of: 1)
        #expect(figures.freshness.oldestUndelivered == .nanoseconds(7))
        figures.update(Self.report(), of: 0)
        #expect(figures.freshness.oldestUndelivered == .nanoseconds(3))
    }

    @Test func theLastPushIsThatOfTheShardWhosePushWasAcceptedLast() {
        var figures = ShardFigures(shards: 2)
        figures.update(Self.report(accepted: 5), of: 1)
        figures.update(Self.report(accepted: 4), of: 0)
        #expect(figures.freshness.lastAccepted == MonotonicTime(nanoseconds: 5))
        figures.update(Self.report(accepted: 6), of: 0)
        #expect(figures.freshness.lastAccepted == MonotonicTime(nanoseconds: 6))
    }
}
