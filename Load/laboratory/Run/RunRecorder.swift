import FanfareFanOut
import FanfareLoop
import Foundation

/// A look at a run while it goes on.
package struct LoadProgress: Sendable {
    /// Seconds from the start of the measurement; negative before it, and `nil` while the run is prepared.
    package var seconds: Double?
    package var duration = 0.0
    package var accepted = 0
    package var acceptedPerSecond = 0.0
    package var owed = 0
    /// Age in seconds of the oldest publication that an activity lacks.
    package var oldestUndelivered = 0.0
    /// The newest whole second's times from plan to accepted push.
    package var latency = LatencyHistogram()
    package var answers: [Count] = []
    package var residentBytes: Int64 = 0

    package init() {}
}

/// Keeps what the core's thread sees of a run: figures of each second, and the processor times at both ends. Core's thread only.
final class RunRecorder {
    /// Processor seconds of all threads, and of the programs beside, with the moment of reading.
    struct Reading {
        var at: Int64
        var threads: [String: Double]
        var companions: [String: Double]
    }

    private let scenario: Scenario
    private let shelf: ReadingShelf
    private var measuredFrom = Int64.max
    private(set) var intervals: [Interval] = []
    private(set) var before: (counts: ShardCounts, reading: Reading)?
    private(set) var after: (counts: ShardCounts, reading: Reading)?
    private(set) var programs: ProgramsBeside
    /// Newest look at the engine that runs.
    private var latest: EngineLook?
    private var rate = AcceptanceRate()
    private(set) var extremes = LookExtremes()
    private var counted = IntervalCounts()
    /// Pushes that were owed or refused when the drain was over.
    private(set) var missing = 0
    private(set) var ended = EndedEngines()
    var isInterrupted = false
    /// Is `true` if the last pushes did not arrive within the drain.
    var isCutOff = false

    init(_ scenario: Scenario, _ shelf: ReadingShelf, _ programs: Companions) {
        self.scenario = scenario
        self.shelf = shelf
        self.programs = ProgramsBeside(programs)
    }

    func begin(at measuredFrom: Int64) { self.measuredFrom = measuredFrom }

    func noteTurn(_ nanoseconds: Int64) { extremes.noteTurn(nanoseconds) }

    /// Notes the end of an engine after which another one goes on, so that its counts and its shards' time are part of the run.
    ///
    /// - Parameters:
    ///   - moment: monotonic nanoseconds.
    ///   - counts: the engine's last ones.
    ///   - threads: processor seconds of all threads, just before the shards' ended.
    func noteRestart(at moment: Int64, _ counts: ShardCounts, threads: [String: Double]) {
        ended.note(counts, threads: threads, at: moment)
    }

    /// Returns the newest engine's counts together with those of the engines before.
    private func total(_ counts: ShardCounts) -> ShardCounts { counts + ended.counts }

    private func threads() -> [String: Double] {
        ProcessReadings.threads().merging(ended.threads, uniquingKeysWith: +)
    }

    func look(_ ofEngine: EngineLook) {
        latest = ofEngine
        var look = ofEngine
        look.counts = total(look.counts)
        rate.note(look.counts.pushes.accepted, at: look.now)
        guard look.now >= measuredFrom else { return }
        extremes.note(look)
        if before == nil {
            before = (look.counts, reading())
            counted = IntervalCounts(look, threads: before?.reading.threads ?? [:])
            extremes.beginSecond(look)
        }
        let elapsed = look.now - measuredFrom
        appendSeconds(look, through: Int(elapsed / 1_000_000_000))
    }

    /// Appends the seconds that are over. After a stall several are: what was counted meanwhile belongs to the last of them, and each
    /// keeps its own number, as the probes' seconds have theirs.
    private func appendSeconds(_ look: EngineLook, through last: Int) {
        guard intervals.count < last else { return }
        let first = intervals.count + 1
        append(look, seconds: Double(last))
        guard first < last, let whole = intervals.popLast() else { return }
        for second in first..<last {
            var interval = whole
            interval.second = Double(second)
            interval.omitCounts()
            intervals.append(interval)
        }
        intervals.append(whole)
    }

