import Foundation
import Laboratory

/// SplitMix64: the same numbers for the same seed, in every process.
struct Draw: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// A normal value, by Box and Muller.
    mutating func normal(_ deviation: Double) -> Double {
        let radius = (-2 * log(1 - Double.random(in: 0..<1, using: &self))).squareRoot()
        return deviation * radius * cos(2 * .pi * Double.random(in: 0..<1, using: &self))
    }
}

/// A run in which a goal comes every four seconds and reaches its audience in one second.
func exampleRun(seconds: Int = 12, seed: UInt64 = 1) -> LoadRun {
    var draw = Draw(seed: seed)
    func times(_ count: Int, around microseconds: Double) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for _ in 0..<count { histogram.record(Int64(microseconds * exp(draw.normal(0.5))), times: 100) }
        return histogram
    }
    let outcomes = [
        Verdict.Outcome(
            expression: "goal.last.p99 < 2.5 s", figure: "goal.last.p99", value: 1.2, limit: 2.5, holds: true,
            sentence: "goal.last.p99 is 1.2 s, below 2.5 s."),
        Verdict.Outcome(
            expression: "cpu.per.push < 1 us", figure: "cpu.per.push", value: 1.4e-6, limit: 1e-6, holds: false,
            sentence: "cpu.per.push is 1.4 µs, not below 1 µs."),
    ]
    var run = LoadRun(verdict: Verdict(faults: [], thresholds: outcomes), seconds: Double(seconds))
    run.figures = ["goal.last.p99": 1.2, "cpu.per.push": 1.4e-6, "pushes.accepted": 240_000]
    run.latencies = [
        Latency(series: "goal", stage: "first", histogram: times(200, around: 900)),
        Latency(series: "goal", stage: "last", histogram: times(200, around: 900_000)),
        Latency(series: "all", stage: "accepted", histogram: times(2000, around: 200_000)),
    ]
    for second in 0..<seconds {
        var interval = Interval(second: Double(second + 1))
        interval.latency = times(20, around: 200_000)
        interval.goalLatency = times(second % 4 == 0 ? 10 : 0, around: 400_000)
        interval.latencies = [Latency(series: "kind/football", stage: "age", histogram: times(5, around: 300))]
        interval.events = 40
        interval.sent = 20_000
        interval.accepted = 19_900 + second
        interval.oldestUndelivered = second % 4 == 0 ? 0.9 : 0.1
        interval.longestTurnCore = 0.002
        interval.longestTurnShard = 0.004
        interval.residentBytes = 400 << 20
        run.intervals.append(interval)
    }
    for planned in stride(from: 0, to: seconds, by: 4) {
        run.goals.append(
            Goal(
                topic: "match/\(planned)", planned: Double(planned), audience: 20_000, first: 0.001, last: 1.1,
                spread: times(200, around: 400_000)))
    }
    run.funnel = [Count("events", 480), Count("updates", 120), Count("pushes", 240_000), Count("accepted", 239_000)]
    run.answers = [Count("accepted", 239_000), Count("dead", 1000)]
    run.suppressed = [Count("unchanged", 340), Count("late", 20)]
    run.threads = [ThreadCost(name: "core", cpuSeconds: 0.4), ThreadCost(name: "shard 0", cpuSeconds: 5)]
    return run
}

func exampleResult(runs: Int = 1, scenario: String = "goal-burst") -> LoadResult {
    var machine = Machine()
    machine.processor = "Example <CPU> & Co"
    machine.processors = 2
    machine.memoryBytes = 24 << 30
    machine.kernel = "6.1.0"
    machine.commit = "0123456789ab"
    machine.startedAt = "2026-06-13T14:00:00Z"
    let summary = ScenarioSummary(
        name: scenario, question: "How long do two goals in one second take?", good: "Everybody within 2.5 s.",
        subscribers: 1_000_000, topics: 2, shards: 2, transport: "simulator", seed: 7, scale: 1, rate: 1)
    return LoadResult(scenario: summary, machine: machine, runs: (0..<runs).map { exampleRun(seed: UInt64($0 + 1)) })
}
