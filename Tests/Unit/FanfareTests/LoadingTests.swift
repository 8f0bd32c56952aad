import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Synchronization
import Testing

@testable import Fanfare

@Suite struct LoadingTests {
    /// A source that counts how often it is read.
    private final class CountedSource: SubscriberSource {
        let readings = Atomic(0)
        let count: Int
        var expectedCount: Int { count }
        let fault: (any Error)?

        init(_ count: Int, fault: (any Error)? = nil) {
            self.count = count
            self.fault = fault
        }

        func read(_ take: (Subscription) -> String?) throws {
            readings.add(1, ordering: .relaxed)
            for number in 0..<count {
                _ = take(
                    Subscription(
                        audience: .topic(TopicID("match/\(number % 7)")), activity: ActivityID(UInt64(number)),
                        subscriber: UInt64(number), token: [1, UInt8(number % 256)],
                        app: number % 2 == 0 ? nil : AppID(bundleID: "two")))
            }
            if let fault { throw fault }
        }
    }

    private struct Fault: Error, Equatable {}

    /// Ten million lines would delay each start by minutes if every shard read all of them.
    @Test func subscribersAreReadOnceHoweverManyShardsThereAre() throws {
        let source = CountedSource(50_000)
        let loop = try Loop()
        let factory = try TransportChoice.discard.makeFactories(shards: 1)[0]
        let core = try EngineCore(
            loop: loop, shards: 4, makeTransports: [factory, factory],
            apps: [AppID(bundleID: "one"), AppID(bundleID: "two")], subscribers: source, isLive: true)
        core.settle { _ in loop.stop() }
        loop.run()
        core.stop()
        loop.close()
        #expect(source.readings.load(ordering: .relaxed) == 1)
        #expect(core.counts.activities == 50_000)
    }

    private static func one(
        _ number: UInt64, token: Int = 1, topic: String = "topic", startedAt: FeedTime? = nil
    )
        -> Subscription
    {
        Subscription(
            audience: .topic(TopicID(topic)), activity: ActivityID(number), subscriber: number,
            token: Array(repeating: 1, count: token), startedAt: startedAt)
    }

    /// A program's own sequence has no other way to report. An impossible time is no reason to leave a person without pushes.
    @Test func subscribersThatCannotBeLoadedAreToldAndAnImpossibleTimeCountsAsNow() throws {
        let everybody =
            [
                LoadingTests.one(1), LoadingTests.one(2, startedAt: FeedTime(milliseconds: 0)),
                LoadingTests.one(3, topic: "a topic's id that is too long"),
            ] + (4..<3004).map { LoadingTests.one($0, token: 513) }
        let lines = Locked<[String]>([])
        var observer = Engine.Observer()
        observer.onReport = { line in lines.withLock { $0.append(line) } }
        var options = Engine.Options(transport: .discard)
        options.rules.limits.topicIDSizeMax = .bytes(16)
        options.subscribers = SubscriberSequence(everybody, expectedCount: everybody.count)
        let engine = try Engine(options, observer: observer)
        #expect(engine.settle(within: .seconds(300)))
        let activities = Locked<Int?>(nil)
        #expect(engine.counts { counts in activities.withLock { $0 = counts.activities } }.isTaken)
        engine.stop()
        #expect(activities.withLock(\.self) == 2)
        let told = lines.withLock(\.self)
        #expect(told.count == 3, "\(told)")
        #expect(told.contains("left out 3000 subscribers: a token has 1 to 512 bytes, not 513"), "\(told)")
        #expect(told.contains { $0.contains("a topic's id has 1 to 16 bytes") }, "\(told)")
        #expect(told.contains { $0.contains("1970-01-01") }, "\(told)")
    }

    @Test func thousandsOfLoadingFaultsAreToldInAFewLines() {
        var faults = LoadingFaults()
        #expect(faults.lines.isEmpty)
        for number in 0..<1000 { faults.note("fault \(number % 100)") }
        faults.noteStart(FeedTime(milliseconds: 0))
        faults.noteStart(FeedTime(milliseconds: 1))
        #expect(faults.lines.count == 10)
        #expect(faults.lines.first == "left out 10 subscribers: fault 0")
        #expect(faults.lines[8] == "left out 920 subscribers more, for other reasons")
        #expect(faults.lines[9].hasSuffix("startedAt 1970-01-01T00:00:00.000Z and others"))
    }

    @Test(.timeLimit(.minutes(5))) func aSourceThatCannotBeReadToItsEndIsAnErrorAndLeavesNoThread() throws {
        let loop = try Loop()
        #expect(throws: Fault.self) {
            _ = try EngineCore(
                loop: loop, shards: 3, makeTransports: try TransportChoice.discard.makeFactories(shards: 1),
                subscribers: CountedSource(20_000, fault: Fault()), isLive: true)
        }
        loop.close()
    }

    /// The last shard's transport cannot be opened after the others' have been: no thread waits for another.
    @Test(.timeLimit(.minutes(5))) func aTransportThatCannotBeHadIsAnErrorAndLeavesNoThread() throws {
        let loop = try Loop()
        let closed = Atomic(0)
        let good: TransportFactory = { _, _, _ in
            ClosingTransport { closed.add(1, ordering: .relaxed) }
        }
        let bad: TransportFactory = { _, _, _ in throw Fault() }
        #expect(throws: Fault.self) {
            _ = try EngineCore(
                loop: loop, shards: 2, makeTransports: [good, bad], subscribers: CountedSource(20_000), isLive: true)
        }
        #expect(closed.load(ordering: .relaxed) == 2)
        loop.close()
    }

    /// The reader waits while a shard is behind.
    /// A reader may pass over millions of cards, and passes no batch on that a closed queue would refuse.
    @Test func aReaderWithoutABatchLearnsThatTheShardsTakeNoMore() {
        let queue = LoadingQueue()
        let distribution = LoadingDistribution(
            to: [[queue]], apps: [], limits: Rules.Limits(), now: FeedTime(seconds: 1_790_000_000))
        let isClosedBefore = (0..<1000).contains { _ in distribution.checkClosed() }
        queue.close()
        let isClosedAfter = (0..<256).contains { _ in distribution.checkClosed() }
        #expect(!isClosedBefore && isClosedAfter)
    }

    @Test func loadingQueueOfAShardIsBounded() {
        let queue = LoadingQueue()
        let source = CountedSource(200_000)
        // Changed on the shard's thread; read here after that has been joined.
        nonisolated(unsafe) var taken = 0
        nonisolated(unsafe) var waitingMost = 0
        let thread = try? LoopThread(name: "shard") { _ in
            while let batch = queue.take() {
                taken += batch.count
                waitingMost = max(waitingMost, queue.batchCount)
            }
        }
        _ = try? source.distribute(to: [[queue]], apps: [], limits: Rules.Limits(), now: ManualClock.start)
        queue.finish()
        thread?.join()
        #expect(taken == 200_000)
        #expect(waitingMost <= LoadingQueue.batchesMax)
    }
}

/// A transport that reports its closing.
private final class ClosingTransport: Transport {
    private let tell: () -> Void
    init(_ tell: @escaping () -> Void) { self.tell = tell }
    var isReady: Bool { true }
    func workAvailable() {}
    func close(_ closed: @escaping () -> Void) {
        tell()
        closed()
    }
}
