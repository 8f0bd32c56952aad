import Dispatch
import FanfareAPNs
package import FanfareFanOut
package import FanfareLoop
package import FanfareModel

/// A shard on a thread of its own. Confined to the core's thread.
final class ShardThread {
    private let rings = ShardRings()
    private let thread: LoopThread
    private let started = Started<WakeupSignal>()
    /// What found no room in the ring when the thread ended.
    private let unheard = Locked<[ShardFeedback]>([])

    /// What every shard of an engine is made with.
    struct Options: Sendable {
        var limits = ActivityLimits()
        var lineups = LineupRules()
        var clock = ClockSource.system
    }

    /// Does not wait for the thread: `opened()` does.
    ///
    /// - Parameters:
    ///   - load: fills the shard before its transport is opened, on the shard's thread; the first thing that happens there.
    ///   - core: signalled when feedback waits, or the ring has room again.
    init(
        _ place: ShardPlace, _ options: Options, makeTransport: @escaping TransportFactory,
        load: @escaping @Sendable (Shard, Moment) throws -> Void, core: WakeupSignal
    ) throws {
        let rings = rings
        let started = started
        let unheard = unheard
        thread = try LoopThread(name: "fanfare shard \(place.app * place.count + place.index)") { loop in
            do {
                let clock = ThreadClock(options.clock)
                let shard = Shard(lineups: options.lineups, limits: options.limits)
                try load(shard, clock.now())
                let driver = try Driver(loop, rings, shard, clock, core)
                let context = TransportContext(clock: clock.now, proof: options.clock.proof) { [unowned driver] in
                    driver.turn.report($0)
                }
                driver.turn.open(try makeTransport(loop, shard, context))
                started.succeed(driver.signal)
                loop.run()
                let rest = driver.turn.takeFeedback()
                unheard.withLock { $0 = rest }
            } catch {
                started.fail(error)
            }
        }
    }

    /// Waits until the shard is loaded and its transport opened.
    ///
    /// - Throws: why it cannot be; the thread has ended then.
    func opened() throws -> ShardLink {
        let signal = try started.wait()
        return ShardLink(rings) { signal.signal() }
    }

    /// Before `opened()`, for an engine that cannot be: the thread ends.
    func abandon() {
        rings.stop(within: .zero)
        if let signal = try? started.wait() { signal.signal() }
        thread.join()
    }

    /// Waits until the thread has ended.
    ///
    /// - Returns: what it had still to tell, and what found no room in the ring.
    func join() -> [ShardFeedback] {
        thread.join()
        return unheard.withLock { facts in
            defer { facts = [] }
            return facts
        }
    }

    /// Calls a shard's turns on its loop.
    private final class Driver {
        let turn: ShardTurn
        private let wakeup: Wakeup
        private var dueTimer: LoopTimer?
        private var figuresTimer: LoopTimer?
        private var stopTimer: LoopTimer?

        var signal: WakeupSignal { wakeup.signal }

        init(_ loop: Loop, _ rings: ShardRings, _ shard: Shard, _ clock: ThreadClock, _ core: WakeupSignal) throws {
            var takeCommands: (() -> Void)?
            wakeup = try Wakeup(loop: loop) { takeCommands?() }
            let signal = wakeup.signal
            turn = ShardTurn(
                rings, shard: shard, clock: clock, wake: { signal.signal() }, wakeCore: { core.signal() })
            takeCommands = { [unowned turn] in turn.takeCommands() }
            turn.onStopped = { loop.stop() }
            turn.onStop = { [unowned self] timeout in
                stopTimer = LoopTimer(loop: loop) { loop.stop() }
                stopTimer?.start(after: timeout)
            }
            dueTimer = LoopTimer(loop: loop) { [unowned turn] in turn.work() }
            figuresTimer = LoopTimer(loop: loop) { [unowned turn] in turn.tellFigures() }
            figuresTimer?.start(after: ShardTurn.figuresInterval, repeating: ShardTurn.figuresInterval)
            loop.onTurn = { [self] in if let due = turn.end() { dueTimer?.start(after: due) } }
        }
    }
}

/// Makes a shard's transport on the shard's thread.
package typealias TransportFactory = @Sendable (Loop, Shard, TransportContext) throws -> any Transport

/// What a transport is given beside its loop and its shard. Confined to the shard's thread.
package struct TransportContext {
    package let clock: () -> Moment
    /// For whoever can show what time it is.
    package let proof: WallProof
    /// Takes a line for operators.
    package let report: (String) -> Void
}

/// A value made on another thread, or why it was not.
final class Started<Value: Sendable>: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    // Written once before the signal, read after the wait: the semaphore orders the two.
    private var result: Result<Value, any Error>?

    func succeed(_ value: Value) {
        result = .success(value)
        semaphore.signal()
    }

    func fail(_ error: any Error) {
        result = .failure(error)
        semaphore.signal()
    }

    func wait() throws -> Value {
        semaphore.wait()
        semaphore.signal()  // for whoever asks again
        guard let result else { preconditionFailure("signalled without a result") }
        return try result.get()
    }
}
