import FanfareAPNs
import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel
import Foundation

/// Makes a run's result of everything that was measured.
struct RunFigures {
    let scenario: Scenario
    let schedule: Schedule
    let meter: DecisionMeter
    let recorder: RunRecorder
    let generator: Generator.Report
    let population: Population
    /// Initial followers of each topic.
    let followers: [TopicID: Int]
    let reading: ProbeReading
    let remains: [ProbedTransport.Remains]
    /// Monotonic nanoseconds of the schedule's start.
    let start: Int64
    /// Events of the measurement that were decided, and those decided before it was over.
    let events: (decided: Int, inTime: Int)
    /// The probes' seconds.
    let seconds: [ReadingShelf.Second]
    /// Nanoseconds of the whole run.
    let whole: Int64

    private var measuredFrom: Int64 { start + schedule.measured.lowerBound }

    func result() -> LoadRun {
        let owed = Audiences.owed(schedule, population, meter, start: start)
        let latencies = latencies(reading, owed: owed.series)
        let intervals = mergedIntervals(reading)
        var figures: [String: Double] = [:]
        for latency in latencies {
            figures.merge(latency.figures) { $1 }
        }
        figures.merge(generator.lateness.figures("lateness")) { $1 }
        let pushes = pushDelta()
        addThroughput(pushes, reading, to: &figures)
        addCosts(pushes, reading, to: &figures)
        addGrowth(intervals, to: &figures)
        let goals = goals(reading, owed: owed.goals)
        figures["run.whole"] = Double(whole) / 1e9
        addRestart(to: &figures)
        figures["goals.unfinished"] = Double(meter.goals.unfinished)
        var run = LoadRun(
            verdict: Verdict(faults: faults(reading), thresholds: scenario.thresholds.map { $0.judge(figures) }),
            seconds: length)
        run.startedAt = RunFigures.moment(of: measuredFrom)
        run.figures = figures
        run.latencies = latencies
        run.intervals = intervals
        run.goals = goals
        run.funnel = funnel(pushes)
        run.answers = answers(pushes)
        run.suppressed = suppressed()
        run.threads = threads()
        run.notes = notes(reading)
        return run
    }

    /// The moment by the wall clock as it is now.
    private static func moment(of monotonic: Int64) -> String {
        let ago = Double(Clock.monotonicNanoseconds() - monotonic) / 1e9
        return ISO8601DateFormatter.withFraction.string(from: Date(timeIntervalSinceNow: -ago))
    }

    // MARK: Latencies

    private var kinds: [String] { meter.kinds.map { "\($0)" } }

    private func latencies(_ reading: ProbeReading, owed: [String: Int]) -> [Latency] {
        var stages = meter.stages
        stages.merge(reading.stages)
        for (serial, moment) in reading.firsts.enumerated() where moment > 0 {
            let row = meter.table[UInt64(serial)]
            stages.record(.first, row, nanoseconds: moment - row.planned)
        }
        var all = stages.latencies(kinds: kinds)
        if reading.follow.count > 0 {
            all.append(Latency(series: Series.follow.name, stage: Stage.accepted.name, histogram: reading.follow))
        }
        for (series, count) in owed.sorted(by: { $0.key < $1.key }) {
            for stage in [Stage.accepted, .reached] where stage == .accepted || series != Series.follow.name {
                let place = all.firstIndex { $0.series == series && $0.stage == stage.name }
                // Also a series of which nothing arrived has its share.
                if place == nil {
                    all.append(Latency(series: series, stage: stage.name, histogram: LatencyHistogram()))
                }
                all[place ?? all.endIndex - 1].owed = count
            }
        }
        if meter.taken.count > 0 { all.append(Latency(series: "event", stage: "taken", histogram: meter.taken)) }
        if generator.lateness.count > 0 {
            all.append(Latency(series: "generator", stage: "lateness", histogram: generator.lateness))
        }
        return all
    }

    /// A publication's way to a stage, which ended in this second of the measurement.
    private struct Passage {
        var second: Int
        var stage: Stage
        var serial: UInt64
        var moment: Int64
    }

