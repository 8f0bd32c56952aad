import Laboratory
import LaboratoryReport
import Testing

@Suite("Runs of several engines")
struct MergedRunTests {
    /// Ninety quick pushes of one engine and ten slow ones of another: the percentile of all is a slow one's, the mean of both is nobody's.
    @Test func percentilesAreThoseOfAllValues() throws {
        func run(_ count: Int, _ microseconds: Int64) -> LoadRun {
            var run = LoadRun(verdict: Verdict(faults: [], thresholds: []), seconds: 1)
            var histogram = LatencyHistogram()
            histogram.record(microseconds, times: count)
            run.latencies = [Latency(series: "goal", stage: "accepted", histogram: histogram)]
            run.figures = [
                "goal.accepted.p99": Double(microseconds) / 1e6, "pushes.sent": Double(count), "cpu.core": 1,
                "cpu.shards": 3,
            ]
            return run
        }
        let whole = try #require(LoadRun(simultaneous: [run(90, 1000), run(10, 1_000_000)]))
        #expect(whole.latencies.count == 1)
        #expect(whole.latencies[0].histogram.count == 100)
        #expect(whole.figures["goal.accepted.p90"] == 0.001)
        #expect(whole.figures["goal.accepted.p99"] == 1)
        #expect(whole.figures["cpu.per.push"] == 8.0 / 100)
    }

    @Test func countsAreAddedAndWaitsAreTheGreatest() throws {
        let (long, short) = (exampleRun(seconds: 6), exampleRun(seconds: 4, seed: 2))
        let whole = try #require(LoadRun(simultaneous: [long, short]))
        #expect(whole.seconds == 6)
        #expect(whole.intervals.count == 6)
        #expect(whole.intervals[1].accepted == 2 * 19_901)
        #expect(whole.intervals[5].accepted == 19_905)
        #expect(whole.intervals[1].residentBytes == 800 << 20)
        #expect(whole.intervals[0].oldestUndelivered == 0.9)
        #expect(whole.intervals[1].latencies?.map(\.histogram.count) == [1000], "of both")
        #expect(whole.intervals[5].latencies?.map(\.histogram.count) == [500])
        #expect(whole.funnel.first { $0.name == "pushes" }?.count == 480_000)
        // The goal at 0 s is in both, that at 4 s in one.
        #expect(whole.goals.map(\.audience) == [40_000, 20_000])
        #expect(whole.goals.map(\.planned) == whole.goals.map(\.planned).sorted())
        // Growth in any engine is growth.
        #expect(whole.figures["growth.memory"] == [long, short].compactMap { $0.figures["growth.memory"] }.max())
    }

    /// Each engine decides all events, and pushes to its own people.
    @Test func eventsAreThoseOfOneEngineAndPushesThoseOfAll() throws {
        var run = exampleRun()
        run.figures = ["events": 40, "updates": 7, "pushes.sent": 100, "pushes.dead": 3, "growth.threads": 0.5]
        run.funnel = [Count("events decided", 40), Count("pushes sent", 100)]
        let whole = try #require(LoadRun(simultaneous: [run, run]))
        #expect(whole.figures["events"] == 40 && whole.figures["updates"] == 7)
        #expect(whole.figures["pushes.sent"] == 200 && whole.figures["pushes.dead"] == 6)
        #expect(whole.figures["growth.threads"] == 0.5)
        #expect(whole.funnel.map(\.count) == [40, 200])
    }

    /// The last activity of a goal is the last one of all engines, and a threshold is judged by the whole.
    @Test func goalsAreMergedByTopicAndMoment() throws {
        func run(last: Double?) -> LoadRun {
            var run = LoadRun(verdict: Verdict(faults: [], thresholds: []), seconds: 5)
            for (topic, planned) in [("a", 1.0), ("b", 1.0), ("a", 3.0)] {
                var spread = LatencyHistogram()
                spread.record(1000, times: 10)
                run.goals.append(
                    Goal(topic: topic, planned: planned, audience: 10, first: 0.1, last: last, spread: spread))
            }
            var lasts = LatencyHistogram()
            if let last { lasts.record(Int64(last * 1e6), times: 3) }
            run.latencies = [Latency(series: "goal", stage: "last", histogram: lasts)]
            return run
        }
        let thresholds = [try Threshold("goal.last.max < 1.5 s")]
        let whole = try #require(LoadRun(simultaneous: [run(last: 1), run(last: 2)], of: thresholds))
        #expect(whole.goals.map(\.topic) == ["a", "b", "a"] && whole.goals.map(\.audience) == [20, 20, 20])
        #expect(whole.goals.allSatisfy { $0.last == 2 && $0.first == 0.1 && $0.spread.count == 20 })
        #expect(whole.figures["goal.last.count"] == 3 && whole.figures["goal.last.p50"] == 2.0)
        #expect(!whole.verdict.passes)
        let unfinished = try #require(LoadRun(simultaneous: [run(last: 1), run(last: nil)], of: thresholds))
        #expect(unfinished.goals.allSatisfy { $0.last == nil } && unfinished.figures["goal.last.p50"] == nil)
    }

