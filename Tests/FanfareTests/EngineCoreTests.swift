import FanfareCore
import FanfareLoop
import Testing

@testable import Fanfare

@Suite struct EngineCoreTests {
    @Test func L1_whatTheAppHasStartedIsAsOldAsItSays() {
        let now = FeedTime(seconds: 1_790_000_000)
        #expect(Engine.age(of: now + .seconds(-7 * 3600), now: now) == .seconds(7 * 3600))
        #expect(Engine.age(of: now + .seconds(-400 * 86_400), now: now) == .seconds(400 * 86_400), "it is over")
        for recent in [now, now + .seconds(300)] { #expect(Engine.age(of: recent, now: now) == .zero) }
        // A default; Unix seconds for milliseconds, and the other way round; the seconds of a `Date`'s own era.
        for impossible in [
            FeedTime(milliseconds: 0), FeedTime(milliseconds: 1_790_000_000), FeedTime(seconds: 1_790_000_000_000),
            FeedTime(seconds: 811_692_800), now + .seconds(301), FeedTime(seconds: -1),
            FeedTime(milliseconds: .max), FeedTime(milliseconds: .min),
        ] {
            #expect(Engine.age(of: impossible, now: now) == nil, "\(impossible)")
        }
    }

    /// The core is at work for so long that every ring is full: a shard tells 16,384 facts and holds 4,096, the ring to it takes
    /// 65,536 commands, and the rest waits in the core.
    private static func overrun() throws -> (Loop, EngineCore) {
        let loop = try Loop()
        let core = try EngineCore(loop: loop, shards: 1, makeTransports: try TransportChoice.discard.makeFactories())
        for match in 1...100_000 {
            let event = FeedEvent(
                topic: TopicID("match/\(match)"), topicKind: .generic, at: FeedTime(seconds: 1_790_000_000),
                kind: "score", change: .patch(["goals": 1]))
            core.apply(event, now: event.at)
        }
        return (loop, core)
    }

    /// Nobody follows anything, so each publication is complete at once and the shard has a fact to tell for each: far more than
    /// fits the ring while the core does not listen.
    @Test func aShardThatWasHeldUpGoesOn() throws {
        let (loop, core) = try EngineCoreTests.overrun()
        var completed = 0
        var isQuiet = false
        core.onCompleted = { _, _ in completed += 1 }
        core.onQuiet = {
            isQuiet = true
            loop.stop()
        }
        core.askForQuiet()
        let watchdog = LoopTimer(loop: loop) { loop.stop() }
        watchdog.start(after: .seconds(240))
        loop.run()
        watchdog.close()
        #expect(isQuiet)
        #expect(completed == 100_000)
        core.stop()
        loop.close()
    }

    @Test(.timeLimit(.minutes(5))) func stopsWithEveryRingFull() throws {
        let (loop, core) = try EngineCoreTests.overrun()
        #expect(core.isCongested)
        core.stop()
        loop.close()
    }
}
