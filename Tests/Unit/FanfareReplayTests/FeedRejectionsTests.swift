import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct FeedRejectionsTests {
    private func record(
        _ outcome: Outcome, origin: DecisionRecord.Origin = .event, reason: String = ""
    ) -> DecisionRecord {
        DecisionRecord(
            origin: origin, topic: TopicID("match/1"), now: FeedTime(seconds: 1_790_000_000), kind: "goal",
            outcome: outcome, reason: reason)
    }

    @Test(arguments: Outcome.allCases) func onlyARejectedRecordIsCountedAndKept(outcome: Outcome) {
        let record = record(outcome)
        var rejections = FeedRejections()
        rejections.note(record)
        let isRejected = outcome == .rejected
        #expect(rejections.count == (isRejected ? 1 : 0))
        #expect(rejections.first == (isRejected ? [record] : []))
    }

    @Test func aRejectionWithoutATopicIsKeptAsItIs() {
        var record = record(.rejected, reason: "no JSON")
        record.topic = nil
        var rejections = FeedRejections()
        rejections.note(record)
        #expect(rejections.count == 1 && rejections.first == [record])
    }

    @Test func theFirstTenRejectionsAreKeptInOrderAndAllAreCounted() {
        var rejections = FeedRejections()
        for number in 1...12 {
            rejections.note(record(.published))
            rejections.note(record(.rejected, reason: "\(number)"))
        }
        #expect(rejections.first.map(\.reason) == (1...10).map { "\($0)" })
        #expect(rejections.count == 12)
    }
}
