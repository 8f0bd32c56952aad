import Laboratory
import Testing

@Suite struct SaturationTests {
    private func search(_ passes: (Double, Int) -> Bool) -> (search: Saturation, runs: Int) {
        var search = Saturation()
        var runs = 0
        while let factor = search.next, runs < 100 {
            runs += 1
            search.note(factor, passes: passes(factor, runs))
        }
        return (search, runs)
    }

    @Test(arguments: [0.3, 0.9, 1.7, 37]) func `The knee is found within a tenth`(_ knee: Double) throws {
        let (search, runs) = search { factor, _ in factor <= knee }
        let found = try #require(search.knee)
        #expect(found.contains(knee) && found.upperBound / found.lowerBound <= 1.1)
        #expect(runs < 25)
        #expect(search.sentence.contains("3 of 3 runs passed") && search.sentence.contains("0 of 3 runs passed"))
    }

    @Test func `Without a knee the search ends and says so`() {
        let endless = search { _, _ in true }
        #expect(endless.search.knee == nil && endless.search.sentence.hasPrefix("no threshold broke up to 1024"))
        let broken = search { _, _ in false }
        #expect(broken.search.knee == nil && broken.search.sentence.hasPrefix("a threshold broke even at"))
    }

    @Test func `A generator that is late is no knee of the engine`() {
        var search = Saturation()
        while let factor = search.next { search.note(factor, passes: factor <= 5, isLate: factor > 5) }
        #expect(search.knee == nil)
        #expect(search.sentence.hasPrefix("the generator was late at ") && search.sentence.contains("it lies above"))
    }

    @Test func `A run that is worthless ends the search, and no knee is told`() {
        var search = Saturation()
        var runs = 0
        while let factor = search.next {
            runs += 1
            if factor > 3 {
                search.noteWorthless(factor, fault: "apns-simulator had ended before the run did")
            } else {
                search.note(factor, passes: true)
            }
        }
        #expect(runs == 3 && search.knee == nil)
        #expect(
            search.sentence == "the knee is not known: the run at 4 times the scenario's rate is worthless, because "
                + "apns-simulator had ended before the run did")
        let verdict = Verdict(faults: ["generator late: x", "engine 1 was ended"], thresholds: [])
        #expect(verdict.faultBesideLoad == "engine 1 was ended")
        let tooMuch = Verdict(faults: ["engine 2: generator late: x", "engine full: y"], thresholds: [])
        #expect(tooMuch.faultBesideLoad == nil && tooMuch.isGeneratorLate)
        #expect(!Verdict(faults: ["engine full: y"], thresholds: []).isGeneratorLate, "that is the engine's limit")
    }

    @Test func `How sure a rate is follows from the number of its runs`() {
        #expect(abs(Saturation.leastShare(passed: 3, of: 3) - 0.3684) < 1e-4)
        #expect(abs(Saturation.leastShare(passed: 2, of: 3) - 0.1354) < 1e-4)
        #expect(abs(Saturation.leastShare(passed: 10, of: 10) - 0.7411) < 1e-4)
        #expect(Saturation.leastShare(passed: 0, of: 3) == 0)
        var search = Saturation(repetitions: 10)
        while let factor = search.next { search.note(factor, passes: factor <= 1.7) }
        #expect(
            search.sentence.contains("10 of 10 runs passed (so at least 71 % of runs do, with a confidence of 95 %)"))
    }

    /// A count that grows with the rate would be a knee of the scenario and none of the engine.
    @Test func `No threshold of a shipped scenario depends on its rate`() throws {
        for scenario in try ScenarioFiles.all() {
            for threshold in scenario.thresholds {
                guard !threshold.figure.hasSuffix(".share") else { continue }
                let isCount = threshold.unit.isEmpty
                let isOfAnyRate =
                    switch threshold.relation {
                    case .equal, .above: !isCount || threshold.limit == 0
                    case .atLeast: !isCount
                    case .below, .atMost: true
                    }
                #expect(isOfAnyRate, "\(scenario.name): \(threshold.expression)")
            }
            #expect(
                !scenario.thresholds.contains { $0.figure.hasSuffix("accepted.share") && $0.figure.hasPrefix("goal") },
                "\(scenario.name)")
        }
    }

    @Test func `A rate beyond the laboratory ends the search with what was found`() {
        var search = Saturation()
        while let factor = search.next {
            if factor > 10 { search.noteImpossible(factor) } else { search.note(factor, passes: true) }
        }
        #expect(search.knee == nil)
        #expect(search.sentence.hasPrefix("no threshold broke up to 8 times the scenario's rate, and 16 times are"))
    }

    @Test func `A rate below the knee at which a run failed is told`() {
        var sure = Saturation()
        while let factor = sure.next { sure.note(factor, passes: factor < 6) }
        #expect(!sure.sentence.contains("below it"))
        var doubtful = Saturation()
        for (factor, passes) in [(1, true), (2, false), (2, true), (4, true), (8, false)] {
            doubtful.note(Double(factor), passes: passes)
        }
        #expect(doubtful.sentence.hasSuffix("; below it, at 2 1 of 2 runs passed"))
    }

    @Test func `Runs that contradict each other near the knee end the search, too`() {
        let (search, runs) = search { factor, run in factor < 3 || factor < 4 && run % 2 == 0 }
        #expect(search.knee != nil && runs < 100)
    }
}