    private func append(_ look: EngineLook, seconds: Double) {
        var interval = Interval(second: seconds)
        let now = IntervalCounts(look, threads: threads())
        let memory = ProcessReadings.memory()
        interval.events = now.events - counted.events
        interval.bytes = 0
        interval.answers = now.answers.since(counted.answers)
        interval.suppressed = now.suppressed.since(counted.suppressed)
        // A thread of the laboratory that has ended takes its time along.
        let costs = now.threads.map { ThreadCost(name: $0, cpuSeconds: $1 - counted.threads[$0, default: 0]) }
        interval.threadCosts = costs.filter { $0.cpuSeconds > 0 }.sorted { $0.name < $1.name }
        interval.cpuSeconds = interval.threadCosts?.reduce(0) { $0 + $1.cpuSeconds } ?? 0
        counted = now
        interval.oldestUndelivered = Double(extremes.oldest) / 1e9
        interval.owed = look.counts.owed
        interval.longestTurnCore = Double(extremes.longestTurn) / 1e9
        extremes.beginSecond(look)
        // The seconds so far are the laboratory's own growth.
        interval.residentBytes = max(0, memory.residentBytes - Int64(shelf.bytes))
        interval.threads = memory.threads
        interval.descriptors = memory.descriptors
        interval.commandsWaiting = look.commandsWaiting
        interval.arrivalsWaiting = look.arrivalsWaiting
        interval.connections = look.counts.transport.connections
        intervals.append(interval)
    }

    private func reading() -> Reading {
        let companions = programs.cpuSeconds
        return Reading(at: Clock.monotonicNanoseconds(), threads: threads(), companions: companions)
    }

    /// Notes the end of the drain, with the second that was not over.
    func end(_ look: EngineLook) {
        var look = look
        // A shard that reports quiet tells its counts without its transport.
        if let latest, look.counts.transport.connectionsOpened == 0 {
            look.counts.transport = latest.counts.transport
        }
        self.look(look)
        after = (total(look.counts), reading())
        missing = look.counts.owed + look.counts.refusedStates
        let elapsed = look.now - measuredFrom
        if before != nil, elapsed > Int64(intervals.count) * 1_000_000_000 {
            append(look, seconds: Double(elapsed) / 1e9)
        }
    }

    /// Takes the shards' last counts, which the core learns when they stop. The connections are closed by then.
    func complete(_ counts: ShardCounts) {
        let transport = after?.counts.transport
        after?.counts = total(counts)
        if let transport { after?.counts.transport = transport }
    }

    /// Processor seconds of the programs beside, in the measurement.
    var companions: [String: Double] {
        let earlier = before?.reading.companions ?? [:]
        return (after?.reading.companions ?? [:]).reduce(into: [:]) {
            // A program that has ended has no time any more.
            $0[$1.key] = max(0, $1.value - earlier[$1.key, default: 0])
        }
    }

    /// Ends the programs beside.
    func finish() { programs.finish(accepted: after?.counts.pushes.accepted) }

    func progress(at now: Int64, start: Int64) -> LoadProgress {
        var progress = LoadProgress()
        progress.duration = Double(scenario.duration.wholeNanoseconds) / 1e9
        if measuredFrom < .max { progress.seconds = Double(now - measuredFrom) / 1e9 }
        guard let latest else { return progress }
        let counts = total(latest.counts)
        progress.accepted = counts.pushes.accepted
        progress.acceptedPerSecond = rate.perSecond
        progress.owed = counts.owed
        progress.oldestUndelivered = Double(latest.freshness.oldestUndelivered.wholeNanoseconds) / 1e9
        progress.latency = shelf.last?.stages.all(.reached) ?? LatencyHistogram()
        progress.answers = counts.pushes.answers
        progress.residentBytes = intervals.last?.residentBytes ?? 0
        return progress
    }
}
