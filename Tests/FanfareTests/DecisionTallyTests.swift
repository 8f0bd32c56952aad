import FanfareCore
import Testing

@testable import Fanfare

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
        Publication(
            serial: UInt64(version), topicID: TopicID("t"), topicKind: .football,
            version: version, event: .update, state: EncodedState([:]), priority: .conserving, alert: nil,
            staleAfter: nil, dismissAfter: nil)
    }

    @Test func countsWhatWaitedAndForHowLong() {
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
        #expect(figures?.waits == [0, 0, 7000, 8000])
        #expect(figures?.worstWait == .seconds(8))
        #expect(figures?.essentialDelayed == 1)
        #expect(figures?.pushesPerActivityAndHour == 6)
        #expect(figures?.shareSaved == 0.5)
        #expect(tally.total == figures)
    }
}