@Suite struct CapacityPlanTests {
    private func costs() throws -> MeasuredCosts { try MeasuredCosts([result()]) }

    private func result() -> LoadResult {
        var run = LoadRun(verdict: Verdict(faults: [], thresholds: []), seconds: 1)
        run.figures = [
            "cpu.per.push": 0.6e-6, "memory.per.activity": 200, "bytes.per.push": 300, "cpu.apns-simulator": 0.5,
            "pushes.sent": 1_000_000, "pushes.accepted": 1_000_000, "updates": 2,
        ]
        let scenario = ScenarioSummary(
            name: "goal-burst", question: "", good: "", subscribers: 1, topics: 1, shards: 1, transport: "", seed: 1,
            scale: 1, rate: 1)
        var machine = Machine()
        machine.processors = 2
        return LoadResult(scenario: scenario, machine: machine, runs: [run])
    }

    @Test func `Costs of anything else than pushes that arrive are refused`() throws {
        func reason(_ change: (inout LoadResult) -> Void) -> String {
            var result = result()
            change(&result)
            do { _ = try MeasuredCosts([self.result(), result]) } catch { return "\(error)" }
            return "accepted"
        }
        #expect(reason { _ in } == "accepted")
        #expect(reason { $0.machine.isDebugBuild = true }.contains("a debug build"))
        #expect(reason { $0.machine.processor = "another" }.contains("another machine's"))
        #expect(reason { $0.scenario.roundTrip = 0.08 }.contains("ran over a distance"))
        #expect(reason { $0.runs[0].verdict = Verdict(faults: ["generator late"], thresholds: []) }.contains("a fault"))
        let broken = try Threshold("pushes.missing = 0").judge(["pushes.missing": 5])
        #expect(reason { $0.runs[0].verdict = Verdict(faults: [], thresholds: [broken]) }.contains("a run failed"))
        #expect(reason { $0.runs[0].figures["pushes.accepted"] = 900_000 }.contains("900,000 were accepted"))
        #expect(reason { $0.runs[0].figures["updates"] = 500_000 }.contains("2 pushes on average"))
        #expect(reason { $0.runs[0].figures["cpu.apns-simulator"] = nil }.contains("without the APNs simulator"))
    }

    @Test func `A plan is the wish times the costs`() throws {
        var wish = CapacityPlan.Wish()
        (wish.subscribers, wish.audienceShare, wish.goalsPerSecond, wish.within) = (100e6, 0.1, 3, 5)
        let plan = try CapacityPlan(wish, costs())
        #expect(plan.pushesPerSecond == 30e6)
        #expect(abs(plan.cores - 18) < 1e-6 && plan.memoryBytes == 20e9)
        #expect(plan.connections == 1500 && plan.bytesPerSecond == 30e6 * 675)
        #expect(plan.bottleneck == "connections" && plan.nodes == 34)
    }

