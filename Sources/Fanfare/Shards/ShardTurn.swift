package import FanfareFanOut
import FanfareModel
import FanfareQueues

/// Work of a shard's thread, without thread or loop: it passes the core's commands to the shard and the shard's feedback to the core, and
/// runs the transport in between. `ShardThread` calls it on a loop; a simulation may call its methods in any order.
///
/// Confined to one thread.
package final class ShardTurn {
    package let shard: Shard
    private let clock: ThreadClock
    private let rings: ShardRings
    // Confined to one thread and never re-entered by its callees, so exclusivity checks at run time could never fail.
    @safe @exclusivity(unchecked) private var commands: CommandIntake
    @safe @exclusivity(unchecked) private var feedback: RingProducer<ShardFeedback>
    /// Wakes the core, which finds feedback or room for its commands.
    private let wakeCore: () -> Void
    /// Schedules another call of `takeCommands` after the transport's turn.
    private let wake: () -> Void
    private var transport: (any Transport)?
    /// Cards of the store that are to be loaded; `nil` for a shard that has all.
    private var loading: LoadingQueue?
    private var reports = ShardReports()
    private var counted = ShardCounts()
    private var hasReportedReady = false
    private var isStopping = false
    /// Called with the time for stopping when the stop begins.
    package var onStop: (Duration) -> Void = { _ in }
    /// Called when the transport has closed; nothing happens here afterwards.
    package var onStopped: () -> Void = {}

    /// Time after which a turn ends, apart from the command in progress. Connections are served then, and answers are read before their
    /// requests time out.
    static let longest = Duration.milliseconds(4)
    /// Time for loading cards in a turn: loaded cards and connections wait no longer than that.
    private static let loadingTime = Duration.microseconds(500)

    package init(
        _ rings: ShardRings, shard: Shard, clock: ThreadClock, wake: @escaping () -> Void,
        wakeCore: @escaping () -> Void
    ) {
        self.rings = rings
        self.shard = shard
        self.clock = clock
        self.wake = wake
        self.wakeCore = wakeCore
        commands = CommandIntake(rings)
        feedback = rings.feedback.takeProducer()
    }

    /// Sets the transport that takes the shard's deliveries. Called before anything else.
    ///
    /// - Parameter loading: cards of the store, which the shard loads once the core has said so (`ShardCommand.load`). The queue wakes the thread.
    package func attach(_ transport: any Transport, loading: LoadingQueue? = nil) {
        self.transport = transport
        self.loading = loading
    }

    // MARK: Commands

    /// Reacts to a wake-up: commands in the ring, room for feedback, or a stop.
    package func takeCommands() {
        rings.getUp()
        let stop = rings.stopRequest
        if stop.isMade { return self.stop(within: stop.timeout) }
        flushFeedback()  // the core may have made room
        guard carryOut() else { return }
        load()
        transport?.workAvailable()
    }

    /// Loads the next of the store's cards.
    private func load() {
        guard let queue = loading, shard.isLoading else { return }
        let end = clock.now().monotonic + ShardTurn.loadingTime
        while !shard.isFeedbackFull {
            let moment = clock.now()
            guard moment.monotonic < end else { return wake() }
            switch queue.next() {
            case .batch(let commands): for command in commands { shard.apply(command, at: moment) }
            case .nothing: return
            case .end:
                loading = nil
                reports.append(.loaded)
                return
            }
        }
    }

    /// - Returns: `false` if the core does not take feedback; it wakes the shard when it does.
    private func carryOut() -> Bool {
        var moment = clock.now()
        let end = moment.monotonic + ShardTurn.longest
        commands.beginTurn()
        repeat {
            commands.takeIn(while: { !shard.isFeedbackFull }, overtaken: { shard.reportOvertaken($0) }, wakeCore)
            // Commands until the clock is read again. A command that may take long, for a million lineups, counts as a whole batch.
            var left = CommandIntake.batchMax
            while left > 0 {
                guard !shard.isFeedbackFull else { return false }
                guard let command = commands.popFirst() else {
                    if commands.isTurnOver { wake() }
                    return true
                }
                left -= command.mayTakeLong(hasLineups: shard.hasLineups) ? CommandIntake.batchMax : 1
                shard.apply(command, at: moment)
            }
            moment = clock.now()
        } while moment.monotonic < end
        wake()
        return true
    }

    private func stop(within timeout: Duration?) {
        guard !isStopping, let transport else { return }
        isStopping = true
        loading?.close()
        loading = nil
        if let timeout { onStop(timeout) }
        transport.close { [unowned self] in onStopped() }
    }

    /// Returns the last figures and the feedback that found no room in the ring. Called after the shard has stopped.
    func takeFeedback() -> [ShardFeedback] {
        sendFigures()
        return shard.takeFeedback() + reports.takeAll()
    }

    // MARK: The transport

    /// Reacts to the due time `Shard.nextDue`.
    package func work() {
        shard.wakeDue(at: clock.now())
        transport?.workAvailable()
    }

    /// Reports a line for operators, from the transport.
    func report(_ line: String) { reports.append(line) }

    // MARK: Feedback

    /// Ends the thread's turn; the thread may sleep afterwards.
    ///
    /// - Returns: longest time to sleep; `nil` if nothing is due.
    package func end() -> Duration? {
        if !hasReportedReady, transport?.isReady == true {
            hasReportedReady = true
            // Figures are left out while other feedback waits. The core has the number of loaded cards before it hears that the shard is ready.
            flushFeedback()
            sendFigures()
            reports.append(.ready)
        }
        shard.requestStamps(at: clock.now())
        flushFeedback()
        lookIntoRing()
        // Retries and wake-ups are due at exact moments, and a turn that comes too early finds nothing; hence the extra millisecond.
        guard let due = shard.nextDue else { return nil }
        return max(.zero, due - clock.now().monotonic) + .milliseconds(1)
    }

    /// Looks for commands that were sent during the turn, because the core does not wake a shard that is awake. A shard whose feedback is full takes
    /// none and is woken later.
    private func lookIntoRing() {
        rings.lieDown()
        guard !commands.isRingEmpty, !shard.isFeedbackFull, !isStopping else { return }
        rings.getUp()
        wake()
    }

    /// Period of `sendFigures`.
    package static let figuresInterval = Duration.milliseconds(100)

    package func sendFigures() {
        let moment = clock.now()
        var counts = shard.statistics
        if let transport { counts.transport = transport.figures }
        // Newer figures are not queued behind earlier ones that still wait for room.
        if counts != counted || counts.owed > 0, reports.isEmpty || isStopping {
            counted = counts
            reports.append(.counted(counts))
            reports.append(.fresh(shard.freshnessReport(at: moment)))
        }
        flushFeedback()
    }

    /// Sends feedback to the core. The rest stays in the shard, which takes nothing more before it has too much.
    private func flushFeedback() {
        let wasFeedbackFull = shard.isFeedbackFull
        var hasSent = shard.sendFeedback(to: &feedback)
        if wasFeedbackFull, !shard.isFeedbackFull { wake() }  // commands and the transport had to wait
        if reports.send(to: &feedback) { hasSent = true }
        if hasSent { wakeCore() }
    }
}

extension ShardCommand {
    /// Is `true` for a command that goes to every lineup or every follower of a topic, or to all activities.
    fileprivate func mayTakeLong(hasLineups: Bool) -> Bool {
        switch self {
        case .publish, .revokeAlert: hasLineups
        case .publishResumed, .republish, .confirmDeadTokens: true
        default: false
        }
    }
}
