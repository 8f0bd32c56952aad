import FanfareFanOut
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Synchronization
import Testing

@testable import Fanfare

@Suite struct ShardTurnTests {
    private static func publication(_ serial: UInt64, of topic: Int) -> Publication {
        Publication.test(serial, of: TopicID("match/\(topic)"), state: ["number": .int(Int64(serial))])
    }

    /// Unfollows of unknown activities produce no reports, so the shard's only message is that there is room.
    @Test func aCoreThatFoundNoRoomIsToldOfIt() {
        let engine = OneThread()
        // The shard reports once that it is ready.
        engine.link.send(.unfollow(ActivityID(1)))
        engine.settle()
        var sent = 0
        while !engine.core.isCongested {
            engine.link.send(.unfollow(ActivityID(UInt64(sent))))
            sent += 1
        }
        for _ in 0..<64 { engine.link.send(.unfollow(ActivityID(1))) }
        #expect(engine.reliefs == 0)
        #expect(sent == ShardRings.commandsMax + 1)
        // The shard reports nothing but that it has taken commands.
        while engine.shardIsWoken { engine.runShard() }
        #expect(engine.coreIsWoken)
        engine.takeFeedback()
        #expect(engine.reliefs == 1 && !engine.core.isCongested)
    }

    /// All commands of one turn of the core wake the shard once; a shard that is awake finds them by itself.
    @Test func aShardIsWokenOnceForATurnOfTheCore() {
        let rings = ShardRings()
        var wakes = 0
        let link = ShardLink(rings) { wakes += 1 }
        for _ in 0..<10 { link.send(.unfollow(ActivityID(1))) }
        #expect(wakes == 0)
        link.ring()
        link.ring()
        #expect(wakes == 1)
        // The shard has not read its ring yet.
        for _ in 0..<1000 { link.send(.unfollow(ActivityID(1))) }
        link.ring()
        #expect(wakes == 1)
        rings.lieDown()
        link.ring()
        #expect(wakes == 1, "nothing was sent")
        for _ in 0..<ShardLink.unrungMax { link.send(.unfollow(ActivityID(1))) }
        #expect(wakes == 2, "a long turn of the core lets the shard begin")
    }

    @Test func aShardThatIsAwakeFindsWhatIsSentMeanwhile() {
        let engine = OneThread()
        engine.link.send(.unfollow(ActivityID(1)))
        engine.link.ring()
        #expect(engine.shardIsWoken)
        engine.transport.onWork = {
            engine.link.send(.follow(ActivityID(1), .topic(TopicID("t")), token: [1]))
            engine.link.ring()
        }
        engine.runShard()
        engine.transport.onWork = nil
        #expect(engine.shardIsWoken, "by itself")
        engine.runShard()
        #expect(!engine.shardIsWoken)
        #expect(engine.shard.shard.statistics.activities == 1)
    }

    /// The ring fills again and again, and the turns of core and shard interleave in any order.
    @Test(arguments: UInt64(1)...10) func aFullRingNeverStaysSo(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let engine = OneThread()
        for round in 0..<4 {
            while !engine.core.isCongested { engine.link.send(.unfollow(ActivityID(1))) }
            for _ in 0..<random.next() % 200_000 { engine.link.send(.unfollow(ActivityID(1))) }
            var turns = 0
            while engine.core.isCongested, engine.shardIsWoken || engine.coreIsWoken {
                turns += 1
                if engine.shardIsWoken, random.next() % 2 == 0 || !engine.coreIsWoken { engine.runShard() }
                if engine.coreIsWoken, random.next() % 2 == 0 || !engine.shardIsWoken { engine.takeFeedback() }
            }
            #expect(!engine.core.isCongested, "seed \(seed), round \(round): nobody is woken any more")
        }
    }