    @Test func `Runs of two sizes tell what an engine takes without activities`() throws {
        func run(_ activities: Double, _ resident: Double, lineups: Bool = false) -> LoadResult {
            var result = result()
            if lineups { result.scenario.name = "lineups" }
            result.runs[0].figures["activities"] = activities
            result.runs[0].figures["memory.resident"] = resident
            result.runs[0].figures["memory.per.activity"] = resident / activities
            return result
        }
        let costs = try MeasuredCosts([run(1e6, 250e6), run(2e6, 400e6), run(1e6, 1100e6, lineups: true)])
        #expect(costs.bytesPerActivity == 150 && costs.fixedBytes == 100e6 && costs.bytesPerLineup == 1000)
        var wish = CapacityPlan.Wish()
        wish.subscribers = 10e6
        #expect(CapacityPlan(wish, costs).memoryBytes == 1.6e9)
        let one = try MeasuredCosts([run(1e6, 250e6)])
        #expect(one.bytesPerActivity == 250 && one.fixedBytes == nil)
        var small = run(0.5e6, 180e6)
        small.scenario.name = "small"
        small.runs[0].goals = [
            Goal(topic: "a", planned: 0, audience: 500_000, first: 1, last: 2, spread: LatencyHistogram())
        ]
        #expect(try PredictionCheck(small, costs).needs.first { $0.unit == "B" }?.predicted == 350)
    }

    @Test func `A plan for lineups takes the costs of lineups, and none is made without`() throws {
        var lineups = result()
        lineups.scenario.name = "lineups"
        lineups.runs[0].figures["memory.per.activity"] = 1324
        lineups.runs[0].figures["bytes.per.push"] = 1220
        var wish = CapacityPlan.Wish()
        (wish.subscribers, wish.audienceShare, wish.within, wish.hasLineups) = (1e6, 1, 5, true)
        let plan = try CapacityPlan(wish, MeasuredCosts([result(), lineups]))
        #expect(plan.memoryBytes == 1324e6 && plan.bytesPerSecond == plan.pushesPerSecond * 1595)
        #expect(try wish.impossibility(with: MeasuredCosts([result(), lineups])) == nil)
        #expect(try wish.impossibility(with: costs())?.contains("no run of lineups") == true)
    }

    @Test func `No plan is made for a goal that is to arrive before a push can`() throws {
        var wish = CapacityPlan.Wish()
        (wish.roundTrip, wish.within) = (0.2, 0.01)
        #expect(try wish.impossibility(with: costs())?.contains("0.2 s to APNs and back") == true)
        wish.within = 0.3
        #expect(try wish.impossibility(with: costs()) == nil)
    }

    @Test func `A rare goal needs its audience within the time, not its rate`() throws {
        var wish = CapacityPlan.Wish()
        (wish.subscribers, wish.audienceShare, wish.goalsPerSecond, wish.within) = (1e6, 1, 0.001, 5)
        // Less the round trip of the last push.
        let rare = try CapacityPlan(wish, costs()).pushesPerSecond
        #expect(abs(rare - 1e6 / 4.95) < 1)
        // A lineup's alert waits a second before it is sent.
        (wish.within, wish.hasLineups) = (1.2, true)
        let ofLineups = try CapacityPlan(wish, costs()).pushesPerSecond
        #expect(abs(ofLineups - 1e6 / 0.15) < 1)
    }

