import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct ShownTests {
    private func published(_ versions: Int, isLast: Bool = false) -> Shown {
        var shown = Shown()
        for version in 1...versions {
            let isLast = isLast && version == versions
            _ = shown.publish(["n": 1], hasBegun: true, isLast: isLast, now: at(Double(version)))
        }
        return shown
    }

    @Test func startIsTheFirstPublication() {
        var shown = Shown()
        #expect(shown.state == nil && shown.startedAt == nil && shown.publishedAt == nil)
        let first = shown.publish(["n": 1], hasBegun: false, isLast: false, now: at(10))
        let second = shown.publish(["n": 2], hasBegun: true, isLast: false, now: at(30))
        #expect(first == at(10) && second == at(10))
        #expect(shown.version == 2 && shown.state == ["n": 2] && shown.hasBegun)
        #expect(shown.startedAt == at(10) && shown.publishedAt == at(30))
    }

    @Test func updateWaitsForTheInterval() {
        #expect(Shown().nextUpdate(after: .seconds(2), now: at(100)) == at(100))
        #expect(published(3).nextUpdate(after: .seconds(2), now: at(100)) == at(5))
    }

    @Test func reopenedTopicKeepsItsVersionsOnly() {
        var shown = published(3, isLast: true)
        shown.allowReopening()
        #expect(shown.ended && shown.mayReopen)
        shown.reopen()
        #expect(shown.version == 3 && !shown.ended && !shown.mayReopen && !shown.hasBegun)
        #expect(shown.state == nil && shown.startedAt == nil && shown.publishedAt == nil)
    }

    @Test func runningTopicNeedsNoReopening() {
        var shown = published(1)
        shown.allowReopening()
        #expect(!shown.mayReopen)
    }
}
