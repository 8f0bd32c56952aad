import FanfareFanOut
import FanfareModel

/// What a shard's thread does, without thread or loop: the core's commands go to the shard, the shard's facts to the core, and
/// between the two the transport has its turn. `ShardThread` calls it on a loop; a simulation may, in any order.
///
/// Confined to one thread.
final class ShardTurn {
    let shard: Shard
    private let clock: ThreadClock
    private let rings: ShardRings
    private var commands: RingConsumer<ShardCommand>
    private var feedback: RingProducer<ShardFeedback>
    /// Taken from the ring, not yet carried out.
    private var waiting = CommandQueue()
    /// Commands taken since the core was last woken.
    private var taken = 0
    /// The core has something to hear, or room for its commands.
    private let wakeCore: () -> Void
    /// Has `takeCommands` called once more, when the transport has had its turn.
    private let wake: () -> Void
    private var transport: (any Transport)?
    private var reports = Reports()
    private var counted = ShardCounts()
    private var hasToldReady = false
    private var isStopping = false
    /// It has begun to stop, and has so long for it.
    var onStop: ((Duration) -> Void)?
    /// The transport has closed; nothing more will happen here.
    var onStopped: (() -> Void)?

    /// Commands taken from the ring together: what they tell the core may come on top of a feedback that is full.
    private static let batchMax = 64
    /// Commands that wait here instead of in the ring, so that versions among them can overtake each other. With fewer topics than
    /// that, a full ring is soon nothing but the newest version of each.
    private static let waitingMax = 4096
    /// A turn's batches from the ring: twice what it holds.
    private static let batchesMax = 2 * ShardRings.commandsMax / batchMax
    /// A turn is over after this, and after the command that was under way: connections then have theirs, and answers that have
    /// come are read before their requests time out.
    static let longest = Duration.milliseconds(4)

    init(
        _ rings: ShardRings, shard: Shard, clock: ThreadClock, wake: @escaping () -> Void,
        wakeCore: @escaping () -> Void
    ) {
        self.rings = rings
        self.shard = shard
        self.clock = clock
        self.wake = wake
        self.wakeCore = wakeCore
        commands = rings.commands.takeConsumer()
        feedback = rings.feedback.takeProducer()
    }

    /// Where the shard's deliveries go; before anything else is called.
    func open(_ transport: any Transport) { self.transport = transport }

    // MARK: Commands

    /// Somebody has woken the shard: there are commands, or room for feedback, or it is to stop.
    func takeCommands() {
        rings.getUp()
        let stop = rings.stopRequest
        if stop.isMade { return self.stop(within: stop.timeout) }
        tell()  // the core may have made room
        guard carryOut() else { return }
        transport?.workAvailable()
    }

    /// - Returns: `false`: the core does not listen, and wakes the shard when it does.
    private func carryOut() -> Bool {
        var moment = clock.now()
        let end = moment.monotonicNanoseconds + ShardTurn.longest.milliseconds * 1_000_000
        var batches = ShardTurn.batchesMax
        repeat {
            takeIn(&batches)
            // Until the clock is looked at again. What may take long, for a million lineups, counts as much as many that do not.
            var left = ShardTurn.batchMax
            while left > 0 {
                guard !shard.isHeldUp else { return false }
                guard let command = waiting.popFirst() else {
                    if batches == 0 { wake() }
                    return true
                }
                left -= command.mayTakeLong(in: shard) ? ShardTurn.batchMax : 1
                shard.apply(command, at: moment)
            }
            moment = clock.now()
        } while moment.monotonicNanoseconds < end
        wake()
        return true
    }

    /// Takes from the ring what finds room here.
    private func takeIn(_ batches: inout Int) {
        while batches > 0, waiting.count < ShardTurn.waitingMax, !shard.isHeldUp {
            batches -= 1
            let count = commands.drain(limit: ShardTurn.batchMax) { command in
                waiting.append(command) { shard.reportOvertaken($0) }
            }
            taken += count
            // A core that found the ring full waits to be told of room; of the ring's commands at least half are still to be taken
            // then, so this comes.
            if taken >= rings.commandsMax / 2 {
                taken = 0
                wakeCore()
            }
            guard count == ShardTurn.batchMax else { return }
        }
    }