    @Test func `Client and simulator share the processors of a prediction`() throws {
        let costs = try costs()
        func last(shards: Int, roundTrip: Double) -> Double {
            var goal = GoalPrediction(audience: 1e6)
            (goal.shards, goal.roundTrip, goal.connections) = (shards, roundTrip, 1e6)
            return goal.last(costs)
        }
        #expect(abs(last(shards: 1, roundTrip: 0) - 0.6) < 1e-9)
        #expect(abs(last(shards: 2, roundTrip: 0) - 0.55) < 1e-9)
        // Two shards that took 0.4 s for half a million: 0.8 µs a push on two processors, which 1.1 µs of costs fill to 69 %.
        var crowded = result()
        crowded.scenario.shards = 2
        crowded.runs[0].figures["cpu.per.push"] = 5e-6
        crowded.runs[0].goals = [
            Goal(topic: "football/1", planned: 0, audience: 500_000, first: 0, last: 0.4, spread: LatencyHistogram())
        ]
        let shared = try MeasuredCosts([result(), crowded])
        #expect(shared.cpuPerPush == costs.cpuPerPush && abs(shared.sharedUse - 1.1 / 1.6) < 1e-9)
        var goal = GoalPrediction(audience: 1e6)
        goal.shards = 2
        #expect(abs(goal.last(shared) - 0.8) < 1e-9)
        goal.shards = 1
        #expect(abs(goal.last(shared) - 0.6) < 1e-9)
        #expect(abs(last(shards: 1, roundTrip: 0.08) - 0.68) < 1e-9)
    }

    @Test func `Over a distance a goal begins slowly`() throws {
        let costs = try costs()
        var goal = GoalPrediction(audience: 100_000)
        (goal.roundTrip, goal.connections) = (0.1, 10)
        // At 675 bytes a push the first windows of ten connections hold 216 pushes, and each round trip doubles that. After six of them
        // the streams are the limit: ten thousand pushes in a round trip.
        let sent = 10 * 14_600.0 / 675 * 63
        #expect(abs(goal.last(costs) - (0.6 + (100_000 - sent) / 100_000 + 0.1)) < 1e-6)
        goal.roundTrip = 0
        #expect(abs(goal.last(costs) - 0.06) < 1e-9)
    }

    @Test func `A stall costs its length if it meets the goal, and lineups gather alerts first`() throws {
        let costs = try costs()
        var goal = GoalPrediction(audience: 1e6)
        goal.stall = (0.3, 1.2)
        #expect(abs(goal.last(costs) - (0.6 + 0.15)) < 1e-9)
        (goal.stall, goal.hasLineups) = (nil, true)
        #expect(abs(goal.last(costs) - 1.6) < 1e-9)
    }

    @Test func `What lineups do while alerts gather delays nobody, unless it takes longer`() throws {
        var lineups = result()
        lineups.scenario.hasLineups = true
        lineups.runs[0].figures["cpu.per.push"] = 5e-6
        lineups.runs[0].goals = [
            Goal(topic: "football/1", planned: 0, audience: 100_000, first: 1, last: 1.3, spread: LatencyHistogram())
        ]
        let costs = try MeasuredCosts([result(), lineups])
        #expect(abs(costs.lineupSend - 3e-6) < 1e-12 && costs.cpuPerLineupPush == 5e-6)
        func last(_ audience: Double) -> Double {
            var goal = GoalPrediction(audience: audience)
            goal.hasLineups = true
            return goal.last(costs)
        }
        #expect(abs(last(400_000) - (1 + 1.2)) < 1e-9)
        // Two microseconds for each of a million.
        #expect(abs(last(1_000_000) - (2 + 3)) < 1e-9)
    }

    @Test func `Small goals that begin slowly do not set the cost of a push`() throws {
        var lineups = result()
        lineups.scenario.hasLineups = true
        lineups.runs[0].goals = [(300_000, 1.9), (20_000, 1.2), (20_000, 1.3), (20_000, 1.4)].map {
            Goal(topic: "football/1", planned: 0, audience: $0, first: 1, last: $1, spread: LatencyHistogram())
        }
        #expect(abs(try MeasuredCosts([result(), lineups]).lineupSend - 3e-6) < 1e-12)
    }

