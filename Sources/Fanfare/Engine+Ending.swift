import Dispatch
import FanfareFanOut
import FanfareLoop
import Synchronization

/// What a stopped engine leaves behind.
public struct ShutdownReport: Sendable, Hashable {
    /// Activities that lacked something which was to be sent when the time was over. The service may have taken it all the same where its
    /// answer was still out.
    public let owed: Int
    /// Activities that were refused the newest state for good.
    public let refused: Int

    /// Whether everybody has got what they were owed, as far as the service takes it.
    public var isDrained: Bool { owed == 0 }

    /// For programs that make up reports, as tests do.
    public init(owed: Int, refused: Int) {
        self.owed = owed
        self.refused = refused
    }
}

/// The end of an engine, and the tasks that wait for it. Any thread.
final class Ending: Sendable {
    private struct State {
        var report: ShutdownReport?
        var waiting: [CheckedContinuation<ShutdownReport, Never>] = []
    }

    private let state = Locked(State())

    /// Called once.
    func come(with report: ShutdownReport) {
        let waiting = state.withLock { state in
            state.report = report
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume(returning: report) }
    }

    func wait() async -> ShutdownReport {
        await withCheckedContinuation { continuation in
            let report = state.withLock { state in
                if state.report == nil { state.waiting.append(continuation) }
                return state.report
            }
            if let report { continuation.resume(returning: report) }
        }
    }
}

extension Engine {
    /// Waits until everything that was taken before has reached everybody, or something newer has; and until the changes among it
    /// that wait for their topic's interval have. What comes after the call it does not wait for, so on a busy engine it ends, too.
    /// What an operator's pause holds back is not waited for.
    ///
    /// - Returns: whether it has. `false` when the time is over, the task is cancelled or the engine stops first, and when nothing more is to
    ///   be sent but some activities were refused the newest state for good (`ShardCounts.refused`).
    public func settle(within timeout: Duration) async -> Bool {
        let until = moment(in: timeout)
        let reply = Reply<Settlement>()
        guard (try? await hand(in: .settle(until: until) { reply.give($0) }, until: until)) != nil else { return false }
        return await reply.value() == .complete
    }

    /// The same for programs without tasks: it blocks the calling thread. It answers `false` at once when the engine is full or has
    /// stopped, and on the core thread.
    @available(*, noasync, message: "await settle(within:) instead: this one blocks a thread of the pool")
    public func settle(within timeout: Duration) -> Bool {
        guard !coreThread.isCurrent else { return false }
        let verdict = Verdict()
        let until = moment(in: timeout)
        let request = CoreTurn.Request.settle(until: until) { settlement in
            verdict.isYes.store(settlement == .complete, ordering: .relaxed)
            verdict.given.signal()
        }
        guard post(request).isTaken else { return false }
        let limit = DispatchTime.now() + .milliseconds(Int(Engine.bounded(timeout).milliseconds))
        return verdict.given.wait(timeout: limit) == .success && verdict.isYes.load(ordering: .relaxed)
    }

    /// The semaphore orders the two threads.
    private final class Verdict: Sendable {
        let isYes = Atomic(false)
        let given = DispatchSemaphore(value: 0)
    }

    /// Takes nothing more from this moment on, decides what was taken, and sends what was decided, with the changes that wait for
    /// their topic's interval; then it closes the connections and ends the threads. Who waits for an answer or for room gets one, every
    /// `EngineSequence` ends, and no `Observer` is called any more when it has returned.
    ///
    /// Any number of times, by any number of tasks: each returns when the engine has stopped, within the shortest of the times given, with
    /// the same report. A task that is cancelled waits all the same.
    ///
    /// - Parameter timeout: what has not been sent by then, because a service is slow or gone, is not sent at all. What was taken
    ///   is decided nevertheless.
    public func shutdown(within timeout: Duration = Engine.stopTimeout) async -> ShutdownReport {
        requestStop(within: timeout)
        let report = await ending.wait()
        // The thread has its loop to close and nobody to wait for.
        thread.withLock { $0.join() }
        return report
    }

    /// The same for programs without tasks: it blocks the calling thread.
    ///
    /// From any thread, any number of times. Only a call on the core thread, so of an `Observer` or an answer, returns at once, and the
    /// engine stops by itself.
    @available(*, noasync, message: "await shutdown(within:) instead: this one blocks a thread of the pool")
    public func stop(within timeout: Duration = Engine.stopTimeout) {
        requestStop(within: timeout)
        guard !coreThread.isCurrent else { return }
        thread.withLock { $0.join() }
    }

    /// Long enough for answers that are seconds late, and short enough for whoever waits for a process to end.
    public static let stopTimeout = Duration.seconds(10)

    func requestStop(within timeout: Duration) {
        inbox.stop(by: moment(in: timeout))
        signal.signal()
    }

    /// 34 years: far from where clocks overflow.
    private static let longest = Duration.seconds(1 << 30)

    static func bounded(_ timeout: Duration) -> Duration { max(.zero, min(timeout, longest)) }

    /// By the monotonic clock, which begins wherever it likes.
    func moment(in timeout: Duration) -> Int64 {
        let (moment, overflows) = clock.monotonicNanoseconds()
            .addingReportingOverflow(Engine.bounded(timeout).milliseconds * 1_000_000)
        return overflows ? .max : moment
    }
}
