import Foundation
import Laboratory
import LaboratoryReport
import Testing

/// A machine whose speed wanders by five per cent in the long run and two from run to run, whose runs differ by two, and one in twelve
/// of which is disturbed by another program for up to a fifth: the noise of a small virtual machine.
private struct NoisyMachine {
    private var draw: Draw
    private var drift = 0.0
    /// Deviation of runs, and of the drift between two of them.
    private let noise: Double
    private var clock = Date(timeIntervalSince1970: 1_781_359_200)
    private let format = ISO8601DateFormatter()
    /// Seconds from the start of one run to the next one's.
    private let step: Double

    init(seed: UInt64, noise: Double = 0.02, step: Double = 20) {
        draw = Draw(seed: seed)
        self.step = step
        format.formatOptions.insert(.withFractionalSeconds)
        self.noise = noise
    }

    mutating func result(_ truth: [String: Double]) -> LoadResult {
        var result = exampleResult(runs: 0)
        result.machine.startedAt = format.string(from: clock)
        clock += step
        drift = 0.9 * drift + draw.normal(noise)
        var run = LoadRun(verdict: Verdict(faults: [], thresholds: []), seconds: 10)
        for (name, value) in truth.sorted(by: { $0.key < $1.key }) {
            let isDisturbed = Int.random(in: 0..<12, using: &draw) == 0
            let disturbance = isDisturbed ? 1 + Double.random(in: 0...10 * noise, using: &draw) : 1
            run.figures[name] = value * exp(drift + draw.normal(noise)) * disturbance
        }
        result.runs = [run]
        return result
    }

    /// Runs of A and B in turns, each first in every second pair.
    mutating func turns(_ pairs: Int, _ a: [String: Double], _ b: [String: Double]) throws -> (a: RunSet, b: RunSet) {
        var results: (a: [(String, LoadResult)], b: [(String, LoadResult)]) = ([], [])
        for pair in 0..<pairs {
            if pair % 2 == 1 { results.b.append(("b", result(b))) }
            results.a.append(("a", result(a)))
            if pair % 2 == 0 { results.b.append(("b", result(b))) }
        }
        return (try RunSet(results.a), try RunSet(results.b))
    }
}

private let truth = [
    "cpu.per.push": 1e-6, "goal.last.p50": 0.9, "goal.last.p99": 1.2, "all.accepted.p99": 1.1, "memory.peak": 4e8,
    "pushes.per.second.max": 800_000,
]

@Suite("Comparison of runs")
struct ComparisonTests {
    /// The promise: of twenty comparisons of one build at most one calls any figure different, and 5 % more processor time per push is
    /// found in nineteen of twenty.
    @Test(arguments: [UInt64(1)])
    func onlyPlantedDifferencesAreFound(seed: UInt64) throws {
        var machine = NoisyMachine(seed: seed)
        var planted = truth
        planted["cpu.per.push"] = 1.05e-6
        var wrong = 0, found = 0
        var pairs: [Int] = []
        for _ in 0..<20 {
            var turns = Turns()
            if try turns.run({ _ in machine.result(truth) }).isDifferent { wrong += 1 }
            turns = Turns()
            let comparison = try turns.run { machine.result($0 == .a ? truth : planted) }
            if comparison.rows.first(where: { $0.figure == "cpu.per.push" })?.call == .worse { found += 1 }
            pairs.append(turns.results.a.count)
        }
        print(
            "told: \(wrong) of 20 called different, \(found) of 20 found, with \(pairs.min() ?? 0) to \(pairs.max() ?? 0) pairs"
        )
        #expect(wrong <= 1)
        #expect(found >= 19)
    }

    /// A quiet machine needs few pairs, and a loud one does not run for ever.
    @Test func theNumberOfPairsFollowsTheNoise() throws {
        var machine = NoisyMachine(seed: 5, noise: 0.005)
        var turns = Turns()
        _ = try turns.run { _ in machine.result(truth) }
        #expect(turns.results.a.count == Turns.pairsMin)
        machine = NoisyMachine(seed: 5, noise: 0.5)
        turns = Turns(pairsMax: 20)
        #expect(try !turns.run { _ in machine.result(truth) }.isDifferent)
        #expect(turns.results.b.count == 20)
    }

    @Test func `Runs of less than a second take turns, too`() throws {
        var machine = NoisyMachine(seed: 5, step: 0.4)
        let sets = try machine.turns(14, truth, truth)
        #expect(try Comparison(sets.a, sets.b).isPaired)
    }

    @Test func runsThatTakeTurnsArePairs() throws {
        var machine = NoisyMachine(seed: 3)
        let sets = try machine.turns(14, truth, truth)
        #expect(try Comparison(sets.a, sets.b).isPaired)
        let (first, second) = (
            try RunSet((0..<14).map { _ in ("a", machine.result(truth)) }),
            try RunSet((0..<14).map { _ in ("b", machine.result(truth)) })
        )
        #expect(try !Comparison(first, second).isPaired)
        // Runs of one result have no times of their own.
        var result = exampleResult(runs: 14)
        result.runs = result.runs.map { run in
            var run = run
            run.figures = truth
            return run
        }
        let many = try RunSet([("a", result)])
        #expect(try !Comparison(many, many).isPaired)
    }