    /// A core that found no room is told of it over threads, too; the shard's is blocked until everything is full.
    @Test(.timeLimit(.minutes(4))) func aCoreThatFoundNoRoomIsToldOfItOverThreads() throws {
        let loop = try Loop()
        let isOpen = Atomic(true)
        let core = try EngineCore(
            loop: loop, shards: 1,
            makeTransports: [{ _, _, _ in HeldUpTransport { while !isOpen.load(ordering: .acquiring) { continue } } }],
            isLive: true)
        let watchdog = LoopTimer(loop: loop) { loop.stop() }
        watchdog.start(after: .seconds(120))
        // The shard reports once that it is ready.
        let recorder = CoreRecorder(core)
        recorder.onChange = { loop.stop() }
        loop.run()
        #expect(recorder.isReady)
        isOpen.store(false, ordering: .releasing)
        while !core.isCongested { core.broadcast(.unfollow(ActivityID(1))) }
        isOpen.store(true, ordering: .releasing)
        loop.run()
        watchdog.close()
        #expect(recorder.reliefs == 1)
        core.stop()
        loop.close()
    }

    /// The work of a shard that was busy for long grows with the topics, not with their versions.
    @Test func aFullRingIsNoQueueOfVersions() {
        let engine = OneThread()
        for topic in 0..<10 {
            engine.link.send(
                .follow(ActivityID(UInt64(topic)), .topic(TopicID("match/\(topic)")), token: [UInt8(topic)]))
        }
        for serial in UInt64(1)...60_000 {
            engine.link.send(.publish(ShardTurnTests.publication(serial, of: Int(serial % 10))))
        }
        engine.settle()
        #expect(Set(engine.transport.accepted.map(\.state)) == Set((59_991...60_000).map { #"{"number":\#($0)}"# }))
        #expect(engine.transport.accepted.count == 10)
    }

    /// The clock advances by a millisecond with each reading: after a few milliseconds the transport gets its part of the turn.
    @Test func aTurnIsOverAfterAFewMilliseconds() {
        let rings = ShardRings()
        let time = Atomic<Int64>(0)
        let clock = ThreadClock(
            ClockSource(
                wall: { FeedTime(milliseconds: 1_790_000_000_000) },
                monotonic: { MonotonicTime(nanoseconds: time.add(1_000_000, ordering: .relaxed).newValue) }))
        var isWoken = false
        let turn = ShardTurn(rings, shard: Shard(), clock: clock, wake: { isWoken = true }, wakeCore: {})
        let transport = WillingTransport(turn.shard) { clock.now() }
        turn.attach(transport)
        let link = ShardLink(rings) { isWoken = true }
        for activity in UInt64(1)...10_000 {
            link.send(.follow(ActivityID(activity), .topic(TopicID("match")), token: [1]))
        }
        isWoken = false
        turn.takeCommands()
        let taken = turn.shard.statistics.activities
        #expect((64...512).contains(taken), "\(taken)")
        #expect(isWoken && transport.turns == 1)
        while isWoken {
            isWoken = false
            turn.takeCommands()
            _ = turn.end()
        }
        #expect(turn.shard.statistics.activities == 10_000)

        // A publication that goes to every lineup is counted separately.
        let lineup = AudienceKey.lineup((0..<5).map { TopicID("match/\($0)") })
        link.send(.follow(ActivityID(10_001), lineup, token: [1]))
        link.ring()
        while isWoken {
            isWoken = false
            turn.takeCommands()
            _ = turn.end()
        }
        for topic in 0..<100 { link.send(.publish(ShardTurnTests.publication(UInt64(topic + 1), of: topic))) }
        link.ring()
        let before = transport.turns
        var turns = 0
        while isWoken {
            isWoken = false
            turn.takeCommands()
            turns += 1
        }
        #expect(turns >= 20 && transport.turns == before + turns)
    }

    @Test func linesForACoreThatDoesNotListenAreBounded() {
        let engine = OneThread()
        for number in 0..<50_000 {
            engine.shard.report("line \(number)")
            if number % 100 == 0 { _ = engine.shard.end() }
        }
        for _ in 0..<4 {
            engine.takeFeedback()
            _ = engine.shard.end()
        }
        #expect(engine.reports.count <= ShardRings.feedbackMax + 257)
        #expect(engine.reports.last?.hasSuffix("the core was at work for too long") == true)
    }
}

/// A transport that blocks whenever it is told of work, until its test releases it.
private final class HeldUpTransport: Transport {
    private let hold: () -> Void
    init(_ hold: @escaping () -> Void) { self.hold = hold }
    var isReady: Bool { true }
    func workAvailable() { hold() }
    func close(_ closed: @escaping () -> Void) { closed() }
}
