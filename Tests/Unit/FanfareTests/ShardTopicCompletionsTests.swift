import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

@Suite struct ShardTopicCompletionsTests {
    private static func publication(_ version: UInt32) -> Publication {
        Publication.test(UInt64(version), numbered: TopicNumber(place: 0, birth: 7), state: ["n": .int(Int64(version))])
    }

    private static func report(_ version: UInt32, before second: Int64, forJoiners: Bool = false) -> TopicCompletion {
        TopicCompletion(
            publication(version), before: FeedTime(milliseconds: second * 1000), isForJoiners: forJoiners)
    }

    @Test func theEarliestOfTheShardsTimesHolds() {
        var completions = ShardTopicCompletions(perApp: 2)
        #expect(completions.take(Self.report(1, before: 20), app: 0, shard: 0) == nil)
        let whole = completions.take(Self.report(1, before: 10), app: 0, shard: 1)
        #expect(whole?.before == FeedTime(milliseconds: 10_000))
    }

    @Test func aCompletionThatHasBeenToldIsNotToldOnceMore() {
        var completions = ShardTopicCompletions(perApp: 2)
        for shard in 0..<2 { _ = completions.take(Self.report(1, before: 10), app: 0, shard: shard) }
        #expect(completions.take(Self.report(1, before: 20), app: 0, shard: 0) == nil)
        #expect(completions.take(Self.report(1, before: 30), app: 0, shard: 1)?.before.milliseconds == 20_000)
        completions.removeAll()
        _ = completions.take(Self.report(1, before: 20), app: 0, shard: 0)
        #expect(completions.take(Self.report(1, before: 30), app: 0, shard: 1)?.before.milliseconds == 20_000)
    }

    /// Joiners of one shard have what the others have once those speak of their time, too.
    @Test func thoseWhoSpokeOfAnEarlierTimeAreAskedForTheSakeOfJoiners() {
        var completions = ShardTopicCompletions(perApp: 3)
        for (shard, second) in [(0, Int64(10)), (1, 30)] {
            _ = completions.take(Self.report(1, before: second), app: 0, shard: shard)
        }
        let plain = Self.report(1, before: 20)
        _ = completions.take(plain, app: 0, shard: 2)
        let asked = completions.takeBehind(plain, app: 0)
        #expect(asked.isEmpty, "or two shards would ask each other for ever")
        let joined = Self.report(1, before: 20, forJoiners: true)
        _ = completions.take(joined, app: 0, shard: 2)
        for _ in 0..<2 {
            let askedForJoiners = completions.takeBehind(joined, app: 0)
            #expect(askedForJoiners == [0])
        }
        let askedOfOtherApp = completions.takeBehind(joined, app: 1)
        #expect(askedOfOtherApp.isEmpty)
        // A shard that still lacks the new version does not answer, and reports by itself.
        let next = Self.report(2, before: 40, forJoiners: true)
        _ = completions.take(next, app: 0, shard: 2)
        for _ in 0..<2 {
            let askedOfNext = completions.takeBehind(next, app: 0)
            #expect(askedOfNext == [0, 1])
        }
        let askedOfFormer = completions.takeBehind(joined, app: 0)
        #expect(askedOfFormer.isEmpty)
    }

    /// A shard without lineups of a topic says nothing by itself.
    @Test func shardsThatSaidNothingOfLineupsAreAskedOnce() {
        var completions = ShardTopicCompletions(perApp: 2)
        let followers = Self.report(1, before: 10)
        for shard in 0..<2 { _ = completions.take(followers, app: 0, shard: shard) }
        let before = FeedTime(milliseconds: 20_000)
        let lineups = TopicCompletion(Self.publication(1), of: .lineups, before: before)
        let alone = completions.take(lineups, app: 0, shard: 0)
        #expect(alone == nil, "followers are others")
        let asked = completions.takeBehind(lineups, app: 0)
        #expect(asked == [1])
        let whole = completions.take(lineups, app: 0, shard: 1)
        #expect(whole?.scope == .lineups && whole?.before == before)
        let askedAgain = completions.takeBehind(lineups, app: 0)
        #expect(askedAgain.isEmpty)
    }

    private static func lineups(_ version: UInt32, forJoiners: Bool = false) -> TopicCompletion {
        TopicCompletion(
            publication(version), of: .lineups, before: FeedTime(milliseconds: 20_000), isForJoiners: forJoiners)
    }

    @Test func aSilentShardIsAskedOnceForEachVersionWhoeverReports() {
        var completions = ShardTopicCompletions(perApp: 3)
        for version in UInt32(1)...2 {
            for (shard, silent) in [(0, [1, 2]), (1, []), (0, [])] as [(Int, [Int])] {
                _ = completions.take(Self.lineups(version), app: 0, shard: shard)
                let asked = completions.takeBehind(Self.lineups(version), app: 0)
                #expect(asked == silent)
            }
        }
        #expect(completions.violation() == nil)
    }

    /// The shards void their reports one after the other, and only one of them still has lineups of the topic.
    @Test func aShardWhoseReportIsVoidIsAskedOnceMore() {
        var completions = ShardTopicCompletions(perApp: 2)
        let report = Self.lineups(1)
        let void = TopicCompletion(voiding: Self.publication(1), of: .lineups)
        for _ in 0..<2 {
            let alone = completions.take(report, app: 0, shard: 1)
            #expect(alone == nil)
            let asked = completions.takeBehind(report, app: 0)
            #expect(asked == [0])
            let whole = completions.take(report, app: 0, shard: 0)
            #expect(whole?.isVoid == false)
            for shard in 0..<2 { _ = completions.take(void, app: 0, shard: shard) }
        }
        #expect(completions.violation() == nil)
    }

    @Test func aQuestionThatIsPutOffIsAskedLaterUnlessItsVersionIsReplaced() {
        var completions = ShardTopicCompletions(perApp: 3)
        for isForJoiners in [false, true, false] {
            let report = Self.lineups(1, forJoiners: isForJoiners)
            _ = completions.take(report, app: 0, shard: 0)
            completions.postpone(report, app: 0)
        }
        #expect(completions.hasPostponed && completions.violation() == nil)
        let first = completions.takePostponed()
        #expect(first?.app == 0 && first?.report.isForJoiners == true)
        let second = completions.takePostponed()
        #expect(second == nil && !completions.hasPostponed && completions.violation() == nil)
        completions.postpone(Self.lineups(1), app: 0)
        _ = completions.take(Self.lineups(2), app: 0, shard: 1)
        let replaced = completions.takePostponed()
        #expect(replaced == nil && completions.violation() == nil)
    }

    @Test func aSingleShardAsksNobody() {
        var completions = ShardTopicCompletions(perApp: 1)
        let joined = Self.report(1, before: 20, forJoiners: true)
        let whole = completions.take(joined, app: 0, shard: 0)
        #expect(whole?.before == joined.before)
        let asked = completions.takeBehind(joined, app: 0)
        #expect(asked.isEmpty)
    }
}
