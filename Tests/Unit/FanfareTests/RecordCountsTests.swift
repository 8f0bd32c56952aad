import FanfareModel
import Testing

@testable import Fanfare

@Suite struct RecordCountsTests {
    private static func record(_ outcome: Outcome, _ origin: DecisionRecord.Origin = .event) -> DecisionRecord {
        DecisionRecord(
            origin: origin, topic: TopicID("match"), now: FeedTime(seconds: 1_790_000_000), kind: "goal",
            outcome: outcome, reason: "")
    }

    @Test(arguments: [DecisionRecord.Origin.event, .timer])
    func eachRecordIsCountedOnceAndOnlyARejectedOneAsRejected(origin: DecisionRecord.Origin) {
        for outcome in Outcome.allCases {
            var counts = RecordCounts()
            counts.note(Self.record(outcome, origin))
            #expect(counts == RecordCounts(all: 1, rejected: outcome == .rejected ? 1 : 0), "\(outcome)")
        }
    }

    @Test func recordsAreCountedOnFromThoseOfACheckpoint() {
        var counts = RecordCounts(all: 41, rejected: 7)
        for outcome in [Outcome.published, .rejected, .duplicate, .rejected] { counts.note(Self.record(outcome)) }
        #expect(counts == RecordCounts(all: 45, rejected: 9))
    }
}
