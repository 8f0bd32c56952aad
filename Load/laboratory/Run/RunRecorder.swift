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
    struct Look {
        var now: Int64
        var events: Int
        var counts: ShardCounts
        var freshness: FreshnessReport
        var commandsWaiting: Int
        var arrivalsWaiting: Int
        /// Updates and alerts of the decisions that were not sent, so far.
        var suppressed: [Count] = []
    }

    /// Counts at the end of the interval before, from which the next one's begin.
    private struct Counted {
        var events = 0
        var answers: [Count] = []
        var suppressed: [Count] = []
        /// Processor seconds.
        var threads: [String: Double] = [:]

        init() {}

        init(_ look: Look, threads: [String: Double]) {
            events = look.events
            answers = look.counts.pushes.answers
            suppressed = look.suppressed + look.counts.alerts.notSent
            self.threads = threads
        }
    }

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
    private let programs: Companions
    /// Newest look at the engine that runs.
    private var latest: Look?
    private var lookBefore: (accepted: Int, at: Int64) = (0, 0)
    private var perSecond = 0.0
    private var longestTurn: Int64 = 0
    private var counted = Counted()
    /// Programs beside that had ended before the run.
    private(set) var lostPrograms: [String] = []
    /// Greatest of the looks since the last second was over.
    private var oldest: Int64 = 0
    /// Sentences that say what a program beside counted otherwise than the engine did.
    private(set) var contradictions: [String] = []
    /// Pushes that were owed or refused when the drain was over.
    private(set) var missing = 0
    private(set) var commandsMax = 0
    /// Pushes, alerts and processor seconds of engines that have ended.
    private var ended: (counts: ShardCounts, threads: [String: Double]) = (ShardCounts(), [:])
    /// The end of an engine after which another one went on: its monotonic moment, and the activities that lacked a publication.
    private(set) var restart: (at: Int64, lacking: Int)?
    var isInterrupted = false
    /// Is `true` if the last pushes did not arrive within the drain.
    var isCutOff = false
    private(set) var arrivalsMax = 0

    init(_ scenario: Scenario, _ shelf: ReadingShelf, _ programs: Companions) {
        self.scenario = scenario
        self.shelf = shelf
        self.programs = programs
    }

    func begin(at measuredFrom: Int64) { self.measuredFrom = measuredFrom }

    func noteTurn(_ nanoseconds: Int64) { longestTurn = max(longestTurn, nanoseconds) }

    /// Notes the end of an engine after which another one goes on, so that its counts and its shards' time are part of the run.
    ///
    /// - Parameters:
    ///   - moment: monotonic nanoseconds.
    ///   - counts: the engine's last ones.
    ///   - threads: processor seconds of all threads, just before the shards' ended.
    func noteRestart(at moment: Int64, _ counts: ShardCounts, threads: [String: Double]) {
        restart = (moment, counts.owed)
        let total = total(counts)
        (ended.counts.pushes, ended.counts.alerts) = (total.pushes, total.alerts)
        ended.counts.transport.connectionsOpened = total.transport.connectionsOpened
        for (name, seconds) in threads where name.hasPrefix(ThreadCost.shardName) {
            ended.threads[name, default: 0] += seconds
        }
    }

    /// Returns the newest engine's counts together with those of the engines before.
    private func total(_ counts: ShardCounts) -> ShardCounts { counts + ended.counts }

    private func threads() -> [String: Double] {
        ProcessReadings.threads().merging(ended.threads, uniquingKeysWith: +)
    }

    func look(_ ofEngine: Look) {
        latest = ofEngine
        var look = ofEngine
        look.counts = total(look.counts)
        if look.now - lookBefore.at >= 1_000_000_000 {
            let accepted = look.counts.pushes.accepted
            perSecond = Double(accepted - lookBefore.accepted) * 1e9 / Double(look.now - lookBefore.at)
            lookBefore = (accepted, look.now)
        }
        guard look.now >= measuredFrom else { return }
        oldest = max(oldest, look.freshness.oldestUndelivered.wholeNanoseconds)
        commandsMax = max(commandsMax, look.commandsWaiting)
        arrivalsMax = max(arrivalsMax, look.arrivalsWaiting)
        if before == nil {
            before = (look.counts, reading())
            counted = Counted(look, threads: before?.reading.threads ?? [:])
            longestTurn = 0
            oldest = look.freshness.oldestUndelivered.wholeNanoseconds
        }
        let elapsed = look.now - measuredFrom
        appendSeconds(look, through: Int(elapsed / 1_000_000_000))
    }

    /// Appends the seconds that are over. After a stall several are: what was counted meanwhile belongs to the last of them, and each
    /// keeps its own number, as the probes' seconds have theirs.
    private func appendSeconds(_ look: Look, through last: Int) {
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

    private func append(_ look: Look, seconds: Double) {
        var interval = Interval(second: seconds)
        let now = Counted(look, threads: threads())
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
        interval.oldestUndelivered = Double(oldest) / 1e9
        oldest = look.freshness.oldestUndelivered.wholeNanoseconds
        interval.owed = look.counts.owed
        interval.longestTurnCore = Double(longestTurn) / 1e9
        longestTurn = 0
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
        let companions = programs.all.map { ($0.name, $0.cpuSeconds) }
        return Reading(
            at: Clock.monotonicNanoseconds(), threads: threads(),
            companions: Dictionary(companions, uniquingKeysWith: +))
    }

    /// Notes the end of the drain, with the second that was not over.
    func end(_ look: Look) {
        var look = look
        // A shard that reports quiet tells its counts without its transport.
        if let latest, look.counts.transport.connectionsOpened == 0 {
            look.counts.transport = latest.counts.transport
        }
        self.look(look)
        after = (total(look.counts), reading())
        missing = look.counts.owed + look.counts.refused
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
    func finish() {
        lostPrograms = programs.all.filter { !$0.isRunning }.map(\.name)
        for program in programs.all {
            let accepted = program.stop()["accepted"].flatMap { program.name == Companion.simulator ? Int($0) : nil }
            // Since its start, as the engine has counted. Answers that never came back make the simulator's count the greater one.
            guard let accepted, let counted = after?.counts.pushes.accepted, counted > accepted else { continue }
            contradictions.append(
                "the engine counted \(counted) accepted pushes, and \(program.name) accepted \(accepted)")
        }
    }

    func progress(at now: Int64, start: Int64) -> LoadProgress {
        var progress = LoadProgress()
        progress.duration = Double(scenario.duration.wholeNanoseconds) / 1e9
        if measuredFrom < .max { progress.seconds = Double(now - measuredFrom) / 1e9 }
        guard let latest else { return progress }
        let counts = total(latest.counts)
        progress.accepted = counts.pushes.accepted
        progress.acceptedPerSecond = perSecond
        progress.owed = counts.owed
        progress.oldestUndelivered = Double(latest.freshness.oldestUndelivered.wholeNanoseconds) / 1e9
        progress.latency = shelf.last?.stages.all(.reached) ?? LatencyHistogram()
        progress.answers = counts.pushes.answers
        progress.residentBytes = intervals.last?.residentBytes ?? 0
        return progress
    }
}

extension ShardCounts.Alerts {
    /// Alerts that were not sent, by reason.
    var notSent: [Count] {
        [
            Count("alerts superseded", superseded), Count("alerts revoked", revoked), Count("alerts stale", stale),
            Count("alerts silenced", silenced), Count("alerts limited", limited),
        ].filter { $0.count > 0 }
    }
}

extension ShardCounts.Pushes {
    /// Answers by class, those that occurred.
    var answers: [Count] {
        [
            Count("accepted", accepted), Count("dead", dead), Count("held", held), Count("throttled", throttled),
            Count("failed", failed), Count("uncertain", uncertain), Count("notProcessed", notProcessed),
        ].filter { $0.count > 0 }
    }
}
