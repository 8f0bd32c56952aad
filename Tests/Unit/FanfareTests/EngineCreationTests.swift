import Dispatch
import Fanfare
import FanfareModel
import Foundation
import Synchronization
import Testing

/// Engines that tasks launch; most other tests use the blocking initialiser.
@Suite(.timeLimit(.minutes(5))) struct EngineCreationTests {
    /// Source whose reading ends once as many engines read it as are expected, or after a minute.
    private final class Meeting: SubscriberSource {
        let readers: Int
        private let present = Atomic(0)
        private let met = Atomic(0)
        private let isComplete = DispatchSemaphore(value: 0)

        var expectedCount: Int { 0 }
        /// Readers that have met all others.
        var count: Int { met.load(ordering: .relaxed) }

        init(of readers: Int) { self.readers = readers }

        func read(_ take: (Subscription) -> String?) throws {
            if present.add(1, ordering: .relaxed).newValue == readers {
                for _ in 0..<readers { isComplete.signal() }
            }
            if isComplete.wait(timeout: .now() + 60) == .success { met.add(1, ordering: .relaxed) }
        }
    }

    /// A blocking form would hold all threads of the tasks' pool before the last engine is created.
    @Test func creatingAnEngineBlocksNoThreadOfTheTasks() async throws {
        let meeting = Meeting(of: min(40, ProcessInfo.processInfo.activeProcessorCount + 1))
        let engines = try await withThrowingTaskGroup(of: Engine.self, returning: [Engine].self) { group in
            for _ in 0..<meeting.readers {
                group.addTask {
                    var options = Engine.Options(transport: .discard)
                    options.subscribers = meeting
                    return try await Engine.launch(options)
                }
            }
            var engines: [Engine] = []
            for try await engine in group { engines.append(engine) }
            return engines
        }
        for engine in engines { _ = await engine.shutdown() }
        #expect(engines.count == meeting.readers && meeting.count == meeting.readers)
    }

    @Test func theErrorOfAnEngineThatCannotBeginIsThrownToItsTask() async {
        var options = Engine.Options(transport: .discard)
        options.shards = 0
        do throws(EngineFault) {
            _ = try await Engine.launch(options)
            Issue.record("an engine without shards was created")
        } catch {
            #expect(error.description == "an engine has 1 to 256 shards of each app, not 0")
            #expect(error.underlying == nil)
        }
    }

    @Test func aCancelledTaskGetsItsEngine() async throws {
        let creation = Task { try await Engine.launch(Engine.Options(transport: .discard)) }
        creation.cancel()
        let engine = try await creation.value
        #expect(await engine.shutdown().isDrained)
    }

    private final class NoSubscribers: SubscriberSource {
        let expectedCount = 0
        func read(_ take: (Subscription) -> String?) {}
    }

    /// A source may have all subscribers in memory.
    @Test func aRunningEngineKeepsNoSourceOfSubscribers() throws {
        weak var source: NoSubscribers?
        func begin() throws -> Engine {
            let made = NoSubscribers()
            source = made
            var options = Engine.Options(transport: .discard)
            options.subscribers = made
            return try Engine(options)
        }
        let engine = try begin()
        let isReleased = source == nil
        #expect(isReleased)
        engine.stop()
    }
}
