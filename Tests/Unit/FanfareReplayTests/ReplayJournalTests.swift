import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareReplay

@Suite struct ReplayJournalTests {
    /// Messages of a journal.
    private final class Reader {
        var lines: [String] = []
        var log: [String] = []
        var isBehind = false
        let clock = ManualClock()

        func journal() -> ReplayJournal {
            var output = ReplayOutput(
                decision: { [unowned self] in log.append(String(decoding: $0, as: UTF8.self)) },
                report: { [unowned self] in lines.append($0) })
            output.isFull = { [unowned self] in isBehind }
            return ReplayJournal(output, clock: clock.source)
        }
    }

    private func record(_ outcome: Outcome, topic: TopicID? = nil, reason: String) -> DecisionRecord {
        DecisionRecord(
            origin: .event, topic: topic, at: nil, now: FeedTime(seconds: 0), kind: "goal", outcome: outcome,
            reason: reason)
    }

    @Test func rejectionIsTold() {
        let reader = Reader()
        let journal = reader.journal()
        journal.note(record(.rejected, reason: "feed:1: broken"))
        journal.note(record(.rejected, topic: TopicID("match/1"), reason: "too many facts"))
        journal.note(record(.unchanged, topic: TopicID("match/1"), reason: "nothing"))
        #expect(reader.lines == ["feed:1: broken", "match/1: too many facts"])
        #expect(reader.log.count == 3 && reader.log.allSatisfy { $0.hasSuffix("\n") })
    }

    @Test func equalLineIsToldOnceAMinute() {
        let reader = Reader()
        let journal = reader.journal()
        for _ in 0..<3 { journal.reportOnce("nobody answers") }
        #expect(reader.lines == ["nobody answers"])
        reader.clock.pass(.seconds(60))
        journal.reportOnce("nobody answers")
        #expect(reader.lines.count == 2)
    }

    @Test func readerOfTheLogHoldsUpTheFeed() {
        let reader = Reader()
        let journal = reader.journal()
        #expect(!journal.isFull)
        reader.isBehind = true
        #expect(journal.isFull)
    }

    @Test func feedOfWhichNothingWasVisibleIsTold() {
        let reader = Reader()
        let journal = reader.journal()
        var summary = ReplaySummary()
        journal.finish(summary)
        #expect(reader.lines == [], "there was nothing to see")
        summary.decisions.outcomes[.unchanged] = 1
        journal.finish(summary)
        #expect(reader.lines.count == 1 && reader.lines[0].hasPrefix("nothing of the feed was visible"))
    }
}
