package import Laboratory

/// The plots of one run, each with its table.
package struct RunPlots {
    private let run: LoadRun

    package init(_ run: LoadRun) { self.run = run }

    /// In the order of the page; plots without data are left out.
    package var all: [Plot] { [latency, spread, throughput, age, memory, turns, funnel].compactMap { $0 } }

    // MARK: Latency by percentile

    /// Lines of the first plot if the run has them, by what people ask first.
    private static let usual = [
        ("goal", "reached"), ("goal", "last"), ("goal", "first"), ("all", "reached"), ("follow", "accepted"),
    ]
    private static let shares = [
        ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999), ("max", 1),
    ]

    private var latency: Plot? {
        let present = run.latencies.filter { $0.histogram.count > 0 }
        var chosen = RunPlots.usual.compactMap { name in present.first { ($0.series, $0.stage) == name } }
        // Where every push brings a goal, two lines would be one.
        if let first = chosen.first {
            chosen.removeAll { $0.series == "all" && $0.histogram == first.histogram && first.series != "all" }
        }
        if chosen.isEmpty { chosen = Array(present.prefix(Plot.seriesMax)) }
        guard !chosen.isEmpty else { return nil }
        let series = chosen.map {
            Plot.Series(name: "\($0.series), \($0.stage)", points: RunPlots.percentiles($0.histogram))
        }
        let points = series.flatMap(\.points)
        let most = points.map(\.x).max() ?? 10
        var ticks = [Plot.Tick(at: 1, text: "0 %")]
        while let last = ticks.last, last.at < most || ticks.count < 2 {
            ticks.append(Plot.Tick(at: last.at * 10, text: RunPlots.percentile(ticks.count)))
        }
        let first = chosen[0]
        return Plot(
            name: "latency", title: "Latency by percentile",
            description: "\(first.series), \(first.stage): half within \(first.histogram.time(0.5)), 99 % within "
                + "\(first.histogram.time(0.99)), all within \(first.histogram.time(1))"
                + (first.shareOfOwed.map { "; \($0) of what was owed" } ?? "") + ".",
            x: Plot.Axis(
                label: "share of all values", scale: .logarithmic, ticks: ticks, low: 1, high: ticks.last?.at ?? 10),
            y: .over(points.map(\.y), logarithmicFrom: 50, text: FigureUnit.time), content: .lines(series),
            table: Table(
                header: ["series, stage", "values", "of those owed"] + RunPlots.shares.map(\.0),
                rows: run.latencies.filter { $0.histogram.count > 0 || $0.owed != nil }.map { latency in
                    [
                        "\(latency.series), \(latency.stage)", FigureUnit.number.text(Double(latency.histogram.count)),
                        latency.shareOfOwed ?? "–",
                    ] + RunPlots.shares.map { latency.histogram.time($0.1) }
                }))
    }

    /// Points over 1/(1-p), ten in each decade, up to the last value that the distribution has or one in a million.
    private static func percentiles(_ histogram: LatencyHistogram) -> [Plot.Point] {
        let end = min(Double(histogram.count), 1_000_000)
        var points: [Plot.Point] = []
        var x = 1.0
        // 10^(1/10)
        while x < end {
            points.append(Plot.Point(x: x, y: histogram.seconds(1 - 1 / x)))
            x *= 1.258_925_411_794_167
        }
        points.append(Plot.Point(x: max(end, 1.01), y: histogram.seconds(1)))
        return points
    }

    private static func percentile(_ decade: Int) -> String {
        switch decade {
        case 1: "90 %"
        case 2: "99 %"
        default: "99." + String(repeating: "9", count: decade - 2) + " %"
        }
    }

    // MARK: A goal's spread

    private var spread: Plot? {
        // A goal that has not reached all of its audience is slower than all that have.
        let goals = run.goals.filter { $0.spread.count > 0 }.sorted {
            ($0.last ?? .infinity, $0.spread.max) < ($1.last ?? .infinity, $1.spread.max)
        }
        guard let fastest = goals.first, let slowest = goals.last else { return nil }
        var lines = [("slowest goal", slowest)]
        if goals.count > 2 { lines.append(("middle goal", goals[goals.count / 2])) }
        if goals.count > 1 { lines.append(("fastest goal", fastest)) }
        let series = lines.map { name, goal in Plot.Series(name: name, points: RunPlots.reached(goal)) }
        let parts = [0.5, 0.9, 0.99]
        let shown = goals.suffix(20).reversed()
        return Plot(
            name: "spread", title: "A goal on its way through its audience",
            description: "Of the slowest goal's audience, half had it after \(slowest.time(0.5)), 99 % after "
                + "\(slowest.time(0.99)), all after \(slowest.lastText).",
            x: .over(
                series.flatMap(\.points).map(\.x), label: "time from the planned moment of the goal",
                logarithmicFrom: 50,
                text: FigureUnit.time),
            y: .over([100], logarithmicFrom: nil) { "\($0.shortened) %" }, content: .lines(series),
            table: Table(
                header: [
                    "goal (\(shown.count) slowest of \(goals.count))", "audience", "first push", "50 %", "90 %", "99 %",
                    "last",
                ],
                rows: shown.map { goal in
                    [
                        "\(goal.topic) at \(FigureUnit.time(goal.planned))", goal.audience.spaced,
                        goal.first.map(FigureUnit.time) ?? "–",
                    ]
                        + parts.map { goal.time($0) } + [goal.lastText]
                }))
    }

    /// Share of an audience, in per cent, over seconds. The line ends below 100 % if some of it never had the goal.
    private static func reached(_ goal: Goal) -> [Plot.Point] {
        (0...200).map { step in
            let share = Double(step) / 200
            return Plot.Point(x: max(1e-6, goal.spread.seconds(share)), y: share * 100 * goal.share)
        }
    }

    // MARK: Over time

    private var throughput: Plot? {
        overTime(
            "throughput", "Throughput",
            [
                ("pushes accepted", { $0.rate(\.accepted) }), ("pushes sent", { $0.rate(\.sent) }),
                ("feed events", { $0.rate(\.events) }),
            ], text: { "\(FigureUnit.number.text($0.rounded()))/s" }, description: "At most % accepted pushes.")
    }

    private var age: Plot? {
        overTime(
            "age", "Age",
            [
                ("oldest undelivered state", { $0.interval.oldestUndelivered }),
                ("accepted pushes, p99", { $0.interval.latency.quantileSeconds(0.99) }),
                ("pushes of goals, p99", { $0.interval.goalLatency.quantileSeconds(0.99) }),
            ], text: FigureUnit.time, description: "The oldest state that somebody lacked was % old.")
    }

    private var memory: Plot? {
        overTime(
            "memory", "Memory", [("resident memory", { Double($0.interval.residentBytes) })],
            text: FigureUnit.bytes.text,
            description: "% at the peak.")
    }

    private var turns: Plot? {
        overTime(
            "turns", "Longest turns",
            [("shards", { $0.interval.longestTurnShard }), ("core", { $0.interval.longestTurnCore })],
            text: FigureUnit.time,
            description: "The longest turn of a shard took %.")
    }

    /// - Parameter description: has the greatest value of the first series at the percent sign.
    private func overTime(
        _ name: String, _ title: String, _ values: [(name: String, of: (Span) -> Double?)], text: (Double) -> String,
        description: String
    ) -> Plot? {
        let spans = Span.of(run.intervals)
        guard spans.count > 1, let first = values.first else { return nil }
        // A second of which there is no value has no point: nothing accepted is not accepted at once.
        let series = values.map { value in
            var points = [Plot.Point(x: 0, y: spans.first.flatMap(value.of) ?? .nan)]
            for span in spans {
                let y = value.of(span) ?? .nan
                // A step begins at the point before, which has to be there.
                if let last = points.last, !last.y.isFinite, y.isFinite { points.append(Plot.Point(x: last.x, y: y)) }
                points.append(Plot.Point(x: span.interval.second, y: y))
            }
            return Plot.Series(name: value.name, points: points)
        }
        let drawn = series.filter { $0.points.contains { $0.y.isFinite } }
        return Plot(
            name: name, title: title,
            description: description.replacing(
                "%", with: text(spans.compactMap(first.of).max() ?? 0), maxReplacements: 1),
            x: .over(
                spans.map(\.interval.second), label: "time of the measurement", logarithmicFrom: nil,
                text: FigureUnit.time),
            y: .over(series.flatMap(\.points).map(\.y).filter(\.isFinite), logarithmicFrom: nil, text: text),
            content: .steps(drawn),
            table: Table(
                header: ["until"] + values.map(\.name),
                rows: spans.map { span in
                    [FigureUnit.time(span.interval.second)] + values.map { $0.of(span).map(text) ?? "–" }
                }))
    }

    // MARK: Funnel

    private var funnel: Plot? {
        guard !run.funnel.isEmpty else { return nil }
        let counts = run.funnel.prefix(12)
        let ticks = counts.enumerated().map { Plot.Tick(at: Double(counts.count - $0.offset), text: $0.element.name) }
        var x = Plot.Axis.over(counts.map { Double($0.count) }, label: "count", logarithmicFrom: 50) {
            $0 < 1 ? "" : FigureUnit.number.text($0)
        }
        if x.scale == .logarithmic { x.low = min(x.low, 0.5) }
        return Plot(
            name: "funnel", title: "From raw events to pushes",
            description: counts.map { "\($0.name) \($0.count.spaced)" }.joined(separator: ", ") + ".",
            x: x, y: Plot.Axis(ticks: ticks, low: 0.4, high: Double(counts.count) + 0.6),
            content: .bars(counts.map { Double($0.count) }),
            table: Table(header: ["step", "count"], rows: run.funnel.map { [$0.name, $0.count.spaced] }))
    }
}