    /// Passages of all measured publications in the order of their seconds: so one second's histograms are made at a time.
    private func passages(_ reading: ProbeReading) -> [Passage] {
        var passages: [Passage] = []
        for serial in 0...min(meter.newest, UInt64(meter.table.capacity)) {
            let row = meter.table[serial]
            guard row.isMeasured else { continue }
            let first = Int(serial) < reading.firsts.count ? reading.firsts[Int(serial)] : 0
            for (stage, moment) in [
                (Stage.decided, row.decided), (.first, first), (.last, meter.table.last(of: serial) ?? 0),
            ] where moment > 0 {
                // A passage before the start by the clocks' order belongs to the first second.
                let second = max(0, Int((moment - measuredFrom) / 1_000_000_000))
                passages.append(Passage(second: second, stage: stage, serial: serial, moment: moment))
            }
        }
        return passages.sorted { ($0.second, $0.serial) < ($1.second, $1.serial) }
    }

    private func goals(_ reading: ProbeReading, owed: [UInt8: Int]) -> [Goal] {
        meter.goals.tracked.enumerated().map { number, goal in
            let spread = reading.goals[number]
            let first = Int(goal.serial) < reading.firsts.count ? reading.firsts[Int(goal.serial)] : 0
            var whole = Goal(
                topic: goal.topic.rawValue, planned: Double(goal.planned - measuredFrom) / 1e9,
                audience: Int(spread.count), first: first > 0 ? Double(first - goal.planned) / 1e9 : nil,
                last: goal.last.map { Double($0 - goal.planned) / 1e9 }, spread: spread)
            whole.followers = followers[goal.topic]
            whole.owed = owed[UInt8(number + 1)]
            return whole
        }
    }

    // MARK: Throughput and cost

    private var length: Double {
        let end = recorder.after?.reading.at ?? measuredFrom
        return max(0, Double(end - measuredFrom) / 1e9)
    }

    private func pushDelta() -> [(name: String, count: Int)] {
        guard let before = recorder.before?.counts.pushes, let after = recorder.after?.counts.pushes else { return [] }
        return [
            ("sent", after.sent - before.sent), ("accepted", after.accepted - before.accepted),
            ("dead", after.dead - before.dead), ("held", after.held - before.held),
            ("throttled", after.throttled - before.throttled), ("failed", after.refused - before.refused),
            ("uncertain", after.uncertain - before.uncertain),
            ("notProcessed", after.notProcessed - before.notProcessed),
            ("conserved", after.downgradedToLowPriority - before.downgradedToLowPriority),
        ]
    }

    private func addThroughput(
        _ pushes: [(name: String, count: Int)], _ reading: ProbeReading, to figures: inout [String: Double]
    ) {
        for push in pushes { figures["pushes.\(push.name)"] = Double(push.count) }
        figures["pushes.missing"] = Double(recorder.missing)
        figures["pushes.untracked"] = Double(reading.untracked)
        figures["pushes.repeated"] = Double(reading.repeated)
        figures["pushes.ends"] = Double(reading.ends)
        figures["pushes.per.second"] = (figures["pushes.accepted"] ?? 0) / max(length, 1e-9)
        figures["pushes.per.second.max"] = Double(seconds.map(\.accepted).max() ?? 0)
        figures["events"] = Double(events.decided)
        figures["events.per.second"] = Double(events.inTime) / max(min(length, scenario.duration.inSeconds), 1e-9)
        figures["updates"] = Double(meter.counts.publications)
        figures["goals"] = Double(meter.stages[.goal, .decided].count)
        figures["goals.missing"] = Double(max(0, schedule.plannedGoals - meter.goals.taken))
        figures["arrivals.missing"] = Double(generator.left)
        figures["engine.full"] = generator.fullSeconds / max(length, 1e-9)
        figures["bytes.state"] = Double(reading.stateBytes)
        let body = remains.reduce(0) {
            $0 + Double(max(0, ($1.statistics.sentSize - $1.before.sentSize).bytes))
        }
        if body > 0 { figures["bytes.body"] = body }
        if let sent = figures["pushes.sent"], sent > 0 {
            figures["bytes.per.push"] = (body > 0 ? body : Double(reading.stateBytes)) / sent
        }
        figures["rings.commands.max"] = Double(recorder.extremes.commandsMax)
        figures["rings.arrivals.max"] = Double(recorder.extremes.arrivalsMax)
        figures["activities"] = Double(recorder.after?.counts.activities ?? 0)
        if let transport = recorder.after?.counts.transport, transport.connectionsOpened > 0 {
            figures["connections"] = Double(transport.connections)
            figures["connections.max"] = Double(recorder.intervals.map(\.connections).max() ?? transport.connections)
            figures["connections.opened"] = Double(transport.connectionsOpened)
        }
    }

