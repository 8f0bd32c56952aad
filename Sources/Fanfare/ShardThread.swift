import Dispatch
import FanfareAPNs
import FanfareCore
import FanfareLoop
import Synchronization

/// A shard on a thread of its own, as the core holds it: the sending end of one ring, the receiving end of another, and a
/// signal. Confined to the core's thread.
final class ShardThread {
    /// Commands on their way to a shard. A follow is the most frequent one; 65,536 of them are some 10 MB.
    private static let commandsMax = 1 << 16
    /// Facts on their way to the core: completions and dead tokens, a few bytes each.
    private static let feedbackMax = 1 << 14

    private var commands: RingProducer<ShardCommand>
    private var feedback: RingConsumer<ShardFeedback>
    private let wakeup: WakeupSignal
    private let stopRequest: StopRequest
    private let thread: LoopThread
    /// What found the ring full. While anything waits here the core takes no new events, so this holds at most what the timers of
    /// one turn publish: bounded by topics, not by lag.
    private var backlog: [ShardCommand] = []
    /// Facts taken from the ring since the shard was last signalled.
    private var heard = 0

    /// - Parameters:
    ///   - isPinned: its thread stays on one processor.
    ///   - load: fills the shard before it starts, on its own thread.
    ///   - core: signalled when feedback waits.
    init(
        _ place: ShardPlace, limits: ActivityLimits, lineups: LineupRules, isPinned: Bool,
        makeTransport: @escaping TransportFactory,
        load: (@Sendable (Shard, ShardPlace) throws -> Void)?, core: WakeupSignal
    ) throws {
        let commandRing = OneToOneRing<ShardCommand>(capacity: ShardThread.commandsMax)
        let feedbackRing = OneToOneRing<ShardFeedback>(capacity: ShardThread.feedbackMax)
        let stopRequest = StopRequest()
        self.stopRequest = stopRequest
        let started = Started<WakeupSignal>()
        thread = try LoopThread(name: "fanfare shard \(place.app * place.count + place.index)") { loop in
            do {
                if isPinned { try LoopThread.pinToProcessor(place.index) }
                let runner = try ShardRunner(
                    loop: loop, commands: commandRing.takeConsumer(), feedback: feedbackRing.takeProducer(),
                    stopRequest: stopRequest, limits: limits, lineups: lineups, core: core)
                try load?(runner.shard, place)
                try runner.open(makeTransport)
                started.succeed(runner.wakeup.signal)
                loop.run()
            } catch {
                started.fail(error)
            }
        }
        wakeup = try started.wait()
        commands = commandRing.takeProducer()
        feedback = feedbackRing.takeConsumer()
    }

    /// Full somewhere: no new event may be taken in until this is false again.
    var isCongested: Bool { !backlog.isEmpty }

    func send(_ command: ShardCommand) {
        if !backlog.isEmpty || !commands.tryPush(command) { backlog.append(command) }
        wakeup.signal()
    }

    /// Moves what waited for room; called once per turn of the core.
    func flush() {
        // A shard that found its ring full waits to be told of room.
        if heard >= ShardThread.feedbackMax / 2 {
            heard = 0
            wakeup.signal()
        }
        guard !backlog.isEmpty else { return }
        backlog.removeFirst(commands.push(backlog.span))
        wakeup.signal()
    }

    /// Hands over what the shard has told; once per turn of the core.
    func hear(_ take: (ShardFeedback) -> Void) { heard += feedback.drain(limit: ShardThread.feedbackMax, take) }

    /// Delivers what is on its way, closes, and ends the thread. Commands that still wait are not carried out: nobody may have to
    /// make room for this one while the core waits in `join`.
    func stop() {
        stopRequest.made.store(true, ordering: .releasing)
        wakeup.signal()
    }

    func join() { thread.join() }
}

/// Makes a shard's transport on the shard's thread.
typealias TransportFactory = @Sendable (Loop, Shard, _ report: @escaping (String) -> Void) throws -> any Transport

/// Beside the ring, because the ring may be full and its reader held up.
private final class StopRequest: Sendable {
    /// Set by the core's thread, once; the acquire in `ShardRunner.drain` meets it.
    let made = Atomic<Bool>(false)
}

