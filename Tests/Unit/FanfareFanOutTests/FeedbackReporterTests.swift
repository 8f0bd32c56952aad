import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct FeedbackReporterTests {
    private let reporter = FeedbackReporter(feedbackMax: 3)
    private let moment = Moment(wallMilliseconds: 0, monotonicNanoseconds: 5_000_000_000)

    private func facts() -> [String] {
        reporter.takeAll().map { fact in
            switch fact {
            case .completed(let serial, let at): "completed \(serial) at \(at.map { "\($0.nanoseconds)" } ?? "once")"
            case .overtaken(let serial): "overtaken \(serial)"
            case .fate(_, let fate): "\(fate)"
            case .deadToken: "dead token"
            default: "another"
            }
        }
    }

    @Test func publicationIsCompletedByItsLastAudienceOnly() {
        let kind = reporter.freshness.index(of: .football)
        reporter.publications.track(7, audiences: 2, freshness: kind, at: 1_000_000_000)
        reporter.complete(7, at: moment)
        #expect(facts().isEmpty)
        reporter.complete(7, at: moment)
        #expect(facts() == ["completed 7 at 5000000000"])
        reporter.complete(7, at: moment)
        #expect(facts().isEmpty)
    }

    @Test func overtakenPublicationIsReportedOnceAndNeverCompleted() {
        reporter.publications.track(7, audiences: 1, freshness: 0, at: 0)
        reporter.overtake(7)
        reporter.overtake(7)
        reporter.complete(7, at: moment)
        #expect(facts() == ["overtaken 7"])
    }

    @Test func activityThatLostItsNameIsNotReported() {
        let id = reporter.surrogates.add { _ in false }
        reporter.report(.ended, of: id)
        reporter.reportDead(id)
        #expect(facts().isEmpty)
        reporter.surrogates.remove(id)
        reporter.report(.ended, of: id)
        reporter.reportDead(id)
        #expect(facts() == ["ended", "dead token"])
    }

    @Test func reporterIsHeldUpWhileAsManyFactsWaitAsItMayHold() {
        for _ in 1...2 { reporter.refuse(ActivityID(1), .unknownActivity) }
        #expect(!reporter.isFeedbackFull)
        reporter.refuse(ActivityID(1), .unknownActivity)
        #expect(reporter.isFeedbackFull)
        #expect(facts().count == 3 && !reporter.isFeedbackFull && reporter.violation() == nil)
    }
}
