import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import FanfareModel

/// One shard and its connection pool on one loop, as in the engine: publishes, waits until every activity has the version, publishes again.
final class Pusher {
    struct Options {
        var endpoint = Endpoint(host: "127.0.0.1", port: 0)
        var keyFile = ""
        var activities = 100_000
        var pushes = 100_000
        /// Number of connections; `nil` lets the pool size itself.
        var connections: Int? = 1
        /// Pause before each publication.
        var pause = Duration.zero
        /// Topics in each activity's own lineup; with 0, all activities follow one topic.
        var lineups = 0
        /// Lets each publication alert all activities.
        var isGoal = false
        /// Number of activities that follow a small topic, which publishes goals while the other activities are served.
        var beside = 0
    }

    struct Result {
        var accepted: Int
        /// Seconds from each publication to its last accepted push; `cpuSeconds` is this process's processor time for it.
        var seconds: [Double]
        var cpuSeconds: [Double]
        /// Seconds from each goal of the small topic to its last accepted push.
        var besideSeconds: [Double]
        /// Connections open at the end.
        var connections: Int
        /// Allocations per push after the first publication was out; `nil` if there was no further publication.
        var allocationsPerPush: PushAllocations?
    }

    /// Time limit of a run, longer than any measurement; beyond it, something hangs.
    private static let patience = Duration.seconds(120)

    private let loop: Loop
    private let workload: Workload
    private let shard: Shard
    private let rounds: Int
    private let pause: Duration
    private var pauseTimer: LoopTimer?
    private var isPausing = false
    private var connections = 0
    private var pool: ConnectionPool! = nil  // set in `init`, whose callbacks need `self`
    private var round = 0
    private var isDone = false
    /// Wakes the shard for lineups, which gather goals before they send them.
    private var dueTimer: LoopTimer?
    private var meter = PushMeter()
    private var reports: [String] = []
    private var beside = SmallTopic()

    static func run(_ options: Options) throws -> Result {
        let loop = try Loop()
        defer { loop.close() }
        let pusher = try Pusher(options, loop: loop)
        return try pusher.run(expected: options.pushes)
    }

    private init(_ options: Options, loop: Loop) throws {
        self.loop = loop
        workload = try Workload(
            activities: options.activities, lineups: options.lineups, isGoal: options.isGoal, beside: options.beside)
        rounds = options.pushes / options.activities
        pause = options.pause
        shard = workload.shard(at: .now())
        let credentials = try ProviderToken(
            keyFile: options.keyFile, keyID: Workload.keyID, teamID: Workload.teamID)
        let configuration = PoolConfiguration(
            endpoint: options.endpoint, bundleID: Workload.bundleID, connections: options.connections)
        pool = try ConnectionPool(
            loop: loop, source: shard, credentials: credentials, configuration: configuration,
            onReport: { [unowned self] in reports.append($0) })
    }

    private func run(expected: Int) throws -> Result {
        let deadline = LoopTimer(loop: loop) { [unowned self] in
            reports.append("not done within \(Pusher.patience)")
            loop.stop()
        }
        deadline.start(after: Pusher.patience)
        dueTimer = LoopTimer(loop: loop) { [unowned self] in
            shard.wakeDue(at: .now())
            pool.workAvailable()
        }
        pauseTimer = LoopTimer(loop: loop) { [unowned self] in publish() }
        beside.timer = LoopTimer(loop: loop) { [unowned self] in publishBeside() }
        loop.onTurn = { [unowned self] in endTurn() }
        loop.run()
        loop.onTurn = nil
        pauseTimer?.close()
        beside.timer?.close()
        deadline.close()
        dueTimer?.close()
        let acceptedBeside = beside.seconds.count * workload.beside
        let accepted = shard.statistics.pushes.accepted - workload.firstPushes - acceptedBeside
        guard accepted == expected else {
            throw LoadError("\(accepted) of \(expected) pushes accepted: \(reports.joined(separator: "; "))")
        }
        let alerts = shard.statistics.alerts.accepted - acceptedBeside
        guard alerts == (workload.isGoal ? expected : 0) else { throw LoadError("\(alerts) of \(expected) goals told") }
        let counted = accepted - accepted / rounds
        return Result(
            accepted: accepted, seconds: meter.seconds, cpuSeconds: meter.cpuSeconds, besideSeconds: beside.seconds,
            connections: connections, allocationsPerPush: counted == 0 ? nil : meter.allocations(per: counted))
    }

    private func endTurn() {
        // Does the core's part.
        shard.drainFeedback { if case .completed(let serial, let at) = $0 { completed(serial, at) } }
        defer { armTimer() }
        guard pool.isReady, shard.isQuiet, !isDone, !isPausing else { return }
        if round > 0 { meter.noteOut(isFirst: round == 1) }
        guard round < rounds else {
            isDone = true
            connections = pool.connectionsOpen
            return pool.close { [loop] in loop.stop() }
        }
        if pause > .zero {
            isPausing = true
            pauseTimer?.start(after: pause)
        } else {
            publish()
        }
    }

    private func publish() {
        isPausing = false
        round += 1
        meter.notePublication()
        shard.apply(.publish(workload.publication(round)), at: .now())
        pool.workAvailable()
        if workload.beside > 0 { beside.timer?.start(after: SmallTopic.pause) }
    }

    /// Publishes a goal of the small topic while the others are served, once the goal before it has reached all activities.
    private func publishBeside() {
        guard !beside.isOnItsWay, !isPausing, !isDone, !shard.isQuiet else { return }
        let moment = Moment.now()
        let round = beside.begin(at: moment.monotonic)
        shard.apply(.publish(workload.publicationBeside(round)), at: moment)
        pool.workAvailable()
    }

    private func completed(_ serial: UInt64, _ at: MonotonicTime?) {
        guard serial == UInt64(Workload.besideFirst + beside.round), beside.complete(at: at) else { return }
        beside.timer?.start(after: SmallTopic.pause)
    }

    private func armTimer() {
        guard let due = shard.nextDue else { return }
        dueTimer?.start(after: max(.zero, due - MonotonicTime(nanoseconds: Clock.monotonicNanoseconds())))
    }
}
