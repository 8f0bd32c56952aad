import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct EmbeddedShardTests {
    @Test func pushesAreInFlightUntilTheyAreAnswered() {
        let stage = EmbeddedShard()
        for id in UInt64(1)...3 { stage.apply(.follow(ActivityID(id), .topic(stage.topic), token: [UInt8(id)])) }
        stage.publish(1)
        let (first, last) = (stage.pull(limit: 2), stage.pull())
        #expect(first.count == 2 && last.count == 1)
        #expect(stage.flying.map(\.token) == (first + last).map(\.token))
        stage.answer([first[1]])
        #expect(stage.flying.map(\.token) == [first[0].token, last[0].token] && !stage.shard.isQuiet)
        stage.answerAll()
        #expect(stage.flying.isEmpty && stage.shard.isQuiet)
    }

    @Test func allFeedbackIsReadInItsOrder() {
        let stage = EmbeddedShard()
        for question in UInt64(0)..<3000 {
            stage.apply(.reportDisposition(question, ActivityID(1), stage.topic, cause: "goal"))
        }
        let numbers = stage.feedback().compactMap { if case .disposition(let number, _) = $0 { number } else { nil } }
        #expect(numbers == Array(0..<3000))
        #expect(stage.feedback().isEmpty)
    }

    @Test func theWallClockAndTheMonotonicClockOfAnEmbeddedShardAdvanceTogether() {
        let stage = EmbeddedShard()
        stage.pass(.milliseconds(1500))
        #expect(stage.moment.monotonic - EmbeddedShard.start.monotonic == .milliseconds(1500))
        #expect(stage.moment.wallMilliseconds - EmbeddedShard.start.wallMilliseconds == 1500)
    }
}
