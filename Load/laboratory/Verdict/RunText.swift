/// A run's result as text for a terminal: the verdict first.
package struct RunText {
    private let scenario: ScenarioSummary
    private let run: LoadRun

    package init(_ scenario: ScenarioSummary, _ run: LoadRun) {
        self.scenario = scenario
        self.run = run
    }

    package var lines: [String] {
        var lines = ["\(scenario.name): \(run.verdict.passes ? "passed" : "FAILED")"]
        lines += run.verdict.faults.map { "  \($0)" }
        lines += run.verdict.thresholds.map { "  \($0.sentence)" }
        lines.append("")
        lines.append("question   \(scenario.question)")
        lines.append("good       \(scenario.good)")
        lines.append(row("", ["count", "p50", "p90", "p99", "p99.9", "p99.99", "max", "of owed"]))
        for latency in run.latencies where ["event", "goal", "follow", "all"].contains(latency.series) {
            lines.append(self.line(latency))
        }
        lines += costs
        lines.append("funnel     " + list(run.funnel))
        lines.append("answers    " + list(run.answers))
        if !run.suppressed.isEmpty { lines.append("not sent   " + list(run.suppressed)) }
        lines.append(
            "threads    "
                + run.threads.prefix(6).map { "\($0.name) \($0.cpuSeconds.shortened) s" }.joined(separator: ", "))
        lines += run.notes.map { "note       \($0)" }
        return lines
    }

    private func figure(_ name: String) -> Double { run.figures[name] ?? 0 }

    private var costs: [String] {
        let push = figure("cpu.per.push") * 1e6
        let late = figure("lateness.p99") * 1e3
        return [
            "pushes     \(Int(figure("pushes.accepted")).spaced) accepted in \(run.seconds.shortened) s, "
                + "\(Int(figure("pushes.per.second.max")).spaced) in the best second, \(Int(figure("pushes.missing")).spaced) missing",
            "processor  \(push.shortened) us a push; longest turn \((figure("turn.core.max") * 1e3).shortened) ms of the core, "
                + "\((figure("turn.shard.max") * 1e3).shortened) ms of a shard",
            "memory     \(Int(figure("memory.peak") / 1e6).spaced) MB at the peak, growth "
                + "\((figure("growth.memory") * 100).shortened) %",
            "generator  \(late.shortened) ms late at p99, \((figure("lateness.max") * 1e3).shortened) ms at most; the engine was full for "
                + "\((figure("engine.full") * 100).shortened) % of the time",
        ]
    }

    private func line(_ latency: Latency) -> String {
        let (name, histogram) = ("\(latency.series) \(latency.stage)", latency.histogram)
        let times = [0.5, 0.9, 0.99, 0.999, 0.9999, 1].map { histogram.quantile($0)?.asTime ?? "–" }
        return row(name, [Int(histogram.count).spaced] + times + (latency.shareOfOwed.map { [$0] } ?? []))
    }

    private func row(_ name: String, _ cells: [String]) -> String {
        let padded = name + String(repeating: " ", count: max(1, 18 - name.count))
        return padded + cells.map { String(repeating: " ", count: max(1, 11 - $0.count)) + $0 }.joined()
    }

    private func list(_ counts: [Count]) -> String {
        counts.map { "\($0.name) \($0.count.spaced)" }.joined(separator: ", ")
    }
}

extension Int {
    /// The number with commas between thousands.
    package var spaced: String {
        let digits = String(magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (self < 0 ? "-" : "") + text
    }
}

extension Int64 {
    /// Microseconds as a time for people.
    package var asTime: String {
        if self < 1000 { return "\(self) us" }
        return self < 1_000_000 ? "\((Double(self) / 1e3).shortened) ms" : "\((Double(self) / 1e6).shortened) s"
    }
}

extension Latency {
    /// The share that the distribution has of what was owed, for people; `nil` if nothing tells it.
    package var shareOfOwed: String? {
        guard let owed, owed > 0 else { return nil }
        return (Double(histogram.count) / Double(owed)).asShare
    }
}
