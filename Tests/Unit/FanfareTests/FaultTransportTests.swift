import FanfareFanOut
import FanfareLoop
import FanfareModel
import Testing

@testable import Fanfare

@Suite struct FaultTransportTests {
    /// Invariants 1 and 2 hold over a bad network: once all is quiet, every live token has accepted its topic's newest state, and no
    /// token's stamps went back.
    @Test(.timeLimit(.minutes(4)), arguments: UInt64(1)...3) func everyLiveTokenEndsAtItsNewestState(
        seed: UInt64
    ) throws {
        let loop = try Loop()
        // Set and used on the shard's thread; read here after that has ended.
        nonisolated(unsafe) var source: RecordingSource?
        let core = try EngineCore(
            loop: loop, shards: 1,
            makeTransports: [
                { loop, shard, context in
                    let recording = RecordingSource(shard)
                    source = recording
                    return FaultTransport(loop: loop, source: recording, clock: context.clock, seed: seed)
                }
            ], isLive: true)
        let topics = (0..<4).map { TopicID("match/\($0)") }
        for subscriber in UInt64(0)..<600 {
            let token = withUnsafeBytes(of: subscriber.mixed) { Array($0) }
            core.send(
                .follow(ActivityID(subscriber), .topic(topics[Int(subscriber % 4)]), token: token),
                forSubscriber: subscriber)
        }
        let kickoff = FeedTime(seconds: 1_790_000_000)
        for goals in 1...12 {
            for topic in topics {
                let at = kickoff + .seconds(60 * goals)
                core.apply(
                    FeedEvent(
                        topic: topic, topicKind: .generic, at: at, kind: "score",
                        change: .patch(["goals": .int(Int64(goals))])), now: at)
            }
        }
        var isQuiet = false
        core.settle {
            isQuiet = $0 == .complete
            loop.stop()
        }
        loop.run()
        core.stop()
        loop.close()
        #expect(isQuiet)

        let recorded = try #require(source)
        #expect(recorded.accepted.count + recorded.dead.count >= 600, "seed \(seed)")
        for (token, pushes) in recorded.accepted where !recorded.dead.contains(token) {
            #expect(pushes.last?.state == Array(#"{"goals":12}"#.utf8), "seed \(seed)")
            #expect(zip(pushes, pushes.dropFirst()).allSatisfy { $0.stamp <= $1.stamp }, "seed \(seed)")
        }
        // The network was indeed bad.
        for outcome in [DeliveryOutcome.notProcessed, .uncertain, .throttled, .deadToken] {
            #expect(recorded.outcomes[outcome, default: 0] > 0, "seed \(seed): \(outcome)")
        }
    }
}