extension LatencyHistogram {
    fileprivate func seconds(_ share: Double) -> Double { quantileSeconds(share) ?? 0 }

    /// `nil` for an empty histogram.
    fileprivate func quantileSeconds(_ share: Double) -> Double? { quantile(share).map { Double($0) / 1e6 } }

    func time(_ share: Double) -> String { quantile(share).map { FigureUnit.time(Double($0) / 1e6) } ?? "–" }
}

extension Goal {
    /// Part of its audience that had it.
    fileprivate var share: Double { min(1, Double(spread.count) / Double(max(whole, 1))) }

    /// Activities that it is for.
    private var whole: Int { max(owed ?? followers ?? 0, Int(spread.count)) }

    /// Time after which this share of its audience had it.
    fileprivate func time(_ wanted: Double) -> String { wanted <= share ? spread.time(wanted / share) : "–" }

    fileprivate var lastText: String {
        last.map(FigureUnit.time)
            ?? "not all had it: \(Int(spread.count).spaced) of \(whole.spaced)"
    }
}

/// Several intervals in a row as one: counts added, histograms merged, and the greatest of all other figures.
private struct Span {
    var interval = Interval(second: 0)
    var length = 0.0

    /// Most points of a plot over time, and rows of its table.
    private static let spansMax = 120

    static func of(_ intervals: [Interval]) -> [Span] {
        let size = max(1, (intervals.count + spansMax - 1) / spansMax)
        var spans: [Span] = []
        var start = 0.0
        for (index, interval) in intervals.enumerated() {
            if index % size == 0 { spans.append(Span()) }
            spans[spans.count - 1].append(interval, length: max(0, interval.second - start))
            start = interval.second
        }
        return spans
    }

    private mutating func append(_ next: Interval, length more: Double) {
        length += more
        interval.second = next.second
        interval.events += next.events
        interval.sent += next.sent
        interval.accepted += next.accepted
        interval.latency.merge(next.latency)
        interval.goalLatency.merge(next.goalLatency)
        interval.oldestUndelivered = max(interval.oldestUndelivered, next.oldestUndelivered)
        interval.longestTurnCore = max(interval.longestTurnCore, next.longestTurnCore)
        interval.longestTurnShard = max(interval.longestTurnShard, next.longestTurnShard)
        interval.residentBytes = max(interval.residentBytes, next.residentBytes)
    }

    /// Per second.
    func rate(_ count: KeyPath<Interval, Int>) -> Double { length > 0 ? Double(interval[keyPath: count]) / length : 0 }
}
