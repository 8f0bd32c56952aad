import FanfareDecisions
import FanfareFanOut
import FanfareModel
import Testing

@testable import Laboratory

@Suite struct GrowthTests {
    @Test func `Growth is the median of the last fifth beside that of the first`() {
        #expect(RunFigures.growth(Array(repeating: 100, count: 50)) == 0)
        let rising = (0..<50).map { 100 + Double($0) }
        // Medians of 100…109 and 140…149.
        #expect(abs(RunFigures.growth(rising) - (144.5 / 104.5 - 1)) < 1e-9)
        var peak = Array(repeating: 100.0, count: 50)
        peak[49] = 1000
        #expect(RunFigures.growth(peak) == 0, "one reading is no growth")
    }
}

@Suite struct DescriptorGrowthTests {
    /// - Parameter leak: descriptors that stay open each second.
    private func growth(leak: Double) -> Double {
        RunFigures.growth(
            RunFigures.descriptors(
                (0..<50).map { second in
                    var interval = Interval(second: Double(second + 1))
                    interval.connections = 2 + second / 5
                    interval.descriptors = 30 + interval.connections + Int(leak * Double(second))
                    return interval
                }))
    }

    @Test func `Connections of a pool that grows are no growth of descriptors, and a leak is`() {
        #expect(growth(leak: 0) == 0)
        #expect(growth(leak: 0.2) > 0.1)
    }
}

@Suite struct RunRecorderTests {
    @Test func `After a stall each second has its own number, and the last part of one is not lost`() throws {
        let scenario = Scenario(name: "test")
        let recorder = RunRecorder(scenario, ReadingShelf(), try Companions(scenario))
        func look(_ milliseconds: Int64, events: Int) -> RunRecorder.Look {
            RunRecorder.Look(
                now: milliseconds * 1_000_000, events: events, counts: ShardCounts(), freshness: FreshnessReport(),
                commandsWaiting: 0, arrivalsWaiting: 0)
        }
        recorder.begin(at: 0)
        for (milliseconds, events) in [(0, 0), (1100, 10), (4200, 40)] as [(Int64, Int)] {
            recorder.look(look(milliseconds, events: events))
        }
        recorder.end(look(5020, events: 45))
        #expect(recorder.intervals.map(\.second) == [1, 2, 3, 4, 5, 5.02])
        #expect(recorder.intervals.map(\.events) == [10, 0, 0, 30, 5, 0])
    }

    @Test func `Each second has what was counted in it, by class, reason and thread`() throws {
        let scenario = Scenario(name: "test")
        let recorder = RunRecorder(scenario, ReadingShelf(), try Companions(scenario))
        func look(_ second: Int64, accepted: Int, dead: Int, stale: Int, unchanged: Int) -> RunRecorder.Look {
            var counts = ShardCounts()
            (counts.pushes.accepted, counts.pushes.dead, counts.alerts.stale) = (accepted, dead, stale)
            return RunRecorder.Look(
                now: second * 1_000_000_000, events: 0, counts: counts, freshness: FreshnessReport(),
                commandsWaiting: 0, arrivalsWaiting: 0, suppressed: [Count("events unchanged", unchanged)])
        }
        recorder.begin(at: 0)
        recorder.look(look(0, accepted: 100, dead: 5, stale: 1, unchanged: 0))
        recorder.look(look(1, accepted: 130, dead: 5, stale: 1, unchanged: 4))
        recorder.look(look(2, accepted: 130, dead: 8, stale: 3, unchanged: 4))
        #expect(recorder.intervals.map(\.answers) == [[Count("accepted", 30)], [Count("dead", 3)]])
        #expect(recorder.intervals.map(\.suppressed) == [[Count("events unchanged", 4)], [Count("alerts stale", 2)]])
        // A thread that has worked is in the second; which one it was is the kernel's.
        #expect(recorder.intervals.allSatisfy { $0.threadCosts?.allSatisfy { $0.cpuSeconds > 0 } == true })
    }

    @Test func `The age of a second is the greatest that any look of it has seen`() throws {
        let scenario = Scenario(name: "test")
        let recorder = RunRecorder(scenario, ReadingShelf(), try Companions(scenario))
        func look(_ milliseconds: Int64, oldest: Int64) -> RunRecorder.Look {
            var freshness = FreshnessReport()
            freshness.oldestUndelivered = .milliseconds(oldest)
            return RunRecorder.Look(
                now: milliseconds * 1_000_000, events: 0, counts: ShardCounts(), freshness: freshness,
                commandsWaiting: 0, arrivalsWaiting: 0)
        }
        recorder.begin(at: 0)
        // Nobody lacks anything at the looks that end the seconds.
        for (milliseconds, oldest) in [(0, 0), (300, 0), (600, 700), (1000, 0), (1500, 250), (2000, 0), (3000, 0)]
            as [(Int64, Int64)]
        {
            recorder.look(look(milliseconds, oldest: oldest))
        }
        #expect(recorder.intervals.map(\.oldestUndelivered) == [0.7, 0.25, 0])
    }