    private func stop(within timeout: Duration?) {
        guard !isStopping, let transport else { return }
        isStopping = true
        if let timeout { onStop?(timeout) }
        transport.close { [unowned self] in onStopped?() }
    }

    /// The last figures, and all that found no room in the ring; once the shard has stopped.
    func takeFeedback() -> [ShardFeedback] {
        tellFigures()
        return shard.takeFeedback() + reports.takeAll()
    }

    // MARK: The transport

    /// Something is due (`Shard.nextDue`).
    func work() {
        shard.wakeDue(at: clock.now())
        transport?.workAvailable()
    }

    /// A line for operators, from the transport.
    func report(_ line: String) { reports.append(line) }

    // MARK: Telling the core

    /// The thread's turn is over, and it may sleep.
    ///
    /// - Returns: how long at most, if there is anything to do then.
    func end() -> Duration? {
        if !hasToldReady, transport?.isReady == true {
            hasToldReady = true
            reports.append(.ready)
        }
        tell()
        lookIntoRing()
        // A retry or a wake-up is due at a moment of its own. Who comes early finds nothing.
        guard let due = shard.nextDue else { return nil }
        return .nanoseconds(max(0, due - clock.now().monotonicNanoseconds) + 1_000_000)
    }

    /// The core does not wake a shard that is awake: what it has sent meanwhile is found here. A shard that is held up takes nothing, and
    /// is woken when it may.
    private func lookIntoRing() {
        rings.lieDown()
        guard !commands.isEmpty, !shard.isHeldUp, !isStopping else { return }
        rings.getUp()
        wake()
    }

    /// How often `tellFigures` is called.
    static let figuresInterval = Duration.milliseconds(100)

    func tellFigures() {
        let moment = clock.now()
        var counts = shard.statistics
        if let transport { counts.transport = transport.figures }
        // While earlier ones still wait for room, newer ones would only queue up behind them.
        if counts != counted || counts.owed > 0, reports.isEmpty || isStopping {
            counted = counts
            reports.append(.counted(counts))
            reports.append(.fresh(shard.freshnessReport(at: moment)))
        }
        tell()
    }

    /// What finds no room stays in the shard, which is held up before it has too much.
    private func tell() {
        let wasHeldUp = shard.isHeldUp
        var told = shard.sendFeedback(to: &feedback)
        if wasHeldUp, !shard.isHeldUp { wake() }  // for the commands and the transport that had to wait
        if reports.send(to: &feedback) { told = true }
        if told { wakeCore() }
    }

    /// What the thread itself has to tell. Few, while the core listens.
    private struct Reports {
        private var waiting: [ShardFeedback] = []
        private var leftOut = 0
        /// Lines that wait for a core that does not listen; the figures are not counted.
        private static let linesMax = 256

        var isEmpty: Bool { waiting.isEmpty }

        mutating func append(_ fact: ShardFeedback) { waiting.append(fact) }

        mutating func append(_ line: String) {
            for case .report(line) in waiting { return }
            if waiting.count < Reports.linesMax { append(.report(line)) } else { leftOut += 1 }
        }

        mutating func takeAll() -> [ShardFeedback] {
            defer { waiting = [] }
            return waiting
        }

        /// - Returns: whether anything went.
        mutating func send(to ring: inout RingProducer<ShardFeedback>) -> Bool {
            guard !waiting.isEmpty else { return false }
            let sent = ring.push(waiting.span)
            waiting.removeFirst(sent)
            if waiting.isEmpty, leftOut > 0 {
                append(.report("\(leftOut) more lines of a shard were left out: the core was at work for too long"))
                leftOut = 0
            }
            return sent > 0
        }
    }
}

extension ShardCommand {
    /// It goes to each lineup of a topic, or to everybody.
    fileprivate func mayTakeLong(in shard: Shard) -> Bool {
        switch self {
        case .publish, .revokeAlert: shard.hasLineups
        case .republish, .trustDeadAnswers: true
        default: false
        }
    }
}
