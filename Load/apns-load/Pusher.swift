import CountAllocations
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
        var allocationsPerPush: Allocations?
    }

    /// Numbers of allocations; OpenSSL's are counted separately.
    struct Allocations {
        var ours: Double
        var openSSL: Double
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
    /// Time and processor time of the latest publication, in nanoseconds.
    private var publishedAt: (time: Int64, cpu: Int64) = (0, 0)
    private var seconds: [Double] = []
    private var cpuSeconds: [Double] = []
    /// Allocations of this thread after the first publication was out and after the last one was.
    private var allocations: (first: Allocations, last: Allocations) = (.now(), .now())
    private var reports: [String] = []
    /// Pause between two goals of the small topic.
    private static let besidePause = Duration.milliseconds(20)
    private var besideTimer: LoopTimer?
    private var besideRound = 0
    /// Time of the goal that is on its way.
    private var besidePublishedAt: MonotonicTime?
    private var besideSeconds: [Double] = []

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
        besideTimer = LoopTimer(loop: loop) { [unowned self] in publishBeside() }
        loop.onTurn = { [unowned self] in endTurn() }
        loop.run()
        loop.onTurn = nil
        pauseTimer?.close()
        besideTimer?.close()
        deadline.close()
        dueTimer?.close()
        let acceptedBeside = besideSeconds.count * workload.beside
        let accepted = shard.statistics.pushes.accepted - workload.firstPushes - acceptedBeside
        guard accepted == expected else {
            throw LoadError("\(accepted) of \(expected) pushes accepted: \(reports.joined(separator: "; "))")
        }
        let alerts = shard.statistics.alerts.accepted - acceptedBeside
        guard alerts == (workload.isGoal ? expected : 0) else { throw LoadError("\(alerts) of \(expected) goals told") }
        let counted = accepted - accepted / rounds
        let (first, last) = allocations
        return Result(
            accepted: accepted, seconds: seconds, cpuSeconds: cpuSeconds, besideSeconds: besideSeconds,
            connections: connections,
            allocationsPerPush: counted == 0
                ? nil
                : Allocations(
                    ours: (last.ours - first.ours) / Double(counted),
                    openSSL: (last.openSSL - first.openSSL) / Double(counted)))
    }

    private func endTurn() {
        // Does the core's part.
        shard.drainFeedback { if case .completed(let serial, let at) = $0 { completed(serial, at) } }
        defer { armTimer() }
        guard pool.isReady, shard.isQuiet, !isDone, !isPausing else { return }
        if round > 0 {
            seconds.append(Double(Clock.monotonicNanoseconds() - publishedAt.time) / 1e9)
            cpuSeconds.append(Double(Clock.processCPUNanoseconds() - publishedAt.cpu) / 1e9)
            allocations.last = .now()
            if round == 1 { allocations.first = .now() }
        }
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
        publishedAt = (Clock.monotonicNanoseconds(), Clock.processCPUNanoseconds())
        shard.apply(.publish(workload.publication(round)), at: .now())
        pool.workAvailable()
        if workload.beside > 0 { besideTimer?.start(after: Pusher.besidePause) }
    }

    /// Publishes a goal of the small topic while the others are served, once the goal before it has reached all activities.
    private func publishBeside() {
        guard besidePublishedAt == nil, !isPausing, !isDone, !shard.isQuiet else { return }
        besideRound += 1
        let moment = Moment.now()
        besidePublishedAt = moment.monotonic
        shard.apply(.publish(workload.publicationBeside(besideRound)), at: moment)
        pool.workAvailable()
    }

    private func completed(_ serial: UInt64, _ at: MonotonicTime?) {
        guard serial == UInt64(Workload.besideFirst + besideRound), let since = besidePublishedAt.take(), let at else {
            return
        }
        besideSeconds.append(Double(at.nanoseconds(since: since)) / 1e9)
        besideTimer?.start(after: Pusher.besidePause)
    }

    private func armTimer() {
        guard let due = shard.nextDue else { return }
        dueTimer?.start(after: max(.zero, due - MonotonicTime(nanoseconds: Clock.monotonicNanoseconds())))
    }
}

extension Pusher.Allocations {
    /// Returns the allocations of this thread so far.
    fileprivate static func now() -> Self {
        let openSSL = allocations_of_this_thread_by_openssl()
        return Self(ours: Double(allocations_of_this_thread() - openSSL), openSSL: Double(openSSL))
    }
}
