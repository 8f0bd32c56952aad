import Dispatch
import FanfareLoop
import FanfareModel
import Foundation
import Synchronization
import Testing

@testable import Fanfare

/// What an engine leaves behind: nothing. Each test has a process of its own, where nobody else starts threads.
///
/// There is no time limit: whoever waits for a process goes on when the other tests of this one have begun, and a limit would count
/// those. In the process itself `become` has one.
@Suite struct EngineLifetimeTests {
    /// What the process has of what the kernel gives.
    struct Belongings: Equatable {
        /// Of the engine's, `fanfare core` and `fanfare shard …`; those of the runtime come and go, and are named as the process.
        var threads: Int
        /// What each is, without its number; not those with which the runtime reads of its threads, now and then, in `/proc`.
        var descriptors: [String]

        static var now: Belongings {
            Belongings(
                threads: names(in: "/proc/self/task").count { isOfEngine(thread: $0) },
                descriptors: names(in: "/proc/self/fd").compactMap {
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                    return target.map { String($0.prefix { !$0.isNumber }) }
                }.filter { $0 != "/proc/" }.sorted())
        }

        /// Foundation's way to read a file loses its buffer where the thread ends between the opening and the reading, and
        /// LeakSanitizer would find that in a process whose threads are ending.
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
                // Who slept through the deadline has not looked for long.
                guard ContinuousClock.now < deadline else { return isWanted(now) }
                sched_yield()
            }
            return true
        }
    }

    /// After the first engine: what the process, and the libraries, keep for themselves.
    static func settled() throws -> Belongings {
        beginRuntimeLoop()
        try Engine(Engine.Options(transport: .discard)).stop()
        // The kernel lists a thread for a moment after it was joined.
        #expect(Belongings.become { $0.threads == 0 })
        return Belongings.now
    }

    /// The runtime watches its threads from an event loop of its own, whose descriptors it opens on another thread when it gets to
    /// that: where a timer has fired there, it has them all.
    private static func beginRuntimeLoop() {
        let fired = DispatchSemaphore(value: 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { fired.signal() }
        fired.wait()
    }

    private struct Trouble: Error {}

    @Test func aStoppedEngineLeavesNoThreadAndNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let before = try EngineLifetimeTests.settled()
            var options = Engine.Options(transport: .discard)
            options.shards = 3
            for _ in 0..<5 {
                let engine = try Engine(options)
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
                let engine = try Engine(Engine.Options(transport: .discard))
                #expect(
                    engine.offer(.follow(.topic(TopicID("topic")), activity: "card", subscriber: "anna", token: [1]))
                        .isTaken)
                #expect(engine.offer(.number(1)).isTaken)
            }
            #expect(Belongings.become { $0 == before }, "\(Belongings.now) instead of \(before)")
        }
    }

    /// The second app's certificates cannot be read: the first one's shards have begun by then.
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

    /// There are descriptors for the core and some shards, and none for the next one.
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
        }
    }
}
