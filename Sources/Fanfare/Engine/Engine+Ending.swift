import Dispatch
import FanfareFanOut
import FanfareLoop
import Synchronization

extension Engine {
    /// Waits until every activity has all changes that were taken before the call, or newer ones, including changes that wait for their topic's
    /// minimum interval. The call does not wait for anything taken later, so it also ends on a busy engine. It does not wait for changes that an
    /// operator's pause holds back.
    ///
    /// - Returns: `true` if every activity has these changes. `false` if the time is over, the task is cancelled or the engine stops first, or if
    ///   nothing more is to be sent but APNs refused the newest state of some activities for good (`ShardCounts.refusedStates`).
    /// - Complexity: each shard looks once at each of its audiences and activities, some of them in each turn, and then at those that lack
    ///   something.
    public func settle(within timeout: Duration) async -> Bool {
        let until = core.time(in: timeout)
        let reply = Reply<Settlement>()
        guard (try? await hand(in: .settle(until: until) { reply.give($0) }, until: until)) != nil else { return false }
        return await reply.value() == .complete
    }

    /// Blocks the calling thread until every activity has all changes that were taken before the call, or newer ones. For programs without tasks.
    ///
    /// - Returns: `true` if every activity has these changes, otherwise `false`; `false` at once on the core thread, and if the engine is full or has
    ///   stopped.
    /// - Complexity: each shard looks once at each of its audiences and activities, some of them in each turn, and then at those that lack
    ///   something.
    @available(*, noasync, message: "await settle(within:) instead: this one blocks a thread of the pool")
    public func settle(within timeout: Duration) -> Bool {
        guard !core.coreThread.isCurrent else { return false }
        let result = BlockingResult()
        let until = core.time(in: timeout)
        let request = CoreRequest.settle(until: until) { settlement in
            result.isComplete.store(settlement == .complete, ordering: .relaxed)
            result.given.signal()
        }
        guard post(request).isTaken else { return false }
        let limit = DispatchTime.now() + .milliseconds(Int(RunningCore.bounded(timeout).milliseconds))
        return result.given.wait(timeout: limit) == .success && result.isComplete.load(ordering: .relaxed)
    }

    /// Result of a blocking `settle`. The semaphore orders the two threads.
    private final class BlockingResult: Sendable {
        let isComplete = Atomic(false)
        let given = DispatchSemaphore(value: 0)
    }

    /// Stops the engine. From the call on the engine takes nothing more; it decides all taken events, sends the decisions, including changes that
    /// wait for their topic's minimum interval, closes the connections and ends the threads. Every caller that waits for an answer or for room gets
    /// one, and every `EngineSequence` ends. No `Observer` is called after `shutdown` has returned.
    ///
    /// Any number of tasks may call it any number of times. Each call returns the same report when the engine has stopped, which is within
    /// the shortest of the given times. A cancelled task still waits.
    ///
    /// - Parameter timeout: time for sending. The engine discards pushes that are unsent when the time is over, because APNs is slow or unreachable.
    ///   It decides all events that it has taken nevertheless, unless a store takes none of them for two more seconds.
    public func shutdown(within timeout: Duration = Engine.stopTimeout) async -> ShutdownReport {
        core.stop(within: timeout)
        let report = await core.ending.wait()
        // The core and its topics are released before the ending comes: the thread has only its loop to close, so the join is short.
        core.thread.withLock { $0.join() }
        return report
    }

    /// Stops the engine as `shutdown(within:)` does and blocks the calling thread until it has stopped, for programs without tasks.
    ///
    /// Any thread may call it any number of times. On the core thread, which calls the closures of an `Observer` and those that take answers,
    /// it returns at once, and the engine stops afterwards.
    @available(*, noasync, message: "await shutdown(within:) instead: this one blocks a thread of the pool")
    public func stop(within timeout: Duration = Engine.stopTimeout) {
        core.stop(within: timeout)
        guard !core.coreThread.isCurrent else { return }
        core.thread.withLock { $0.join() }
    }
}