    private func addRestart(to figures: inout [String: Double]) {
        guard let restart = recorder.ended.restart else { return }
        figures["pushes.interrupted"] = Double(restart.lacking)
        // The first engine's shards come first.
        let first = remains.dropFirst(scenario.shards).compactMap(\.probe.firstAccepted).min()
        figures["restart.first"] = first.map { Double($0 - restart.at) / 1e9 }
    }

    private func addCosts(
        _ pushes: [(name: String, count: Int)], _ reading: ProbeReading, to figures: inout [String: Double]
    ) {
        let threads = threads()
        func sum(_ isWanted: (String) -> Bool) -> Double {
            threads.filter { isWanted($0.name) }.reduce(0) { $0 + $1.cpuSeconds }
        }
        let shards = sum { $0.hasPrefix(ThreadCost.shardName) }
        figures["cpu.shards"] = shards
        figures["cpu.probes"] = Double(reading.own) / 1e9
        figures["cpu.generator"] = sum { $0 == "generator" }
        let simulators = Set(recorder.companions.keys)
        figures["cpu.core"] = sum { $0 == ThreadCost.coreName }
        figures["cpu.process"] = sum { !simulators.contains($0) }
        for name in simulators { figures["cpu.\(name)"] = recorder.companions[name] }
        let sent = Double(pushes.first { $0.name == "sent" }?.count ?? 0)
        if sent > 0 {
            figures["cpu.per.push"] = (shards + (figures["cpu.core"] ?? 0)) / sent
            figures["cpu.per.push.shards"] = shards / sent
        }
        for (name, share) in [("p10", 0.1), ("p50", 0.5)] {
            figures["cpu.per.push.\(name)"] = reading.costs.quantile(share).map { Double($0) / 1e10 }
        }
        // After the measurement the core publishes what the rules held back, of all topics in one turn.
        let measured = max(1, Int(scenario.duration.inSeconds))
        figures["turn.core.max"] = recorder.intervals.prefix(measured).map(\.longestTurnCore).max() ?? 0
        figures["turn.shard.max"] = Double(seconds.prefix(measured).map(\.longestTurn).max() ?? 0) / 1e9
    }

    /// Growth over the measurement: the median of its last fifth beside that of its first fifth.
    private func addGrowth(_ intervals: [Interval], to figures: inout [String: Double]) {
        let resident = intervals.map { Double($0.residentBytes) }
        figures["memory.resident"] = resident.last ?? 0
        figures["memory.peak"] = resident.max() ?? 0
        if let activities = figures["activities"], activities > 0 {
            figures["memory.per.activity"] = (resident.last ?? 0) / activities
        }
        // Before that nothing can be said of growth.
        guard intervals.count >= 5 else { return }
        figures["growth.memory"] = RunFigures.growth(resident.map { $0 - Double(ownBytes) })
        figures["growth.threads"] = RunFigures.growth(intervals.map { Double($0.threads) })
        figures["growth.descriptors"] = RunFigures.growth(RunFigures.descriptors(intervals))
    }

    /// Bytes of the laboratory's own tables, which do not grow. A share of them would hide as much growth of the engine.
    private var ownBytes: Int {
        meter.table.bytes + schedule.arrivals.count * MemoryLayout<Schedule.Arrival>.stride
            + remains.reduce(0) { $0 + $1.probe.ownBytes }
    }

