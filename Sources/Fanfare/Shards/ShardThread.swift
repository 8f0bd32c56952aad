import Dispatch
import FanfareAPNs
package import FanfareFanOut
package import FanfareLoop
package import FanfareModel

/// Shard on a thread of its own. Confined to the core's thread.
final class ShardThread {
    private let rings = ShardRings()
    private let thread: LoopThread
    private let started = Started<WakeupSignal>()
    /// Feedback that found no room in the ring when the thread ended.
    private let undelivered = Locked<[ShardFeedback]>([])

    /// Settings that all shards of an engine share.
    struct Options: Sendable {
        var limits = ActivityLimits()
        var lineups = LineupRules()
        var clock = ClockSource.system
        /// Is `true` if the engine's store keeps people.
        var keepsPeople = false
    }

    /// Starts the thread without waiting for it; `link()` waits.
    ///
    /// - Parameter core: signalled when feedback waits, or the ring has room again.
    init(
        _ load: ShardLoad, _ options: Options, makeTransport: @escaping TransportFactory, core: WakeupSignal
    ) throws {
        let place = load.place
        let rings = rings
        let started = started
        let undelivered = undelivered
        thread = try LoopThread(name: "fanfare shard \(place.app * place.count + place.index)") { loop in
            do {
                let clock = ThreadClock(options.clock)
                let shard = Shard(lineups: options.lineups, limits: options.limits)
                if options.keepsPeople {
                    shard.reportRemovals()
                    shard.keepClaims()
                    shard.reportCompletions(besideOthers: place.count > 1)
                    shard.reserveStamps(beyond: options.clock.stamps.reserved)
                }
                let moment = clock.now()
                try load.run(
                    reserve: { shard.reserve(activities: $0, idSize: $1) }, apply: { shard.apply($0, at: moment) })
                let driver = try Driver(loop, rings, shard, clock, core)
                let context = TransportContext(clock: clock.now, proof: options.clock.proof) { [unowned driver] in
                    driver.turn.report($0)
                }
                let signal = driver.signal
                let loading = load.isLater ? load.queue : nil
                loading?.wake { signal.signal() }
                driver.turn.attach(try makeTransport(loop, shard, context), loading: loading)
                started.succeed(driver.signal)
                loop.run()
                let rest = driver.turn.takeFeedback()
                undelivered.withLock { $0 = rest }
            } catch {
                started.fail(error)
            }
        }
    }

    /// Waits until the shard is loaded and its transport opened.
    ///
    /// - Throws: the error of loading or of the transport; the thread has ended then.
    func link() throws -> ShardLink {
        let signal = try started.wait()
        return ShardLink(rings) { signal.signal() }
    }

    /// Ends the thread of an engine that cannot be created. Called before `link()`.
    func abandon() {
        rings.stop(within: .zero)
        if let signal = try? started.wait() { signal.signal() }
        thread.join()
    }

    /// Waits until the thread has ended.
    ///
    /// - Returns: the shard's last figures, and feedback that found no room in the ring.
    func join() -> [ShardFeedback] {
        thread.join()
        return undelivered.withLock { facts in
            defer { facts = [] }
            return facts
        }
    }

    /// Runs a shard's turns on its loop.
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
            figuresTimer = LoopTimer(loop: loop) { [unowned turn] in turn.sendFigures() }
            figuresTimer?.start(after: ShardTurn.figuresInterval, repeating: ShardTurn.figuresInterval)
            loop.onTurn = { [self] in if let due = turn.end() { dueTimer?.start(after: due) } }
        }
    }
}

/// Function that creates a shard's transport, on the shard's thread. The shard is the source.
package typealias TransportFactory = @Sendable (Loop, any DeliverySource, TransportContext) throws -> any Transport

/// Arguments of a transport besides its loop and its source. Confined to the shard's thread.
package struct TransportContext {
    package let clock: () -> Moment
    /// Proofs of the wall clock, for a transport that learns the time from its peer.
    package let proof: WallProof
    /// Receives a line for operators.
    package let report: (String) -> Void
}

/// Result of a start on another thread: a value or an error.
final class Started<Value: Sendable>: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    // Written once before the signal and read after the wait: the semaphore orders the two.
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
        semaphore.signal()  // for the next call
        guard let result else { preconditionFailure("signalled without a result") }
        return try result.get()
    }
}