    @Test func equalRunsHaveNoDifference() throws {
        let set = try RunSet((0..<14).map { _ in ("a", exampleResult()) })
        let comparison = try Comparison(set, set)
        #expect(!comparison.isDifferent)
        #expect(comparison.lines.contains { $0.contains("cpu.per.push") && $0.contains("no difference") })
    }

    @Test func lessIsBetterOrWorseByTheFigure() throws {
        var machine = NoisyMachine(seed: 4)
        let half = truth.mapValues { $0 / 2 }
        let sets = try machine.turns(20, truth, half)
        let calls = try Comparison(sets.a, sets.b).rows.reduce(into: [:]) { $0[$1.figure] = $1.call }
        #expect(calls["cpu.per.push"] == .better)
        #expect(calls["goal.last.p99"] == .better)
        #expect(calls["memory.peak"] == .better)
        #expect(calls["pushes.per.second.max"] == .worse)
        let own = ["own.figure": 2.0]
        let other = try machine.turns(20, own, ["own.figure": 3.0])
        #expect(try Comparison(other.a, other.b, figures: ["own.figure"]).rows[0].call == .different)
        for figure in ["pushes.failed", "pushes.uncertain", "engine.full"] {
            let failing = try machine.turns(20, [figure: 2.0], [figure: 30.0])
            #expect(try Comparison(failing.a, failing.b, figures: [figure]).rows[0].call == .worse, "\(figure)")
        }
    }

    /// Lost pushes cost nothing, and repeated ones lower the cost of each: both are worse, however cheap the rest.
    @Test(arguments: ["pushes.missing", "pushes.repeated", "goals.unfinished"])
    func aBuildThatLosesOrRepeatsPushesIsWorse(figure: String) throws {
        func set(_ losses: [Double], cost: Double) throws -> RunSet {
            try RunSet(
                losses.map { loss in
                    var result = exampleResult()
                    result.runs[0].figures = ["cpu.per.push": cost, figure: loss]
                    return ("a", result)
                })
        }
        let none = try set(Array(repeating: 0, count: 20), cost: 2)
        // Not every run loses some.
        let some = try set((0..<20).map { $0 % 10 == 0 ? 0 : Double($0) }, cost: 1)
        #expect(try Comparison(none, some).isWorse)
        #expect(try !Comparison(none, none).isDifferent)
        #expect(try Comparison(some, none).rows.first { $0.figure == figure }?.call == .better)
    }

    @Test func aDifferenceTooSmallToMatterIsNone() throws {
        func set(_ value: Double) throws -> RunSet {
            var result = exampleResult()
            result.runs[0].figures = ["memory.peak": value]
            return try RunSet((0..<14).map { _ in ("a", result) })
        }
        #expect(try !Comparison(set(1000), set(1005)).isDifferent)
        #expect(try Comparison(set(1000), set(1015)).isDifferent)
    }

    @Test func inputsThatDoNotCompareAreRefused() throws {
        let enough = try RunSet((0..<14).map { _ in ("a", exampleResult()) })
        let few = try RunSet([("a", exampleResult(runs: 3))])
        func reason(_ body: () throws -> Void) -> String {
            do { try body() } catch { return "\(error)" }
            return ""
        }
        #expect(reason { _ = try Comparison(few, few) }.contains("too few runs (3)"))
        #expect(
            reason { _ = try Comparison(enough, enough, figures: ["goal.typo"]) }.contains("goal.typo: not every run"))
        let other = try RunSet([("b", exampleResult(runs: 14, scenario: "lineups"))])
        #expect(reason { try enough.check(comparable: other) }.contains("one ran goal-burst, the other lineups"))
        #expect(reason { _ = try RunSet([]) }.contains("no result"))
        var late = exampleResult()
        late.runs[0].verdict = Verdict(faults: ["generator late: 3 s"], thresholds: [])
        #expect(
            reason { _ = try RunSet([("late.json", late)]) }.contains("late.json: a run is worthless: generator late"))
        var search = exampleResult()
        search.runs[0].rate = 2
        #expect(
            reason { _ = try RunSet([("knee.json", search)]) }.contains(
                "knee.json: its runs have the rates of saturate"))
        var elsewhere = exampleResult()
        elsewhere.machine.processor = "another"
        #expect(reason { _ = try RunSet([("a", exampleResult()), ("b", elsewhere)]) }.contains("different machines"))
        var zero = exampleResult()
        zero.runs[0].figures = ["cpu.per.push": 0, "memory.peak": 5]
        let zeros = try RunSet((0..<14).map { _ in ("a", zero) })
        // A cost that appears is no matter of ratios.
        #expect(try Comparison(zeros, enough, figures: ["cpu.per.push"]).isWorse)
        #expect(try !Comparison(enough, zeros, figures: ["cpu.per.push"]).isWorse)
    }
}
