import Dispatch
import Fanfare
import FanfareLoop
import Testing

/// An engine on a machine whose clock is set while it runs.
@Suite struct EngineClockTests {
    /// A change that waits for its topic's interval of two seconds, after the clock was set back by an hour or by a month.
    @Test(arguments: [-3600, -30 * 86_400, 3600]) func aClockThatIsSetHoldsUpNoChange(seconds: Int64) throws {
        let offset = Locked<Int64>(0)
        let published = DispatchSemaphore(value: 0)
        var options = Engine.Options(transport: .discard)
        let system = ClockSource.system
        options.clock = ClockSource(
            wall: { FeedTime(milliseconds: system.wall().milliseconds + offset.withLock(\.self)) },
            monotonic: system.monotonic)
        var observer = Engine.Observer()
        observer.onDecision = { if $0.version != nil { published.signal() } }
        let engine = try Engine(options, observer: observer)
        let topic = TopicID("match/1")
        func score(_ goals: Int64) {
            #expect(
                engine.offer(
                    FeedEvent(
                        topic: topic, topicKind: .generic, at: FeedTime(seconds: 1_790_000_000 + goals), kind: "score",
                        change: .patch(["goals": .int(goals)]))
                ).isTaken)
        }
        #expect(engine.offer(.follow(.topic(topic), activity: "card", subscriber: "anna", token: [1])).isTaken)
        score(1)
        #expect(published.wait(timeout: .now() + 60) == .success)
        offset.withLock { $0 = seconds * 1000 }
        score(2)
        score(3)
        #expect(published.wait(timeout: .now() + 60) == .success, "it is held up until the clock is where it was")
        #expect(engine.settle(within: .seconds(300)))
        engine.stop()
    }
}
