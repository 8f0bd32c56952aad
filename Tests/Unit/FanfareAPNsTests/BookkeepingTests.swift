import FanfareFanOut
import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct BookkeepingTests {
    @Test func equalReportsComeOnceAMinuteWithTheirCount() {
        var log = ReportLog()
        #expect(said(&log, "refused", .zero) == "refused")
        for second in 1...59 { #expect(said(&log, "refused", .seconds(second)) == nil) }
        #expect(said(&log, "other", .seconds(30)) == "other")
        #expect(
            said(&log, "refused", .seconds(60)) == "refused (and 59 times since the last time this was said)")
        #expect(said(&log, "refused", .seconds(120)) == "refused")
    }

    /// The patience is four times the shortest round trip, because a slow peer's queue may take that long, between the usual time and
    /// three times that.
    @Test func anAnswerIsWaitedForThreeTimesTheUsualTimeAtMost() {
        for (least, seconds) in [(0, 10), (2, 10), (3, 12), (7, 28), (8, 30), (1000, 30)] as [(Int64, Int64)] {
            let patience = AnswerDeadline.patience(usual: .seconds(10), least: .seconds(least))
            #expect(patience == .seconds(seconds), "\(least)")
        }
    }

    @Test func manyDifferentReportsForgetTheOldest() {
        var log = ReportLog()
        for number in 0...ReportLog.textsMax { #expect(said(&log, "\(number)", .zero) != nil) }
        #expect(said(&log, "\(ReportLog.textsMax)", .zero) == nil)
        #expect(said(&log, "0", .zero) == "0")
    }

    private func said(_ log: inout ReportLog, _ text: String, _ passed: Duration) -> String? {
        log.admit(text, at: .after(passed))
    }

    @Test func reasonsAreCountedAndBounded() {
        var statistics = TransportStatistics()
        let first = statistics.count(status: 410, reason: "ExpiredToken")
        let second = statistics.count(status: 410, reason: "ExpiredToken")
        #expect(first && !second)
        #expect(statistics.reasons.values.reduce(0, +) == 2)
        for number in 0..<1000 { _ = statistics.count(status: 400, reason: "Made up \(number)") }
        #expect(statistics.reasons.count <= TransportStatistics.reasonsMax + 1)
        #expect(statistics.reasons.values.reduce(0, +) == 1002)
    }

    @Test func statisticsOfShardsAddUp() {
        var sum = TransportStatistics()
        for _ in 0..<3 {
            var shard = TransportStatistics()
            shard.sent = 7
            shard.accepted = 1
            shard.dead = 1
            shard.throttled = 1
            shard.notProcessed = 1
            shard.refused = 1
            shard.uncertain = 1
            _ = shard.count(status: 503, reason: "Shutdown")
            sum += shard
        }
        #expect(sum.sent == 21)
        #expect(sum.answered == 18)
        #expect(sum.reasons.first?.key.description == "503 Shutdown")
        #expect(sum.reasons.first?.value == 3)
    }
}

@Suite struct RequestTableTests {
    /// Random sends and answers, with a dictionary as the model.
    @Test func requestTableKeepsEachRequestOnce() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix(state: seed)
        var table = RequestTable()
        var model: [UInt64: (slot: UInt32, sentAt: MonotonicTime)] = [:]
        for step in 0..<5000 {
            let now = MonotonicTime.after(.seconds(step))
            if model.isEmpty || (model.count < 40 && Bool.random(using: &random)) {
                let tag = table.insert(
                    slot: ActivitySlot(UInt32(step)), generation: 3, tokenSerial: 1, at: now)
                #expect(model[tag] == nil, "seed \(seed)")
                model[tag] = (UInt32(step), now)
            } else if let (tag, expected) = model.randomElement(using: &random) {
                let request = table.remove(tag)
                #expect(request.slot.rawValue == expected.slot && request.generation == 3, "seed \(seed)")
                model[tag] = nil
            }
            #expect(table.count == model.count && table.oldest == model.values.map(\.sentAt).min(), "seed \(seed)")
            let line = now - .seconds(20)
            #expect(
                table.sent(until: line) == model.filter { $0.value.sentAt <= line }.keys.sorted(), "seed \(seed)")
            #expect(table.violation() == nil, "seed \(seed)")
        }
    }
}
