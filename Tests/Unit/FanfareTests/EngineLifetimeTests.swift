import Dispatch
import FanfareLoop
import FanfareModel
import Foundation
import Synchronization
import Testing

@testable import Fanfare

/// An engine leaves nothing behind in the process. Each test has a process of its own, in which no other code starts threads.
///
/// There is no time limit: a test that waits for a process resumes after the other tests of this process have begun, and a limit would
/// include those. In the test's own process `become` has one.
@Suite struct EngineLifetimeTests {
    /// The kernel resources of the process.
    struct Belongings: Equatable {
        /// Threads of the engine, `fanfare core` and `fanfare shard …`; those of the runtime come and go, and have the process's name.
        var threads: Int
        /// Targets of the open descriptors, without numbers; those by which the runtime reads about its threads in `/proc` are left out.
        var descriptors: [String]

        static var now: Belongings {
            Belongings(
                threads: names(in: "/proc/self/task").count { isOfEngine(thread: $0) },
                descriptors: names(in: "/proc/self/fd").compactMap {
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                    return target.map { String($0.prefix { !$0.isNumber }) }
                }.filter { $0 != "/proc/" }.sorted())
        }

        /// Foundation's file reading leaks its buffer if the thread ends between the opening and the reading, and LeakSanitizer would report
        /// that in a process whose threads are ending.
        private static func isOfEngine(thread: String) -> Bool {
            let file = open("/proc/self/task/\(thread)/comm", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { name in
                let count = read(file, name.baseAddress, name.count)
                return count > 0 && name.prefix(count).starts(with: "fanfare ".utf8)
            }
        }

        private static func names(in folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }

        static func become(_ isWanted: (Belongings) -> Bool) -> Bool {
            let deadline = ContinuousClock.now + .seconds(60)
            while !isWanted(now) {
                // A process that slept through the deadline still gets a last check.
                guard ContinuousClock.now < deadline else { return isWanted(now) }
                sched_yield()
            }
            return true
        }
    }

    /// Returns the resources after the first engine, which the process and the libraries keep.
    static func settled() throws -> Belongings {
        beginRuntimeLoop()
        try Engine(Engine.Options(transport: .discard)).stop()
        // The kernel lists a thread for a moment after it was joined.
        #expect(Belongings.become { $0.threads == 0 })
        return Belongings.now
    }

    /// Waits for the runtime's own event loop, which watches its threads and opens its descriptors on another thread some time later: it
    /// has all of them after a timer has fired there.
    private static func beginRuntimeLoop() {
        let fired = DispatchSemaphore(value: 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { fired.signal() }
        fired.wait()
    }

    /// Creates an engine by the blocking form, which the body of a task may not call itself.
    static func engine() throws -> Engine { try Engine(Engine.Options(transport: .discard)) }

    private struct Trouble: Error {}

    @Test func aStoppedEngineLeavesNoThreadAndNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let before = try EngineLifetimeTests.settled()
            var options = Engine.Options(transport: .discard)
            options.shards = 3
            for _ in 0..<5 {
                let engine = try await Engine.launch(options)
                #expect(engine.offer(.number(1)).isTaken)
                #expect(await engine.shutdown().isDrained)
            }
            #expect(Belongings.become { $0 == before }, "\(Belongings.now) instead of \(before)")
        }
    }

    @Test func aDroppedEngineEndsItsThreads() async {
        await #expect(processExitsWith: .success) {
            let before = try EngineLifetimeTests.settled()
            for _ in 0..<5 {
                let engine = try EngineLifetimeTests.engine()
                #expect(
                    engine.offer(.follow(.topic(TopicID("topic")), activity: "card", subscriber: "anna", token: [1]))
                        .isTaken)
                #expect(engine.offer(.number(1)).isTaken)
            }
            #expect(Belongings.become { $0 == before }, "\(Belongings.now) instead of \(before)")
        }
    }

    /// The second app's certificates cannot be read, after the first app's shards have begun.
    @Test func anEngineThatCannotBeginLeavesNothingBehind() async {
        await #expect(processExitsWith: .success) {
            let before = try EngineLifetimeTests.settled()
            var options = Engine.Options(transport: .discard)
            options.shards = 2
            #expect(throws: Trouble.self) {
                _ = try Engine(
                    options, observer: Engine.Observer(), apps: [],
                    makeTransports: [
                        { loop, shard, _ in try DiscardTransport(loop: loop, source: shard) },
                        { _, _, _ in throw Trouble() },
                    ])
            }
            #expect(Belongings.become { $0 == before }, "\(Belongings.now) instead of \(before)")
        }
    }

    /// There are descriptors for the core and some shards, but not for the next one.
    @Test func anEngineWithoutRoomForItsThreadsLeavesNothingBehind() async {
        await #expect(processExitsWith: .success) {
            let before = try EngineLifetimeTests.settled()
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = rlim_t(before.descriptors.count + 16)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var options = Engine.Options(transport: .discard)
            options.shards = 64
            #expect { _ = try Engine(options) } throws: { ($0 as? EngineFault)?.underlying is LoopError }
            #expect(Belongings.become { $0 == before }, "\(Belongings.now) instead of \(before)")
            await #expect {
                _ = try await Engine.launch(options)
            } throws: {
                ($0 as? EngineFault)?.underlying is LoopError
            }
            #expect(Belongings.become { $0 == before }, "\(Belongings.now) instead of \(before)")
        }
    }
}