    @Test func `Counts and processor time of an engine that has ended are part of the run`() throws {
        let scenario = Scenario(name: "test")
        let recorder = RunRecorder(scenario, ReadingShelf(), try Companions(scenario))
        func look(_ second: Int64, accepted: Int, owed: Int = 0) -> RunRecorder.Look {
            var counts = ShardCounts()
            (counts.pushes.accepted, counts.owed, counts.activities) = (accepted, owed, 7)
            return RunRecorder.Look(
                now: second * 1_000_000_000, events: 0, counts: counts, freshness: FreshnessReport(),
                commandsWaiting: 0, arrivalsWaiting: 0)
        }
        recorder.begin(at: 0)
        recorder.look(look(0, accepted: 10))
        for accepted in [30, 5] {
            recorder.noteRestart(
                at: 9, look(1, accepted: accepted, owed: 4).counts, threads: ["fanfare shard 62": 3, "nucleus": 8])
        }
        recorder.end(look(2, accepted: 2))
        let (before, after) = (try #require(recorder.before), try #require(recorder.after))
        #expect(after.counts.pushes.accepted - before.counts.pushes.accepted == 27)
        #expect(after.counts.owed == 0 && after.counts.activities == 7)
        // Names that no thread of another test beside this one has.
        #expect(after.reading.threads["fanfare shard 62"] == 6 && after.reading.threads["nucleus"] == nil)
        #expect(try #require(recorder.restart).lacking == 4)
    }
}

@Suite struct DecisionMeterTests {
    /// Publications of a match: its beginning and some goals.
    private func publications(goals: Int) throws -> [Publication] {
        var scenario = Scenario(name: "test")
        scenario.feed.topics = 1
        var script = FeedScript(.football, topics: Schedule(scenario).topics)
        var core = DecisionCore(rules: .builtIn, isLive: false)
        var decisions: [Decision] = []
        let start = FeedTime(milliseconds: 1_790_000_000_000)
        for event in script.opening(of: 0, at: start) { core.apply(event, now: start, into: &decisions) }
        for goal in 1...goals {
            let now = start + .seconds(60 * goal)
            core.apply(script.event(.goal, topic: 0, at: now), now: now, into: &decisions)
        }
        return decisions.compactMap { if case .publish(let publication) = $0 { publication } else { nil } }
    }

    /// A meter that measures everything, and has noted the publications at zero.
    private func meter(_ publications: some Sequence<Publication>) -> DecisionMeter {
        var meter = DecisionMeter(PublicationTable(capacity: 100))
        meter.measured = 0..<Int64.max
        for publication in publications { meter.note(publication, at: 0) }
        return meter
    }

    @Test func `What an engine sends once more after another one counts once`() throws {
        let newest = try #require(try publications(goals: 2).last)
        var meter = meter([newest])
        meter.complete(newest.serial, of: newest.topicID, at: 1_000_000)
        let count = meter.stages.all(.last).count
        meter.noteRestart()
        meter.complete(newest.serial, of: newest.topicID, at: 9_000_000_000)
        #expect(meter.stages.all(.last).count == count && count == 1)
        #expect(meter.stages.all(.last).max == 1000)
    }

    /// Decisions on goals of one match whose planned moments are the meter's causes.
    private func taken(_ occasions: [(occasion: Laboratory.Occasion, planned: Int64, isApplied: Bool)]) throws -> Int {
        var scenario = Scenario(name: "test")
        scenario.feed.topics = 1
        let topic = try #require(Schedule(scenario).topics.first)
        var script = FeedScript(.football, topics: [topic])
        var core = DecisionCore(rules: .builtIn, isLive: false)
        var decisions: [Decision] = []
        let start = FeedTime(milliseconds: 1_790_000_000_000)
        for event in script.opening(of: 0, at: start) { core.apply(event, now: start, into: &decisions) }
        var meter = meter([])
        meter.measured = 0..<10_000
        for (index, next) in occasions.enumerated() {
            decisions.removeAll()
            meter.cause = DecisionMeter.Cause(topic: topic, planned: next.planned, occasion: next.occasion)
            let now = start + .seconds(60 * (index + 1))
            let event = script.event(next.occasion, topic: 0, at: now)
            if next.isApplied { core.apply(event, now: now, into: &decisions) }
            for case .record(let record) in decisions { meter.note(record) }
            meter.cause = nil
        }
        return meter.goalsTaken
    }

