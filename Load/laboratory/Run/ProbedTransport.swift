import Fanfare
import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import FanfareModel

/// A shard's transport behind a `Probe`, and the timer that finds the shard's longest turns. Confined to the shard's thread.
final class ProbedTransport: Transport {
    /// Measurements that a shard leaves behind when its transport closes. `Sendable` is unchecked because they are read when the shard's
    /// thread has ended: until then an answer may come, even to an engine that ends without notice.
    struct Remains: @unchecked Sendable {
        var probe: Probe
        var statistics = TransportStatistics()
        /// Body bytes and answers before the measurement.
        var before = TransportStatistics()
    }

    private let probe: Probe
    private let remains: Locked<[Remains]>
    private let start: ScheduleStart
    private let measuredFrom: Int64
    private var inner: (any Transport)?
    private var pool: ConnectionPool?
    private var nextPull: LoopTimer?
    private var turns: TurnTimer?
    private var before: TransportStatistics?

    init(
        _ loop: Loop, _ source: any DeliverySource, _ context: TransportContext, _ setup: TransportSetup
    ) throws {
        remains = setup.remains
        start = setup.plan.start
        measuredFrom = setup.plan.measured.lowerBound
        probe = Probe(
            source, setup.table, setup.plan, slotsMax: setup.slotsMax, marks: setup.marks.withLock { $0 },
            clock: Clock.monotonicNanoseconds)
        if setup.scenario.restartAt != nil { setup.marks.withLock { [probe] in $0 = probe.slots } }
        probe.waste.perPush = setup.scenario.waste.inSeconds * 1e9
        switch setup.scenario.transport {
        case .discard(let sink):
            let timer = LoopTimer(loop: loop) { [unowned self] in inner?.workAvailable() }
            nextPull = timer
            let population = setup.plan.population
            var sinkSetup = SinkTransport.Setup(sink, start: start, measuredFrom: measuredFrom)
            sinkSetup.shards = setup.scenario.shards
            if setup.scenario.subscribers.deadShare > 0 {
                sinkSetup.isDead = { population.isDead(Population.subscriber(of: $0)) }
            }
            inner = SinkTransport(probe, sinkSetup, clock: context.clock) { timer.start(after: $0) }
        case .simulator, .host:
            pool = try setup.pool(loop, probe, context)
            inner = pool
            probe.onBegin = { [unowned self] in before = pool?.statistics }
        }
        turns = TurnTimer(loop) { [unowned self] in look($0, at: $1) }
    }

    private func look(_ turn: Int64, at now: Int64) {
        probe.roll(to: now)
        probe.noteTurn(turn)
        noteBytes()
    }

    private func noteBytes() { probe.noteBytes(pool.map { $0.statistics.sentSize.bytes } ?? probe.stateBytes) }

    private func leave(_ place: Int) {
        nextPull?.close()
        turns?.close()
        remains.withLock { $0[place] = left }
    }

    private var left: Remains {
        let statistics = pool?.statistics ?? TransportStatistics()
        // A transport that ends before the measurement begins has written nothing of it.
        return Remains(probe: probe, statistics: statistics, before: before ?? statistics)
    }

    var isReady: Bool { inner?.isReady ?? false }
    var figures: TransportFigures { inner?.figures ?? TransportFigures() }
    func workAvailable() { inner?.workAvailable() }

    func close(_ closed: @escaping () -> Void) {
        noteBytes()
        let place = remains.withLock { remains in
            remains.append(left)
            return remains.count - 1
        }
        // An engine that ends without notice does not wait for this.
        inner?.close { [weak self] in
            self?.leave(place)
            closed()
        }
    }
}

/// Everything that each shard's transport is made from. Any thread.
struct TransportSetup: Sendable {
    var scenario: Scenario
    var table: PublicationTable
    var plan: ProbePlan
    var slotsMax: Int
    var remains: Locked<[ProbedTransport.Remains]>
    /// Slots' marks for the next engine, in a scenario with a restart.
    var marks: Locked<SlotMarks?>
    /// Server and provider key; `nil` for a sink.
    private let server: (endpoint: Endpoint, credentials: ProviderToken)?
    /// Connections of all shards, as the engine limits an app's.
    private let quota: ConnectionQuota

    /// - Throws: the fault of the key file.
    init(_ scenario: Scenario, _ table: PublicationTable, _ plan: ProbePlan, _ companions: Companions) throws {
        self.scenario = scenario
        self.table = table
        self.plan = plan
        // A shard's share is right to some per cent; the slots of those who leave are given out again.
        let subscribers = scenario.subscribers.count + plan.followsAt.count
        slotsMax = subscribers / scenario.shards + subscribers / (8 * scenario.shards) + 1024
        remains = Locked([])
        marks = Locked(nil)
        quota = ConnectionQuota(pools: scenario.shards)
        if case .discard = scenario.transport {
            server = nil
        } else {
            let endpoint = Endpoint(
                host: companions.host, port: UInt16(companions.port), caFile: companions.caFile, serverName: "localhost"
            )
            // One for all shards: a service answers several on one connection with an error.
            let credentials = try ProviderToken(
                keyFile: companions.keyFile, keyID: Companions.keyID, teamID: Companions.teamID)
            server = (endpoint, credentials)
        }
    }

    func pool(_ loop: Loop, _ probe: Probe, _ context: TransportContext) throws -> ConnectionPool? {
        guard let server else { return nil }
        var connections: Int?
        if case .simulator(_, _, let wanted) = scenario.transport { connections = wanted }
        var configuration = PoolConfiguration(
            endpoint: server.endpoint, bundleID: Companions.bundleID, connections: connections)
        configuration.quota = quota
        return try ConnectionPool(
            loop: loop, source: probe, credentials: server.credentials, configuration: configuration,
            clock: context.clock, proof: context.proof, onReport: context.report)
    }
}