    /// Open descriptors without those of connections: a pool opens as many as the load has needed lately and keeps them for half an hour.
    static func descriptors(_ intervals: [Interval]) -> [Double] {
        intervals.map { Double($0.descriptors - $0.connections) }
    }

    /// Relative growth from the median of the first fifth to that of the last fifth.
    static func growth(_ values: [Double]) -> Double {
        let part = max(1, values.count / 5)
        let (first, last) = (Array(values.prefix(part)).median ?? 0, Array(values.suffix(part)).median ?? 0)
        return first > 0 ? last / first - 1 : 0
    }

    private func threads() -> [ThreadCost] {
        let before = recorder.before?.reading.threads ?? [:]
        let after = recorder.after?.reading.threads ?? [:]
        // The generator's thread may have ended before the reading, and its own figure includes the warm-up.
        var seconds = after.map { ($0.key, max(0, $0.value - before[$0.key, default: 0])) }.filter {
            $0.0 != "generator"
        }
        seconds.append(("generator", generator.cpuSeconds))
        seconds += recorder.companions.map { ($0.key, $0.value) }
        return seconds.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map { ThreadCost(name: $0.0, cpuSeconds: $0.1) }
    }

    // MARK: Counts

    private func funnel(_ pushes: [(name: String, count: Int)]) -> [Count] {
        func pushed(_ name: String) -> Int { pushes.first { $0.name == name }?.count ?? 0 }
        let planned = schedule.arrivals.count { arrival in
            guard schedule.measured.contains(arrival.planned) else { return false }
            switch arrival.action {
            case .event, .recorded: return true
            case .follow, .unfollow, .rotate: return false
            }
        }
        return [
            Count("events planned", planned), Count("events decided", events.decided),
            Count("visible changes", meter.counts.visible),
            Count("updates published", meter.counts.publications), Count("alerts granted", meter.counts.alertsGranted),
            Count("pushes sent", pushed("sent")), Count("pushes accepted", pushed("accepted")),
        ]
    }

    private func answers(_ pushes: [(name: String, count: Int)]) -> [Count] {
        var counts = pushes.filter { !["sent", "conserved"].contains($0.name) && $0.count > 0 }.map {
            Count($0.name, $0.count)
        }
        var reasons: [String: Int] = [:]
        for remains in remains {
            for (reason, count) in remains.statistics.reasons {
                reasons["\(reason)", default: 0] += Int(count) - Int(remains.before.reasons[reason] ?? 0)
            }
        }
        counts += reasons.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { Count($0.key, $0.value) }
        return counts
    }

    private func suppressed() -> [Count] {
        let (before, after) = (recorder.before?.counts.alerts, recorder.after?.counts.alerts)
        return meter.suppressed + (after?.notSent ?? []).since(before?.notSent ?? [])
    }

    private func mergedIntervals(_ reading: ProbeReading) -> [Interval] {
        var intervals = recorder.intervals
        // The shards may have had answers after the last look.
        while let last = intervals.last, intervals.count < seconds.count {
            var next = last
            next.second = Double(intervals.count + 1)
            next.omitCounts()
            intervals.append(next)
        }
        var passages = passages(reading)[...]
        for index in intervals.indices {
            var stages = StageHistograms()
            if index < seconds.count {
                let second = seconds[index]
                intervals[index].sent = second.sent
                intervals[index].accepted = second.accepted
                intervals[index].bytes = second.bytes
                intervals[index].longestTurnShard = Double(second.longestTurn) / 1e9
                stages = second.stages.histograms
                intervals[index].latency = stages.all(.reached)
                intervals[index].goalLatency = stages[.goal, .reached]
            }
            // The last second has what came after it.
            while let passage = passages.first, passage.second <= index || index == intervals.count - 1 {
                let row = meter.table[passage.serial]
                stages.record(passage.stage, row, nanoseconds: passage.moment - row.planned)
                if passage.stage == .last {
                    // The publication that the last activity lacked until now had that age, whether or not a sample saw it.
                    let age = Double(passage.moment - row.decided) / 1e9
                    intervals[index].oldestUndelivered = max(intervals[index].oldestUndelivered, age)
                }
                passages.removeFirst()
            }
            intervals[index].latencies = stages.latencies(kinds: kinds)
            let follow = index < seconds.count ? seconds[index].follow.histogram : LatencyHistogram()
            if follow.count > 0 {
                intervals[index].latencies?.append(
                    Latency(series: Series.follow.name, stage: Stage.accepted.name, histogram: follow))
            }
        }
        return intervals
    }

