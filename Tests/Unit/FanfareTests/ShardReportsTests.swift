import FanfareFanOut
import FanfareQueues
import Testing

@testable import Fanfare

@Suite struct ShardReportsTests {
    private func lines(of feedback: [ShardFeedback]) -> [String] {
        feedback.compactMap { (fact) -> String? in
            guard case .report(let line) = fact else { return nil }
            return line
        }
    }

    @Test func anEqualLineWaitsOnce() {
        var reports = ShardReports()
        reports.append("the key is refused")
        reports.append("the key is accepted")
        reports.append("the key is refused")
        let waiting = lines(of: reports.takeAll())
        #expect(waiting == ["the key is refused", "the key is accepted"])
        #expect(reports.isEmpty)
    }

    @Test func feedbackThatFindsNoRoomWaitsForTheNextTurn() {
        let rings = ShardRings(commandsMax: 8, feedbackMax: 2)
        var ring = rings.feedback.takeProducer()
        var reports = ShardReports()
        for number in 1...3 { reports.append("line \(number)") }
        let first = reports.send(to: &ring)
        #expect(first && !reports.isEmpty)
        let second = reports.send(to: &ring)
        #expect(!second, "the ring is full")
        let waiting = lines(of: reports.takeAll())
        #expect(waiting == ["line 3"])
    }

    @Test func linesBeyondTheLimitAreToldByTheirNumber() {
        let rings = ShardRings(commandsMax: 8, feedbackMax: 512)
        var ring = rings.feedback.takeProducer()
        var reports = ShardReports()
        for number in 1...ShardReports.linesMax + 3 { reports.append("line \(number)") }
        let hasSent = reports.send(to: &ring)
        #expect(hasSent)
        let waiting = lines(of: reports.takeAll())
        #expect(waiting == ["3 more lines of a shard were left out: the core was at work for too long"])
    }
}
