import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct ReplaySummaryTests {
    private func record(_ outcome: Outcome, alert: AlertVerdict? = nil) -> DecisionRecord {
        DecisionRecord(
            origin: .event, topic: TopicID("match/1"), at: nil, now: FeedTime(seconds: 0), kind: "goal",
            outcome: outcome, reason: "", alert: alert)
    }

    @Test func eachDecisionIsCountedOnceByOutcomeAndByAlert() {
        var decisions = DecisionCounts()
        decisions.note(record(.published, alert: .granted), isUpdate: true)
        decisions.note(record(.published), isUpdate: true)
        decisions.note(record(.conflated, alert: .demoted), isUpdate: false)
        #expect(decisions.outcomes == [.published: 2, .conflated: 1] && decisions.updates == 2)
        #expect(decisions.alertsGranted == 1 && decisions.alertsDemoted == 1)
    }

    @Test func aRejectionOfAnyRunMakesAReplayUnclean() {
        #expect(ReplaySummary().isClean)
        var summary = ReplaySummary()
        summary.decisions.note(record(.rejected), isUpdate: false)
        #expect(!summary.isClean)
        summary = ReplaySummary()
        summary.recall.entries = 9
        #expect(summary.isClean)
        summary.recall.rejections = 1
        #expect(!summary.isClean)
    }
}
