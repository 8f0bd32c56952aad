import FanfareDecisions
import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareReplay

@Suite struct DecisionTallyTests {
    private func record(
        _ seconds: Int64, _ outcome: Outcome, origin: DecisionRecord.Origin = .event, occasion: OccasionKind? = nil
    ) -> DecisionRecord {
        var record = DecisionRecord(
            origin: origin, topic: TopicID("t"), at: nil, now: FeedTime(seconds: seconds), kind: "x", outcome: outcome,
            reason: "")
        record.occasion = occasion
        return record
    }

    private func publication(_ version: UInt32) -> Publication {
        Publication.test(UInt64(version), of: TopicID("t"), state: [:], priority: .conserving)
    }

    /// A feed with another wrong id in each line.
    @Test func nothingIsRememberedOfTopicsThatAreRefused() {
        var tally = DecisionTally(essentialIn: [.builtIn])
        for number in 0..<100 {
            var refused = record(0, .rejected)
            refused.topic = TopicID("t\(number)")
            tally.note(refused, nil)
        }
        #expect(tally.topicsRemembered == 0)
        #expect(tally.total.events == 100)
        tally.note(record(0, .published), publication(1))
        tally.note(record(1, .rejected), nil)
        #expect(tally.topicsRemembered == 1)
        #expect(tally.total.topics == 1 && tally.total.events == 102)
        #expect(tally.figures[.football]?.events == 2)
    }

    @Test func aTallyCountsWhatWaitedAndForHowLong() {
        var tally = DecisionTally(essentialIn: [.builtIn])
        tally.note(record(0, .published), publication(1))
        tally.note(record(1, .unchanged), nil)
        tally.note(record(2, .conflated), nil)
        tally.note(record(3, .conflated, occasion: .goal), nil)
        tally.note(record(10, .published, origin: .timer), publication(2))
        tally.note(record(11, .conflated), nil)
        tally.note(record(12, .unchanged, origin: .timer), nil)
        tally.note(record(1800, .published), publication(3))
        let figures = tally.figures[.football]
        #expect(figures?.events == 6)
        #expect(figures?.visibleChanges == 5)
        #expect(figures?.updates == 3)
        #expect(figures?.waits.count == 4)
        #expect(figures?.medianWait == .seconds(7))
        #expect(figures?.worstWait == .seconds(8))
        #expect(figures?.essentialDelayed == 1)
        #expect(figures?.pushesPerActivityAndHour == 6)
        #expect(figures?.shareSaved == 0.5)
        #expect(tally.total == figures)
    }
}

@Suite struct WaitTallyTests {
    private func tally(_ milliseconds: [Int64]) -> WaitTally {
        var tally = WaitTally()
        for wait in milliseconds { tally.note(.milliseconds(wait)) }
        return tally
    }

    @Test func theMedianIsTheMiddleOfAll() {
        #expect(tally([]).median == nil && tally([]).worst == nil)
        #expect(tally([3]).median == .milliseconds(3))
        #expect(tally([8000, 0, 7000, 0]).median == .seconds(7))
        #expect(tally([2, 1, 0]).median == .milliseconds(1))
        #expect(tally([90_500]).median == .milliseconds(90_500), "never longer than the longest")
        #expect(tally([90_500, 600_000]).worst == .seconds(600))
    }

    @Test func twoMergedTalliesCountAsOne() {
        var one = tally([5, 0])
        one.add(tally([7, 9, 5]))
        #expect(one == tally([5, 7, 9, 0, 5]))
        one.add(WaitTally())
        #expect(one.count == 5)
    }

    /// Rules have changes wait for an hour at most.
    @Test func minutesAreToldApartByTheSecond() {
        #expect(tally([61_000, 62_000, 200_000]).median == .seconds(62))
    }

    /// Weeks of a live feed.
    @Test func aTallyOfWaitsDoesNotGrow() {
        var tally = WaitTally()
        for wait in Int64(0)..<200_000 { tally.note(.milliseconds(wait * 997)) }
        #expect(tally.remembered < 66_000 && tally.count == 200_000)
        #expect(tally.worst == .milliseconds(199_999 * 997))
        var pauses = WaitTally()
        for wait in Int64(3_600_000)..<3_740_000 { pauses.note(.milliseconds(wait)) }
        #expect(pauses.remembered == 4)
    }
}
