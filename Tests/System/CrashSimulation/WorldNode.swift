import Fanfare
import FanfareFanOut
import FanfareModel
import FanfareTestSupport

/// Capacities of a world: of the rings, of the mailbox, of a shard for its facts, and of the network.
struct WorldRoom {
    var mailbox: Int
    var commands: Int
    var feedback: Int
    var facts: Int
    var streams: Int
}

/// A shard and the surroundings of its thread: rings to the core, a loop with timers, a network.
final class WorldNode {
    let app: Int
    let link: ShardLink
    let turn: ShardTurn
    let network: WorldNetwork
    private let clock: ManualClock
    private let now: () -> Moment
    private let wakeup = WorldWakeup()
    /// The time at which its timers fire, monotonic nanoseconds.
    private var due: MonotonicTime?
    private var figuresDue: MonotonicTime
    private var stopDue: MonotonicTime?
    private(set) var hasStopped = false
    /// Time that passes with each reading of the clock while the shard carries out commands.
    private let pace: Duration
    /// Is `true` while the shard's thread is not scheduled.
    var isHung = false
    /// The patience of worlds in which no disk is so slow that alerts leave without their claims.
    static let endlessPatience = Duration.seconds(1_000_000_000)
    /// Called with the time for which its network has waited for its part of a turn.
    var onTurn: ((_ waited: Duration) -> Void)?

    init(
        app: Int, _ clock: ManualClock, _ room: WorldRoom, pace: Duration, lineups: LineupRules,
        limits: ActivityLimits = ActivityLimits(), keepsClaims: Bool,
        claimPatience: Duration = WorldNode.endlessPatience, besideOthers: Bool = true,
        completionLimits: CompletionLimits = CompletionLimits(), stamps: StampCeiling = StampCeiling(),
        loading: LoadingQueue? = nil,
        wakeCore: @escaping () -> Void
    ) {
        self.app = app
        self.pace = pace
        self.clock = clock
        let rings = ShardRings(commandsMax: room.commands, feedbackMax: room.feedback)
        let wakeup = wakeup
        var source = clock.source
        source.stamps = stamps
        let threadClock = ThreadClock(source)
        now = { threadClock.now() }
        // `fanfare-sim` tests the guard of dead tokens; here it never shuts.
        let shard = Shard(
            lineups: lineups, feedbackMax: room.facts, limits: limits, deadTokenAnswers: 1_000_000...2_000_000)
        if keepsClaims {
            shard.keepClaims(ClaimLimits(patience: claimPatience, blocks: 1...8, namedMax: 4))
            shard.reportRemovals()
            shard.reportCompletions(besideOthers: besideOthers, completionLimits)
            shard.reserveStamps(beyond: stamps.reserved)
        }
        turn = ShardTurn(
            rings, shard: shard, clock: threadClock, wake: { wakeup.isSet = true }, wakeCore: wakeCore)
        link = ShardLink(rings) { wakeup.isSet = true }
        network = WorldNetwork(shard, streams: room.streams) { threadClock.now() }
        figuresDue = clock.now + ShardTurn.figuresInterval
        turn.attach(network, loading: loading)
        loading?.wake { wakeup.isSet = true }
        network.onTurn = { [unowned self] in
            clock.pass(perReading: .zero)
            onTurn?($0)
        }
        turn.onStopped = { [unowned self] in hasStopped = true }
        turn.onStop = { [unowned self] in stopDue = clock.now + $0 }
    }

    /// Applies a command before the thread's loop runs.
    func load(_ command: ShardCommand) { turn.shard.apply(command, at: now()) }

    /// The loop's next timer.
    var nextDue: MonotonicTime? {
        hasStopped || isHung ? nil : [due, figuresDue, stopDue].compactMap(\.self).min()
    }

    /// Runs one turn of the thread's loop.
    ///
    /// - Returns: whether there was any work.
    func run() -> Bool {
        guard !hasStopped, !isHung else { return false }
        let now = clock.now
        if let stopDue, stopDue <= now {
            hasStopped = true
            return true
        }
        let isDue = due.map { $0 <= now } ?? false
        guard wakeup.isSet || isDue || figuresDue <= now else { return false }
        if wakeup.isSet {
            wakeup.isSet = false
            network.awaitsTurn(since: now)
            clock.pass(perReading: pace)
            turn.takeCommands()
            network.turnIsOver()
        }
        if isDue {
            due = nil
            turn.work()
        }
        if figuresDue <= now {
            figuresDue = now + ShardTurn.figuresInterval
            turn.sendFigures()
        }
        end()
        return true
    }

    /// Delivers the answer to a push.
    func answer(_ index: Int, _ outcome: DeliveryOutcome) {
        network.answer(index, outcome)
        end()
    }

    /// Makes room in the network again.
    func unblock() {
        guard !hasStopped else { return }
        network.isBlocked = false
        network.fill()
        end()
    }

    private func end() { if let wait = turn.end() { due = clock.now + wait } }
}

/// `Sendable` is unchecked because a world has one thread.
final class WorldWakeup: @unchecked Sendable {
    var isSet = false
}