/// What lives on a shard's thread: the shard, its transport and the rings' other ends.
private final class ShardRunner {
    let shard: Shard
    private(set) var wakeup: Wakeup!  // set in `init`, once `self` can be captured
    private let loop: Loop
    private var commands: RingConsumer<ShardCommand>
    private var feedback: RingProducer<ShardFeedback>
    private let stopRequest: StopRequest
    private let core: WakeupSignal
    private var transport: (any Transport)?
    private var reports: [ShardFeedback] = []
    private var dueTimer: LoopTimer?
    private var statisticsTimer: LoopTimer?
    private var counted = ShardCounts()
    private var hasToldReady = false
    private var isStopping = false

    /// Commands taken together: what they tell the core may come on top of a feedback that is full.
    private static let batchMax = 64
    /// 4,096 commands a turn; then the connections have theirs.
    private static let batchesPerTurn = 64

    init(
        loop: Loop, commands: consuming RingConsumer<ShardCommand>, feedback: consuming RingProducer<ShardFeedback>,
        stopRequest: StopRequest, limits: ActivityLimits, lineups: LineupRules, core: WakeupSignal
    ) throws {
        shard = Shard(lineups: lineups, limits: limits)
        self.loop = loop
        self.commands = commands
        self.feedback = feedback
        self.stopRequest = stopRequest
        self.core = core
        wakeup = try Wakeup(loop: loop) { [unowned self] in drain() }
        dueTimer = LoopTimer(loop: loop) { [unowned self] in transport?.workAvailable() }
        statisticsTimer = LoopTimer(loop: loop) { [unowned self] in tellCounts() }
    }

    func open(_ makeTransport: TransportFactory) throws {
        transport = try makeTransport(loop, shard) { [unowned self] text in reports.append(.report(text)) }
        statisticsTimer?.start(after: .milliseconds(100), repeating: .milliseconds(100))
        loop.onTurn = { [self] in endTurn() }
    }

    private func drain() {
        if stopRequest.made.load(ordering: .acquiring) {
            stop()
            return
        }
        let moment = Moment.now()
        tell()  // the core may have made room
        for _ in 0..<ShardRunner.batchesPerTurn {
            guard !shard.isHeldUp else { return }
            let taken = commands.drain(limit: ShardRunner.batchMax) { shard.apply($0, at: moment) }
            guard taken == ShardRunner.batchMax else {
                transport?.workAvailable()
                return
            }
        }
        wakeup.signal.signal()  // more is waiting; the transport runs first
        transport?.workAvailable()
    }

    private func stop() {
        guard !isStopping, let transport else { return }
        isStopping = true
        transport.close { [unowned self] in
            tellCounts()
            tell()
            loop.stop()
        }
    }

    private func endTurn() {
        if !hasToldReady, transport?.isReady == true {
            hasToldReady = true
            reports.append(.ready)
        }
        tell()
        // A retry or a stamp that ran ahead is due at a moment of its own. The timer may fire early; it then finds nothing.
        if let due = shard.nextDue {
            dueTimer?.start(after: .nanoseconds(max(0, due - Clock.monotonicNanoseconds()) + 1_000_000))
        }
    }

    private func tellCounts() {
        let counts = shard.statistics
        // While earlier figures still wait for room, newer ones would only queue up behind them.
        if counts != counted || counts.owed > 0, reports.isEmpty || isStopping {
            counted = counts
            reports.append(.counted(counts))
            reports.append(.fresh(shard.freshnessReport(at: .now())))
        }
        if let pool = transport as? ConnectionPool, let trouble = pool.trouble, trouble.kind == .configuration {
            reports.append(.misconfigured(trouble.text))
        }
        tell()
    }

    /// What finds no room stays in the shard, which is held up before it has too much.
    private func tell() {
        let wasHeldUp = shard.isHeldUp
        var told = shard.sendFeedback(to: &feedback)
        if wasHeldUp, !shard.isHeldUp { wakeup.signal.signal() }  // for the commands and the transport that had to wait
        while let report = reports.first, feedback.tryPush(report) {
            reports.removeFirst()
            told = true
        }
        if told { core.signal() }
    }
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
        guard let result else { preconditionFailure("signalled without a result") }
        return try result.get()
    }
}