    @Test func `A goal counts as taken if it is of the measurement and the engine has decided it`() throws {
        #expect(try taken([(.goal, 1, true), (.goal, 2, true)]) == 2)
        #expect(try taken([(.goal, 1, true), (.goal, 2, false)]) == 1, "one never reached the engine")
        #expect(try taken([(.goal, 1, true), (.goal, 10_001, true)]) == 1, "one is planned after the measurement")
        #expect(try taken([(.update, 1, true)]) == 0)
    }

    @Test func `What an engine had still to bring at its end is finished by what the next one brings`() throws {
        let publications = try publications(goals: 2)
        let newest = try #require(publications.last)
        #expect(publications.count > 2)
        var meter = meter(publications)
        meter.noteRestart()
        meter.complete(newest.serial, of: newest.topicID, at: 2_000_000)
        #expect(meter.stages.all(.last).count == Int64(publications.count))
        meter.close(at: 9_000_000_000)
        #expect(meter.unfinishedGoals == 0 && meter.stages.all(.last).count == Int64(publications.count))
    }
}

@Suite struct ProcessReadingsTests {
    @Test func `The kernel tells this process's memory, threads, descriptors and processor time`() {
        let memory = ProcessReadings.memory()
        #expect(memory.residentBytes > 1_000_000 && memory.threads >= 1 && memory.descriptors >= 3)
        #expect(ProcessReadings.threads().values.reduce(0, +) > 0)
    }

    @Test func `A process that is gone has no threads`() { #expect(ProcessReadings.threads(of: Int32.max).isEmpty) }
}

@Suite struct StageHistogramsTests {
    @Test func `A time belongs to its series, to all, and to its topic kind, at rest as well`() {
        var stages = StageHistograms()
        let goal = PublicationTable.Row(series: .goal, kind: 1)
        let silent = PublicationTable.Row(series: .conserving, kind: 0)
        stages.record(.accepted, goal, nanoseconds: 5_000_000, times: 3)
        stages.record(.accepted, silent, nanoseconds: 9_000_000)
        stages.record(.age, silent, nanoseconds: 1_000_000)
        for stages in [stages, SparseStageHistograms(stages).histograms] {
            #expect(stages[.goal, .accepted].count == 3 && stages[.goal, .accepted].max == 5000)
            #expect(stages[kind: 1, .accepted] == stages[.goal, .accepted])
            #expect(stages.all(.accepted).count == 4 && stages.all(.accepted).max == 9000)
            #expect(stages[.goal, .age].count == 0 && stages[kind: 0, .age].count == 1)
        }
        // A lone kind is kept once, and is as large as all series.
        var lone = StageHistograms()
        lone.record(.left, goal, nanoseconds: 2_000_000)
        lone.record(.left, PublicationTable.Row(series: .alert, kind: 1), nanoseconds: 3_000_000)
        let rested = SparseStageHistograms(lone).histograms
        #expect(rested[kind: 1, .left] == lone[kind: 1, .left] && rested[kind: 0, .left].count == 0)
        var sum = stages
        sum.merge(stages)
        #expect(sum.all(.accepted).count == 8)
        let names = stages.latencies(kinds: ["order", "football"]).map { "\($0.series) \($0.stage)" }
        #expect(
            names == [
                "goal accepted", "conserving accepted", "all accepted", "kind/order accepted", "kind/football accepted",
                "conserving age", "all age", "kind/order age",
            ])
    }
}

@Suite struct ProbeTests {
    /// A source that hands out what a test gives it, and takes answers.
    private final class Source: DeliverySource {
        var due: [(slot: UInt32, generation: UInt32, serial: UInt64)] = []
        private(set) var completed = 0
        let demand = 0

        func pullByLot(_: UInt64, at moment: Moment, into batch: inout DeliveryBatch) {
            pull(limit: 1, at: moment, into: &batch)
        }

        func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
            for push in due.prefix(limit) {
                batch.append(
                    slot: ActivitySlot(push.slot), generation: push.generation, payload: Self.payload(push.serial),
                    token: Array(repeating: 0, count: 16))
            }
            due.removeFirst(min(limit, due.count))
        }

        func complete(_ completions: [DeliveryCompletion], at moment: Moment) { completed += completions.count }

