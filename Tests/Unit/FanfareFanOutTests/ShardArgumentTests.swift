import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Arguments that make no sense do not trap.
@Suite struct ShardArgumentTests {
    private let other = TopicID("other")

    /// Somebody follows a lineup of two topics and has its first version.
    private func followTwo(_ stage: EmbeddedShard) {
        stage.publish(1)
        stage.publish(1, in: other)
        stage.shard.apply(
            .follow(ActivityID(hashing: "card"), .lineup([stage.topic, other]), token: [1]), at: stage.moment)
        #expect(stage.settle().count == 1)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(-1)])
    func intervalsOfWhateverLengthAreWaitedFor(interval: Duration) {
        var lineups = LineupRules()
        (lineups.minimumInterval, lineups.gather) = (interval, interval)
        let stage = EmbeddedShard(Shard(lineups: lineups, lifetime: interval < .zero ? .seconds(8 * 3600) : interval))
        followTwo(stage)
        stage.publish(2, alert: "goal")
        stage.publish(2, in: other, alert: "another")
        stage.pass(seconds: 100)
        _ = stage.settle()
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func timesOfTheRotationOfWhateverLengthAreWaitedFor() {
        var lineups = LineupRules()
        (lineups.dwell, lineups.round, lineups.gather) = (.seconds(Int64.max), .seconds(Int64.max), .zero)
        let stage = EmbeddedShard(Shard(lineups: lineups))
        followTwo(stage)
        stage.publish(2, alert: "goal")
        #expect(stage.settle().count == 1)
        stage.pass(seconds: 100)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func noRoomForATopicsIDIsAnAnswer() {
        let follow = ShardCommand.follow(ActivityID(hashing: "card"), .topic(TopicID("match")), token: [1])
        #expect(follow.fault(topicIDSizeMax: .zero)?.description.contains("not 5") == true)
        #expect(follow.fault(topicIDSizeMax: .bytes(5)) == nil)
    }

    @Test func wordsAreCountedAsJSONWritesThem() {
        for byte in UInt8.min..<0x80 {
            let word = "a\(Unicode.Scalar(byte))ü\u{2028}"
            var written: [UInt8] = []
            JSONValue.write(word, to: &written)
            #expect(word.escapedByteCount == written.count - 2, "byte \(byte)")
        }
    }

    /// The character has one byte in the text, and six in JSON.
    @Test func wordsThatJSONMakesLongerAreNotAddedToAnAlert() {
        let stage = EmbeddedShard()
        let strange = String(repeating: "\u{1}", count: 120)
        stage.publish(1)
        stage.publish(1, in: other)
        stage.shard.apply(
            .follow(ActivityID(hashing: "card"), .lineup([stage.topic, other]), token: [1]), at: stage.moment)
        _ = stage.settle()
        stage.publish(2, alert: strange)
        stage.publish(2, in: other, alert: String(repeating: "x", count: 100))
        var alerts: [AlertText] = []
        for _ in 0..<20 {
            alerts += stage.settle().compactMap(\.payload.alert)
            stage.pass(seconds: 1)
        }
        #expect(!alerts.isEmpty)
        for alert in alerts { #expect(alert.size <= AlertText.sizeMax) }
    }
}
