import Laboratory
import Testing

@Suite struct ThresholdTests {
    @Test func `A share that lacks anything is never told as the whole`() throws {
        #expect(1.0.asShare == "100 %" && 0.995.asShare == "99.5 %" && 0.0.asShare == "0 %")
        #expect(0.999_996_064_7.asShare == "99.9996 %" && 0.999_999_999_5.asShare != "100 %")
        let outcome = try Threshold("goal.reached.share > 99.9 %").judge(["goal.reached.share": 0.999_996_064_7])
        #expect(outcome.holds && outcome.sentence.hasSuffix("measured 99.9996 %"))
        #expect(!(try Threshold("goal.reached.share = 100 %").judge(["goal.reached.share": 0.999_999_9]).holds))
    }

    @Test(arguments: [
        ("goal.last.p99 < 2.5 s", "goal.last.p99", 2.5), ("goal.last.p99<2.5s", "goal.last.p99", 2.5),
        ("cpu.per.push <= 1us", "cpu.per.push", 1e-6), ("growth.memory < 5 %", "growth.memory", 0.05),
        ("pushes.missing = 0", "pushes.missing", 0), ("pushes.per.second > 500 k", "pushes.per.second", 500_000),
        ("restart.first < 2 s", "restart.first", 2), ("goal.accepted.share >= 99.9 %", "goal.accepted.share", 0.999),
        ("kind/football.accepted.max >= 20 ms", "kind/football.accepted.max", 0.02),
    ])
    func `A threshold has a figure, a relation and a limit in the figure's unit`(
        _ text: String, _ figure: String, _ limit: Double
    ) throws {
        let threshold = try Threshold(text)
        #expect(threshold.figure == figure)
        #expect(abs(threshold.limit - limit) <= 1e-12 * max(1, limit))
    }

    @Test(arguments: [
        ("goal.last.p99 2.5 s", "a threshold is a figure"), ("< 2.5 s", "is no figure"),
        ("goal.last.p99 < soon", "is no number"), ("goal.last.p99 < 2.5 sx", "unknown unit"),
        ("goal last < 2 s", "is no figure"), ("goal.last.p99 < nan", "is no number"),
        ("goal.last.max < 2500", "is a time"), ("cpu.per.push < 1 k", "is a time"), ("lateness.p99 < 5 %", "is a time"),
        ("growth.memory < 5", "is a share"), ("engine.full < 1 s", "is a share"),
        ("memory.peak < 500", "is a number of bytes"), ("pushes.missing = 0 s", "is a count"),
        ("pushes.missing < 1 %", "is a count"), ("restart.first < 2", "is a time"),
        ("goal.last.count < 5 s", "is a count"),
        ("goal.accepted.share > 0.99", "is a share"), ("all.accepted.owed > 1 %", "is a count"),
        ("run.whole < 60", "is a time"), ("pushes.interrupted > 0 s", "is a count"),
        ("bytes.per.push < 1 s", "is a number of bytes"), ("gaol.last.p99 < 1 s", "did you mean goal.last.p99?"),
        ("kind/football.last.p98 < 1 s", "no run has a figure"),
    ])
    func `A threshold that cannot be read is refused with what was expected`(_ text: String, _ reason: String) {
        let error = #expect(throws: ThresholdError.self) { try Threshold(text) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func `A bound is exclusive or inclusive as it is written`() throws {
        let figures = ["goals": 2.0]
        for (text, holds) in [
            ("goals < 2", false), ("goals <= 2", true), ("goals > 2", false), ("goals >= 2", true), ("goals = 2", true),
            ("goals < 2.1", true),
        ] {
            #expect(try Threshold(text).judge(figures).holds == holds, "\(text)")
        }
    }

    @Test func `A broken threshold is told in its own unit`() throws {
        let outcome = try Threshold("goal.last.p99 < 250 ms").judge(["goal.last.p99": 0.5])
        #expect(!outcome.holds)
        #expect(outcome.sentence == "goal.last.p99 < 250 ms: broken, measured 500 ms")
    }

    @Test func `A figure that the run does not have breaks its threshold`() throws {
        let outcome = try Threshold("goal.last.p999 < 1 s").judge(["goal.last.p99": 0.1])
        #expect(!outcome.holds)
        #expect(outcome.value == nil)
        #expect(outcome.sentence.contains("did you mean goal.last.p99?"))
    }

    @Test func `A fault fails a run whose thresholds hold`() throws {
        let holds = try Threshold("goals < 1").judge(["goals": 0])
        #expect(Verdict(faults: [], thresholds: [holds]).passes)
        #expect(!Verdict(faults: ["generator late: …"], thresholds: [holds]).passes)
    }
}