        private static func payload(_ serial: UInt64) -> Payload {
            Payload(
                event: .update, logLabel: "", state: [], stamp: 0, staleDate: nil, dismissalDate: nil, alert: nil,
                priority: .immediate, serial: serial)
        }
    }

    /// A probe at work: publications planned at zero, pushes at the moments that a test says.
    private final class Stage {
        let source = Source()
        var now: Int64 = 0
        let probe: Probe
        let table = PublicationTable(capacity: 10)
        let shelf = ReadingShelf()

        /// - Parameter former: the stage whose slots the probe knows.
        init(lineups: ClosedRange<Int>? = nil, after former: Stage? = nil) {
            var scenario = Scenario(name: "test")
            scenario.warmUp = .zero
            scenario.subscribers.count = 10
            scenario.subscribers.lineups = lineups
            let schedule = Schedule(scenario)
            for serial in 1...3 as ClosedRange<UInt64> {
                table.note(PublicationTable.Row(series: .goal, goal: UInt8(serial), isMeasured: true), of: serial)
            }
            let start = ScheduleStart()
            start.set(0)
            let plan = ProbePlan(
                schedule, population: Population(scenario, topics: schedule.topics), start: start, shelf: shelf
            )
            var now: () -> Int64 = { 0 }
            probe = Probe(source, table, plan, slotsMax: 4, marks: former?.probe.slots, clock: { now() })
            now = { [unowned self] in self.now }
        }

        func pull(_ slot: UInt32, _ serial: UInt64, generation: UInt32 = 0, at milliseconds: Int64) {
            now = milliseconds * 1_000_000
            source.due.append((slot, generation, serial))
            var batch = DeliveryBatch()
            probe.pull(limit: 10, at: moment, into: &batch)
            #expect(batch.deliveries.count == 1)
        }

        func answer(_ outcome: DeliveryOutcome, _ slot: UInt32, generation: UInt32 = 0, at milliseconds: Int64) {
            now = milliseconds * 1_000_000
            probe.complete(
                [DeliveryCompletion(slot: ActivitySlot(slot), generation: generation, outcome: outcome)], at: moment)
        }

        private var moment: Moment { Moment(wallMilliseconds: 0, monotonicNanoseconds: now) }
    }

    @Test func `A push that was not processed counts once, when it is accepted, from the planned moment`() {
        let stage = Stage()
        stage.pull(0, 1, at: 5)
        stage.answer(.notProcessed, 0, at: 20)
        stage.pull(0, 1, at: 30)
        stage.answer(.accepted, 0, at: 40)
        let reading = stage.probe.finish()
        #expect(reading.stages[.goal, .left].count == 1 && reading.stages[.goal, .left].max == 5000)
        #expect(reading.stages[.goal, .accepted].count == 1 && reading.stages[.goal, .accepted].max == 40_000)
        #expect(stage.source.completed == 2, "the shard gets every answer")
    }

    @Test func `A publication that was accepted is not counted again`() {
        let stage = Stage()
        for milliseconds in [10, 20] as [Int64] {
            stage.pull(1, 2, at: milliseconds)
            stage.answer(.accepted, 1, at: milliseconds + 1)
        }
        let reading = stage.probe.finish()
        #expect(reading.stages[.goal, .accepted].count == 1 && reading.goals[1].count == 1)
    }

    @Test
    func `After a restart a publication that was accepted counts as repeated, and one without an answer as before`() {
        let former = Stage()
        former.pull(0, 1, at: 5)
        former.answer(.accepted, 0, at: 6)
        former.pull(1, 1, at: 7)
        let stage = Stage(after: former)
        for slot in [0, 1] as [UInt32] {
            stage.pull(slot, 1, at: 30)
            stage.answer(.accepted, slot, at: 40)
        }
        let reading = stage.probe.finish()
        #expect(reading.repeated == 1 && reading.stages[.goal, .left].count == 0)
        #expect(reading.stages[.goal, .accepted].count == 1 && reading.stages[.goal, .accepted].max == 40_000)
    }

    @Test func `The end of a card after its unfollow is neither news nor a repeat`() {
        let stage = Stage()
        stage.pull(0, 1, at: 10)
        stage.answer(.accepted, 0, at: 20)
        stage.pull(0, 0, at: 30)
        stage.answer(.accepted, 0, at: 40)
        let reading = stage.probe.finish()
        #expect(reading.ends == 1 && reading.repeated == 0)
        #expect(reading.stages[.goal, .accepted].count == 1)
    }

