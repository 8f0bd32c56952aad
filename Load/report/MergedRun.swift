package import Laboratory

extension LoadRun {
    /// One run of several that ran at the same time, each an engine with its own simulators: the load of one scenario divided over ports or
    /// hosts.
    ///
    /// Histograms are merged and counts added; a percentile is that of all values and never an average. The verdict passes if all do. A
    /// figure that cannot be told from the parts is left out.
    ///
    /// - Parameter thresholds: judged by the merged figures; `nil`: each engine is judged by its own.
    /// - Returns: `nil` without runs.
    package init?(simultaneous runs: [LoadRun], of whole: [Threshold]? = nil) {
        guard let first = runs.first else { return nil }
        guard runs.count > 1 else {
            self = first
            return
        }
        var thresholds: [Verdict.Outcome] = []
        for (index, run) in runs.enumerated() {
            thresholds += run.verdict.thresholds.map { outcome in
                var outcome = outcome
                outcome.sentence = "engine \(index + 1): \(outcome.sentence)"
                return outcome
            }
        }
        let faults = runs.enumerated().flatMap { index, run in run.verdict.faults.map { "engine \(index + 1): \($0)" } }
        self.init(
            verdict: Verdict(faults: faults, thresholds: thresholds),
            seconds: runs.reduce(first.seconds) { max($0, $1.seconds) })
        startedAt = runs.compactMap(\.startedAt).min()
        latencies = runs.map(\.latencies).merged()
        intervals = LoadRun.sideBySide(runs.map(\.intervals))
        mergeGoals(runs)
        funnel = LoadRun.sum(runs.map(\.funnel)) { $0.hasPrefix("pushes") }
        answers = LoadRun.sum(runs.map(\.answers))
        suppressed = LoadRun.sum(runs.map(\.suppressed))
        threads = runs.enumerated().flatMap { index, run in
            run.threads.map { ThreadCost(name: "\(index + 1): \($0.name)", cpuSeconds: $0.cpuSeconds) }
        }
        figures = mergedFigures(runs)
        if let whole {
            verdict = Verdict(faults: faults, thresholds: whole.map { $0.judge(figures) })
        }
        notes = runs.flatMap(\.notes).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Goals of one topic and planned moment are one goal: its first push is the first of all engines, its last one the last.
    ///
    /// The stages that end with one push of a publication follow from the goals, as far as all are there; for other series nothing tells
    /// which of the engines' publications are the same.
    private mutating func mergeGoals(_ runs: [LoadRun]) {
        for goal in runs.flatMap(\.goals) {
            if let index = goals.firstIndex(where: { $0.topic == goal.topic && abs($0.planned - goal.planned) < 1e-6 })
            {
                goals[index].merge(goal)
            } else {
                goals.append(goal)
            }
        }
        goals = Array(goals.sorted { $0.planned < $1.planned }.prefix(Goal.goalsMax))
        let firsts = Latency(series: "goal", stage: "first", seconds: goals.map(\.first))
        let lasts = Latency(series: "goal", stage: "last", seconds: goals.map(\.last))
        // A goal that some activity lacked has no last one.
        let isWhole = runs.allSatisfy { run in
            (run.figures["goals.unfinished"] ?? 0) == 0
                && run.latencies.allSatisfy {
                    $0.series != "goal" || $0.stage != "last" || $0.histogram.count <= run.goals.count
                }
        }
        latencies.removeAll { ["first", "last"].contains($0.stage) }
        if isWhole { latencies += [firsts, lasts].compactMap { $0 } }
    }

    /// Figures that are sums over engines; those of histograms and intervals are computed again. Each engine decides all events.
    private static let added = [
        "pushes.accepted", "pushes.sent", "pushes.missing", "pushes.dead", "pushes.held", "pushes.throttled",
        "pushes.failed",
        "pushes.uncertain", "pushes.notProcessed", "pushes.conserved", "pushes.untracked", "activities",
        "arrivals.missing", "connections", "connections.opened", "cpu.core", "cpu.shards", "cpu.generator",
        "cpu.process", "cpu.probes", "pushes.repeated", "pushes.ends", "pushes.interrupted", "cpu.apns-simulator",
        "cpu.apns-distance",
        "bytes.body", "bytes.state", "memory.resident",
    ]
    private static let greatest = [
        "events", "events.per.second", "updates", "goals", "goals.missing", "goals.unfinished", "growth.memory",
        "growth.threads",
        "growth.descriptors", "connections.max", "turn.core.max",
        "turn.shard.max", "rings.commands.max", "rings.arrivals.max", "engine.full", "lateness.p50", "lateness.p90",
        "lateness.p99", "lateness.p999", "lateness.p9999", "lateness.max", "run.whole", "restart.first",
    ]

    private func mergedFigures(_ runs: [LoadRun]) -> [String: Double] {
        var figures: [String: Double] = [:]
        func values(_ name: String) -> [Double] { runs.compactMap { $0.figures[name] } }
        for name in LoadRun.added where !values(name).isEmpty { figures[name] = values(name).reduce(0, +) }
        for name in LoadRun.greatest { figures[name] = values(name).max() }
        for latency in latencies {
            figures.merge(latency.figures) { $1 }
        }
        // The last of all is the last of some engine's.
        for name in Set(runs.flatMap { $0.figures.keys }) where name.hasSuffix(".last.max") && figures[name] == nil {
            figures[name] = values(name).max()
        }
        if !intervals.isEmpty {
            figures["memory.peak"] = Double(intervals.map(\.residentBytes).max() ?? 0)
            figures["pushes.per.second.max"] = Double(intervals.map(\.accepted).max() ?? 0)
        }
        if let core = figures["cpu.core"], let shards = figures["cpu.shards"], let sent = figures["pushes.sent"],
            sent > 0
        {
            figures["cpu.per.push"] = (core + shards) / sent
            figures["cpu.per.push.shards"] = shards / sent
            figures["bytes.per.push"] = (figures["bytes.body"] ?? figures["bytes.state"]).map { $0 / sent }
        }
        if let accepted = figures["pushes.accepted"], seconds > 0 { figures["pushes.per.second"] = accepted / seconds }
        if let resident = figures["memory.resident"], let activities = figures["activities"], activities > 0 {
            figures["memory.per.activity"] = resident / activities
        }
        return figures
    }

    /// - Parameter isAdded: `false` for counts of which each engine has the whole.
    private static func sum(_ lists: [[Count]], isAdded: (String) -> Bool = { _ in true }) -> [Count] {
        lists.joined().reduce(into: []) { sums, count in
            if let index = sums.firstIndex(where: { $0.name == count.name }) {
                sums[index].count =
                    isAdded(count.name) ? sums[index].count + count.count : max(sums[index].count, count.count)
            } else {
                sums.append(count)
            }
        }
    }

    /// Intervals second by second: what engines have, added; what people wait for, the greatest.
    private static func sideBySide(_ lists: [[Interval]]) -> [Interval] {
        (0..<(lists.map(\.count).max() ?? 0)).map { index in
            let parts = lists.compactMap { $0.indices.contains(index) ? $0[index] : nil }
            var whole = Interval(second: parts.map(\.second).max() ?? 0)
            whole.bytes = parts.compactMap(\.bytes).reduce(nil) { ($0 ?? 0) + $1 }
            whole.answers = sum(parts.compactMap(\.answers))
            whole.suppressed = sum(parts.compactMap(\.suppressed))
            whole.threadCosts = parts.enumerated().flatMap { index, part in
                (part.threadCosts ?? []).map { ThreadCost(name: "\(index + 1): \($0.name)", cpuSeconds: $0.cpuSeconds) }
            }
            for part in parts {
                whole.events = max(whole.events, part.events)
                whole.sent += part.sent
                whole.accepted += part.accepted
                whole.owed += part.owed
                whole.latency.merge(part.latency)
                whole.goalLatency.merge(part.goalLatency)
                whole.oldestUndelivered = max(whole.oldestUndelivered, part.oldestUndelivered)
                whole.longestTurnCore = max(whole.longestTurnCore, part.longestTurnCore)
                whole.longestTurnShard = max(whole.longestTurnShard, part.longestTurnShard)
                whole.residentBytes += part.residentBytes
                whole.cpuSeconds += part.cpuSeconds
                whole.commandsWaiting += part.commandsWaiting
                whole.arrivalsWaiting += part.arrivalsWaiting
                whole.connections += part.connections
                whole.threads += part.threads
                whole.descriptors += part.descriptors
            }
            let latencies = parts.compactMap(\.latencies)
            if !latencies.isEmpty { whole.latencies = latencies.merged() }
            // An engine's first and last push of a publication need not be those of all.
            whole.latencies?.removeAll { ["first", "last"].contains($0.stage) }
            return whole
        }
    }
}

extension Goal {
    /// Adds another engine's part of the goal. A part that was not measured to its end leaves the whole without one.
    fileprivate mutating func merge(_ other: Goal) {
        audience += other.audience
        followers = followers.flatMap { mine in other.followers.map { mine + $0 } }
        owed = owed.flatMap { mine in other.owed.map { mine + $0 } }
        first = [first, other.first].compactMap { $0 }.min()
        last = last.flatMap { mine in other.last.map { max(mine, $0) } }
        spread.merge(other.spread)
    }
}

extension Latency {
    /// - Returns: `nil` if no goal has the moment.
    fileprivate init?(series: String, stage: String, seconds: [Double?]) {
        var histogram = LatencyHistogram()
        for time in seconds.compactMap({ $0 }) { histogram.record(Int64((time * 1e6).rounded())) }
        guard histogram.count > 0 else { return nil }
        self.init(series: series, stage: stage, histogram: histogram)
    }
}

extension [[Latency]] {
    /// Distributions of all values of a series and stage.
    fileprivate func merged() -> [Latency] {
        joined().reduce(into: []) { merged, latency in
            if let index = merged.firstIndex(where: { ($0.series, $0.stage) == (latency.series, latency.stage) }) {
                merged[index].histogram.merge(latency.histogram)
                merged[index].owed = [merged[index].owed, latency.owed].compactMap { $0 }.reduce(nil) { ($0 ?? 0) + $1 }
            } else {
                merged.append(latency)
            }
        }
    }
}
