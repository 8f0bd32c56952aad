import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport
import Synchronization

@testable import Fanfare

/// Core and one shard in one thread; they run only when a test tells them to.
final class OneThread: EngineCoreDelegate {
    let clock: ManualClock
    let inbox: Inbox
    let core: EngineCore
    let turn: CoreTurn
    let link: ShardLink
    let shard: ShardTurn
    let transport: WillingTransport
    private(set) var records: [DecisionRecord] = []
    private(set) var reports: [String] = []
    private(set) var reliefs = 0
    private let wakeups: Wakeups
    private let proof: WallProof
    /// Disk under the engine; `nil` without a store.
    let disk: ManualDisk?
    private let checkpointer: Checkpointer?

    /// Threads that were woken and have not run since.
    final class Wakeups {
        var core = false
        var shard = false
    }

    /// - Parameter checkpoints: number of entries between two checkpoints; `nil`: the engine begins without what the disk has, and writes none.
    init(
        rules: Rules = .builtIn, mailbox: Int = 1 << 14, disk: ManualDisk? = nil, checkpoints: LogPosition? = nil,
        clock: ManualClock = ManualClock()
    ) {
        self.disk = disk
        self.clock = clock
        let wakeups = Wakeups()
        self.wakeups = wakeups
        let rings = ShardRings()
        let source = clock.source
        proof = source.proof
        let shardClock = ThreadClock(source)
        let shard = ShardTurn(
            rings, shard: Shard(lineups: rules.lineups), clock: shardClock, wake: { wakeups.shard = true },
            wakeCore: { wakeups.core = true })
        self.shard = shard
        transport = WillingTransport(shard.shard) { shardClock.now() }
        shard.attach(transport)
        link = ShardLink(rings) { wakeups.shard = true }
        core = EngineCore(rules: rules, shards: [link], perApp: 1, isLive: true)
        inbox = Inbox(capacity: mailbox, topicIDSizeMax: .bytes(256), hasStore: disk != nil)
        var tell: ((String) -> Void)?
        let core = core
        checkpointer = checkpoints.flatMap { interval in
            guard let disk else { return nil }
            do {
                try core.recall(disk.log, under: rules)
                return try Checkpointer(core, disk.log, sink: disk, rules: LogRules(rules), interval: interval)
            } catch { preconditionFailure("a store in memory fails: \(error)") }
        }
        disk?.onCheckpoint = { [weak checkpointer] in checkpointer?.end($0) }
        checkpointer?.onTrim = { [weak disk] in disk?.log.trim(through: $0) }
        turn = CoreTurn(
            core, inbox, clock: ThreadClock(source), intake: disk?.intake, checkpointer: checkpointer
        ) { tell?($0) }
        tell = { [unowned self] in reports.append($0) }
        core.delegate = self
    }

    func coreDidRecord(_ record: DecisionRecord, of publication: Publication?) { records.append(record) }
    func coreDidReport(_ line: String) { turn.report(line) }
    func coreDidRelieve() { reliefs += 1 }

    /// Lets APNs accept a JWT made by a right clock.
    func prove() {
        proof.origin = clock.truth.milliseconds * 1_000_000 - clock.source.monotonic().nanoseconds
    }

    var coreIsWoken: Bool { wakeups.core }
    var shardIsWoken: Bool { wakeups.shard }

    func runShard() {
        wakeups.shard = false
        shard.takeCommands()
        _ = shard.end()
    }

    func takeFeedback() {
        wakeups.core = false
        core.takeFeedback()
    }

    /// Runs the woken threads until none is woken.
    func settle() {
        repeat { while turn.run() == .again {} } while disk?.sync() == true
        while wakeups.core || wakeups.shard {
            if wakeups.shard { runShard() }
            if wakeups.core { takeFeedback() }
        }
    }

    /// Advances the time and runs each thread that is due.
    func pass(_ duration: Duration) {
        var left = duration
        while left > .zero {
            let step = min(left, ShardTurn.figuresInterval)
            clock.pass(step)
            left -= step
            shard.sendFigures()
            shard.work()
            settle()
        }
    }

    /// Begins a stop as `Engine.stop` does.
    func stop(within timeout: Duration) {
        inbox.stop(by: clock.now + timeout)
    }

    func ask(_ request: CoreRequest) -> Bool { inbox.post(request).isTaken }

    func event(_ kind: String, _ change: FeedEvent.Change, lifecycle: FeedEvent.Lifecycle? = nil, at: FeedTime? = nil) {
        _ = ask(
            .event(
                FeedEvent(
                    topic: OneThread.match, topicKind: .football, at: at ?? clock.truth, kind: kind,
                    lifecycle: lifecycle, change: change)))
    }

    func goal(_ number: Int) {
        event(
            "goal",
            .fact(Fact(id: "goal-\(number)", kind: "goal", at: clock.truth, values: ["side": "home"])))
    }

    /// Publishes a change without an alert that is not urgent.
    func card(_ number: Int) {
        event(
            "card",
            .fact(
                Fact(
                    id: "card-\(number)", kind: "card", at: clock.truth, values: ["side": "home", "color": "yellow"])))
    }

    static let match = TopicID("match/1")

    func follow(_ activity: UInt64 = 1, startedAt: FeedTime? = nil) {
        _ = ask(
            .follow(
                Subscription(
                    audience: .topic(OneThread.match), activity: ActivityID(activity), subscriber: activity,
                    token: [UInt8(activity)], startedAt: startedAt), app: 0))
    }

    /// Begins a match, and a phone that shows it.
    func begin() {
        follow()
        event(
            "start",
            .fact(Fact(id: "t", kind: "teams", at: clock.truth, values: ["home": "A", "away": "B"])), lifecycle: .start)
        pass(.seconds(10))
    }
}

extension Moment {
    /// Reads the system's clocks.
    static func now() -> Moment { ThreadClock(.system).now() }
}