    // MARK: Faults

    private func faults(_ reading: ProbeReading) -> [String] {
        RunFigures.faults(
            lateness: generator.lateness, limit: scenario.lateness, left: recorder.isInterrupted ? 0 : generator.left,
            planned: schedule.arrivals.count)
            + (recorder.isInterrupted ? [Verdict.interrupted] : [])
            + recorder.programs.lost.map { "\($0) had ended before the run did" }
            + (recorder.before == nil ? ["the run ended before its measurement began"] : [])
            + (reading.untracked > 0
                ? ["\(reading.untracked) pushes were not measured: there was no room for their slots"] : [])
            + (meter.newest > UInt64(meter.table.capacity)
                ? ["publications after the first \(meter.table.capacity) were not measured"] : [])
            + recorder.programs.contradictions
    }

    /// Faults that make a run's figures worthless.
    static func faults(lateness: LatencyHistogram, limit: Duration, left: Int, planned: Int) -> [String] {
        var faults: [String] = []
        let p99 = Double(lateness.quantile(0.99) ?? 0) / 1e6
        if p99 > limit.inSeconds {
            faults.append(
                "\(Verdict.generatorLate): of its arrivals 1 % left more than \((p99 * 1000).shortened) ms after their planned moment, "
                    + "and at most \(limit.milliseconds) ms are allowed; the load was not the planned one")
        }
        if left > 0 {
            // A generator that was in time has arrivals left because nobody took them.
            faults.append(
                faults.isEmpty
                    ? "\(Verdict.engineFull): it had no room for \(left) of \(planned) arrivals until the end"
                    : "\(Verdict.generatorLate): \(left) of \(planned) arrivals were never handed over")
        }
        return faults
    }

    private func notes(_ reading: ProbeReading) -> [String] {
        var notes: [String] = []
        if meter.goals.unfinished > 0 {
            notes.append(
                "\(meter.goals.unfinished) goals had not reached all of their activities at the end; goal.last counts each with its time "
                    + "until then, which is less than it takes")
        }
        if recorder.isCutOff {
            notes.append(
                "the wait for the last pushes was cut off after \(scenario.drain.inSeconds.shortened) s (drain); what had not arrived is "
                    + "in pushes.missing")
        }
        if reading.stages.all(.accepted).count + reading.follow.count == 0 {
            notes.append("no push of the measurement was accepted: there are no latencies to judge")
        }
        if scenario.transport.isSink {
            notes.append("a sink has no connections, and no bytes beside the content states")
        }
        return notes
    }
}

extension LoadTransport {
    fileprivate var isSink: Bool { if case .discard = self { true } else { false } }
}

extension Latency {
    /// Figures under `SERIES.STAGE.p50` and so on: percentiles in seconds, and the share that the distribution has of what was owed.
    package var figures: [String: Double] {
        let name = "\(series).\(stage)"
        var figures = histogram.figures(name)
        if let owed, owed > 0 {
            figures["\(name).owed"] = Double(owed)
            figures["\(name).share"] = Double(histogram.count) / Double(owed)
        }
        return figures
    }
}

extension LatencyHistogram {
    /// Percentiles in seconds under `name.p50` and so on; nothing for an empty histogram.
    package func figures(_ name: String) -> [String: Double] {
        guard count > 0 else { return [:] }
        var figures = ["\(name).count": Double(count), "\(name).max": Double(max) / 1e6]
        for (suffix, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("p9999", 0.9999)] {
            figures["\(name).\(suffix)"] = Double(quantile(share) ?? 0) / 1e6
        }
        return figures
    }
}

extension [Double] {
    /// `nil` without a value. Of an even number of values it is the mean of the two in the middle.
    package var median: Double? {
        let sorted = sorted()
        guard !sorted.isEmpty else { return nil }
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