    @Test func `A prediction is compared with the median of the goals of its topic, on its machine`() throws {
        var result = result()
        result.scenario.name = "another"
        result.runs[0].goals = [0.5, 0.61, 2].map {
            Goal(topic: "football/1", planned: 0, audience: 1_000_000, first: 0, last: $0, spread: LatencyHistogram())
        }
        let costs = try costs()
        let check = try PredictionCheck(result, costs)
        #expect(check.rows.count == 1 && check.rows[0].median == 0.61 && check.passes)
        #expect(
            check.lines[0].contains("predicted 0.6 s, measured 0.61 s")
                && check.lines[0].contains("3 goals, 0.5 to 2 s"))
        result.runs[0].figures["memory.per.activity"] = 160
        let beside = try PredictionCheck(result, costs)
        #expect(beside.needs.map(\.measured) == [0.6, 160, 300] && beside.needs.map(\.predicted) == [0.6, 200, 300])
        #expect(beside.lines[2] == "memory an activity: predicted 200 B, measured 160 B, 25 % off")
        #expect(beside.passes, "memory has no verdict")
        var heavy = result
        heavy.runs[0].figures["bytes.per.push"] = 240
        #expect(try !PredictionCheck(heavy, costs).passes, "the body of a push has one")
        var slow = result
        for index in slow.runs[0].goals.indices { slow.runs[0].goals[index].last = 0.8 }
        #expect(try !PredictionCheck(slow, costs).passes)
        var unfinished = result
        unfinished.runs[0].figures["goals.unfinished"] = 1
        #expect(try !PredictionCheck(unfinished, costs).passes)
        func reason(_ change: (inout LoadResult) -> Void) -> String {
            var result = result
            change(&result)
            do { _ = try PredictionCheck(result, costs) } catch { return "\(error)" }
            return "accepted"
        }
        #expect(reason { _ in } == "accepted")
        #expect(reason { $0.machine.isDebugBuild = true }.contains("a debug build"))
        #expect(reason { $0.scenario.name = "goal-burst" }.contains("is among those of the costs"))
        #expect(reason { $0.machine.processor = "another" }.contains("the result is of another"))
        #expect(reason { $0.runs[0].verdict = Verdict(faults: ["generator late"], thresholds: []) }.contains("a fault"))
        #expect(reason { $0.runs[0].goals = [] }.contains("no goal that reached"))
    }

    @Test func `Streams limit a goal whose answers come late`() throws {
        var goal = GoalPrediction(audience: 1e6)
        (goal.answerDelay, goal.connections) = (0.1, 10)
        // Ten thousand pushes in a tenth of a second.
        #expect(abs(goal.last(try costs()) - 10.1) < 1e-9)
    }

    @Test func `Costs without a run that has pushes are refused`() {
        #expect(throws: LaboratoryError.self) { try MeasuredCosts([]) }
    }
}

@Suite struct LiveViewTests {
    private func progress(_ seconds: Double?) -> LoadProgress {
        var progress = LoadProgress()
        (progress.seconds, progress.duration, progress.accepted, progress.owed) = (seconds, 20, 1_234_567, 12)
        progress.latency.record(1500)
        return progress
    }

    @Test func `On a terminal the view is drawn in place and never wraps`() {
        var view = LiveView(name: "goal-burst", columns: 40)
        let first = view.show(progress(3), clock: 0)
        #expect(first.hasPrefix("goal-burst: 3 of 20 s\n1,234,567 pushes accepted"))
        #expect(first.split(separator: "\n").allSatisfy { $0.count < 40 })
        let second = view.show(progress(4), clock: 0.2)
        #expect(second.hasPrefix("\u{1B}[3A\r\u{1B}[J"))
        #expect(view.interrupt(with: "a report").hasSuffix("a report\n"))
        #expect(view.clear().isEmpty, "nothing is drawn after a report")
    }

    @Test func `Without a terminal there is a plain line every five seconds`() {
        var view = LiveView(name: "goal-burst", columns: nil)
        let lines = (0..<50).map { view.show(progress(Double($0) / 5), clock: Double($0) / 5) }.filter { !$0.isEmpty }
        #expect(lines.count == 2)
        #expect(
            lines.allSatisfy { !$0.contains("\u{1B}") && $0.hasSuffix("\n") && $0.dropLast().allSatisfy { $0 != "\n" } }
        )
    }

    @Test func `The view tells the phase of the run`() {
        for (seconds, text) in [(nil, "preparing"), (-3, "warm-up, 3 s left"), (21, "waiting for the last pushes")]
            as [(Double?, String)]
        {
            var view = LiveView(name: "x", columns: 80)
            #expect(view.show(progress(seconds), clock: 0).hasPrefix("x: \(text)\n"))
        }
    }
}