    /// An engine that lost half and one that lost nothing: the share is that of all that was owed.
    @Test func sharesOfWhatWasOwedAreThoseOfAll() throws {
        func run(_ accepted: Int, owed: Int) -> LoadRun {
            var run = LoadRun(verdict: Verdict(faults: [], thresholds: []), seconds: 1)
            var histogram = LatencyHistogram()
            histogram.record(1000, times: accepted)
            var latency = Latency(series: "goal", stage: "accepted", histogram: histogram)
            latency.owed = owed
            run.latencies = [latency]
            return run
        }
        let thresholds = [try Threshold("goal.accepted.share > 99 %")]
        let whole = try #require(LoadRun(simultaneous: [run(50, owed: 100), run(300, owed: 300)], of: thresholds))
        #expect(whole.figures["goal.accepted.share"] == 0.875 && whole.figures["goal.accepted.owed"] == 400)
        #expect(!whole.verdict.passes)
        let second = exampleRun().intervals[0]
        #expect(second.answers == nil, "a result of an earlier version")
    }

    /// Processor time of two programs is added, but a share of it per push is computed from the sums; what cannot be told is left out.
    @Test func figuresAreOfTheWholeOrLeftOut() throws {
        func run(cores: Double, pushes: Double, memory: Double, p10: Double) -> LoadRun {
            var run = LoadRun(verdict: Verdict(faults: [], thresholds: []), seconds: 10)
            run.figures = [
                "cpu.core": cores / 4, "cpu.shards": cores, "pushes.sent": pushes, "pushes.accepted": pushes,
                "bytes.body": 300 * pushes, "memory.resident": memory, "activities": pushes / 10, "goals.missing": 2,
                "cpu.per.push.p10": p10, "made.up": 1,
            ]
            return run
        }
        let parts = [
            run(cores: 4, pushes: 1e6, memory: 1e8, p10: 1e-6), run(cores: 8, pushes: 3e6, memory: 5e8, p10: 2e-6),
        ]
        let whole = try #require(LoadRun(simultaneous: parts)).figures
        #expect(whole["cpu.per.push"] == 15.0 / 4e6 && whole["cpu.per.push.shards"] == 12.0 / 4e6)
        #expect(whole["bytes.per.push"] == 300 && whole["pushes.per.second"] == 4e5)
        #expect(whole["memory.per.activity"] == 6e8 / 4e5)
        // Each engine is to decide every goal.
        #expect(whole["goals.missing"] == 2)
        #expect(whole["cpu.per.push.p10"] == nil && whole["made.up"] == nil)
    }

    /// Nothing tells which silent updates of two engines are the same, but the last of all is the last of one of them.
    @Test func theGreatestTimeToTheLastActivityIsThatOfSomeEngine() throws {
        func run(_ seconds: Double) -> LoadRun {
            var run = LoadRun(verdict: Verdict(faults: [], thresholds: []), seconds: 5)
            var histogram = LatencyHistogram()
            histogram.record(Int64(seconds * 1e6))
            run.latencies = [Latency(series: "all", stage: "last", histogram: histogram)]
            run.figures = ["all.last.max": seconds, "all.last.p50": seconds]
            return run
        }
        let figures = try #require(LoadRun(simultaneous: [run(2), run(3)])).figures
        #expect(figures["all.last.max"] == 3 && figures["all.last.p50"] == nil)
    }

    @Test func theOnlyRunIsTheWholeAsItIs() throws {
        let run = exampleRun()
        let whole = try #require(LoadRun(simultaneous: [run]))
        #expect(whole.figures == run.figures && whole.threads == run.threads && whole.verdict == run.verdict)
    }

    /// A load is as late as the latest of its generators.
    @Test func theGreatestLatenessIsTold() throws {
        func run(lateness: Double) -> LoadRun {
            var run = LoadRun(verdict: Verdict(faults: [], thresholds: []), seconds: 5)
            run.figures = ["lateness.p99": lateness, "lateness.max": 2 * lateness]
            return run
        }
        let whole = try #require(LoadRun(simultaneous: [run(lateness: 0.5), run(lateness: 0.02)]))
        #expect(whole.figures["lateness.p99"] == 0.5 && whole.figures["lateness.max"] == 1)
    }

    @Test func oneFailedRunFailsTheMergedRun() throws {
        var good = exampleRun()
        good.verdict = Verdict(faults: [], thresholds: [])
        var late = good
        late.verdict = Verdict(faults: ["generator late: 3 s"], thresholds: [])
        #expect(try #require(LoadRun(simultaneous: [good, good])).verdict.passes)
        let whole = try #require(LoadRun(simultaneous: [good, late]))
        #expect(!whole.verdict.passes)
        #expect(whole.verdict.faults == ["engine 2: generator late: 3 s"])
        #expect(LoadRun(simultaneous: []) == nil)
    }
}