    @Test func `The next tenant of a slot is another activity`() {
        let stage = Stage()
        for generation in [0, 256, 512] as [UInt32] {
            stage.pull(1, 3, generation: generation, at: 10)
            stage.answer(.accepted, 1, generation: generation, at: 11)
        }
        stage.answer(.accepted, 1, generation: 0, at: 12)
        #expect(stage.probe.finish().stages[.goal, .accepted].count == 3)
    }

    @Test func `An activity that has waited, or has a new token, is the tenant that it was`() {
        let stage = Stage()
        for generation in 256..<259 as Range<UInt32> {
            stage.pull(1, 3, generation: generation, at: 10)
            stage.answer(.accepted, 1, generation: generation, at: 11)
        }
        let reading = stage.probe.finish()
        #expect(reading.stages[.goal, .accepted].count == 1 && reading.repeated == 2)
    }

    @Test func `A spotlight that returns to a topic brings no goal again`() {
        let stage = Stage(lineups: 2...3)
        for (serial, milliseconds) in [(1, 10), (2, 20), (1, 900), (2, 950)] as [(UInt64, Int64)] {
            stage.pull(1, serial, at: milliseconds)
            stage.answer(.accepted, 1, at: milliseconds + 1)
        }
        let reading = stage.probe.finish()
        #expect(reading.stages[.goal, .accepted].count == 2 && reading.stages[.goal, .accepted].max == 21_000)
        #expect(reading.stages[.goal, .left].count == 2 && reading.repeated == 2)
    }

    @Test func `A spotlight that comes to a topic after everybody has had its goal brings no news`() {
        let stage = Stage(lineups: 2...3)
        stage.pull(1, 1, at: 10)
        stage.answer(.accepted, 1, at: 11)
        // The second lineup has had the goal in a row below its spotlight, and nobody lacks it.
        stage.table.finish(1)
        stage.pull(2, 1, at: 20_000)
        stage.answer(.accepted, 2, at: 20_001)
        let reading = stage.probe.finish()
        #expect(reading.stages[.goal, .left].count == 1 && reading.stages[.goal, .accepted].count == 1)
        #expect(reading.stages[.goal, .accepted].max == 11_000 && reading.repeated == 1)
    }

    @Test func `The measurement begins once, before its first push is counted`() {
        let stage = Stage()
        var begun = 0
        stage.probe.onBegin = { begun += 1 }
        stage.pull(0, 1, at: -5)
        #expect(begun == 0, "a push of the opening")
        stage.pull(1, 1, at: 0)
        #expect(begun == 1 && stage.probe.finish().stages[.goal, .left].count == 2)
        stage.pull(2, 1, at: 1200)
        #expect(begun == 1)
    }

    @Test func `Bytes belong to the second in which they were written`() {
        let stage = Stage()
        stage.pull(0, 1, at: -5)
        stage.probe.noteBytes(700)
        stage.pull(0, 1, at: 10)
        stage.probe.noteBytes(1000)
        stage.pull(1, 1, at: 1500)
        stage.probe.noteBytes(1100)
        _ = stage.probe.finish()
        #expect(stage.shelf.all.map(\.bytes) == [300, 100])
    }

    @Test func `A push beyond the known slots is passed on and counted as not measured`() {
        let stage = Stage()
        stage.pull(4, 1, at: 1)
        stage.answer(.accepted, 4, at: 2)
        let reading = stage.probe.finish()
        #expect(reading.untracked == 1 && reading.stages[.goal, .accepted].count == 0 && stage.source.completed == 1)
    }
}

@Suite struct PushCostsTests {
    @Test
    func `A slice's cost is its thread's time by its pushes, and what was before the first reading does not count`() {
        var costs = PushCosts()
        var cpu: Int64 = 7_000_000
        costs.note(100_000) { cpu }
        for nanoseconds in [700, 800, 900] as [Int64] {
            cpu += nanoseconds * 2 * 3000
            costs.note(3000) { cpu }
            costs.note(3000) { cpu }
        }
        #expect(costs.histogram.count == 3)
        #expect(costs.histogram.min == 7000 && costs.histogram.max == 9000)
    }

    @Test func `Time that a spin took too long is not wasted again`() {
        var waste = PushWaste()
        waste.perPush = 30
        var spent: Int64 = 0
        for _ in 0..<1000 {
            waste.spend(10) { wanted in
                // A clock that is read every 700 ns.
                let took = (wanted + 699) / 700 * 700
                spent += took
                return took
            }
        }
        #expect(abs(spent - 300_000) <= 701)
        var none = PushWaste()
        none.spend(10) { _ in
            Issue.record("nothing is to be wasted")
            return 0
        }
    }
}
