import Testing

@testable import Laboratory

@Suite struct OpenLoopTests {
    /// Two thousand matches with one follower each; every five milliseconds one of them has a goal.
    private func goalEveryFiveMilliseconds() -> Scenario {
        var scenario = Scenario(name: "a goal every five milliseconds")
        scenario.warmUp = .zero
        scenario.duration = .seconds(10)
        scenario.subscribers.count = 2000
        scenario.feed.topics = 2000
        var burst = LoadFeed.Burst(at: .zero)
        (burst.within, burst.count, burst.topics) = (.seconds(10), 2000, 2000)
        scenario.feed.bursts = [burst]
        return scenario
    }

    /// Coordinated omission: a closed loop would see one slow push, because it would wait with the thousand behind it.
    @Test func `A transport that stalls for a second delays each push planned meanwhile, exactly as arithmetic says`() {
        var scenario = goalEveryFiveMilliseconds()
        var sink = Scenario.Sink()
        sink.stalls = [Scenario.Stall(at: .seconds(4), length: .seconds(1))]
        scenario.transport = .discard(sink)
        let outcome = VirtualLaboratory(scenario).run()
        var expected = LatencyHistogram()
        var late = LatencyHistogram()
        for millisecond in stride(from: 0, to: 10_000, by: 5) as StrideTo<Int64> {
            let isStalled = 4000..<5000 ~= millisecond
            expected.record(isStalled ? (5000 - millisecond) * 1000 : 0)
            if isStalled { late.record((5000 - millisecond) * 1000) }
        }
        #expect(outcome.reading.stages[.goal, .accepted] == expected)
        #expect(outcome.reading.stages[.goal, .left] == expected)
        // Each goal has one follower, who is the last, too. A shard tells no moment for what is complete in the moment of its arrival.
        #expect(outcome.last == late)
        #expect(expected.quantile(0.9) == 0 && expected.quantile(0.91).map { abs($0 - 100_000) <= 100 } == true)
        #expect(expected.max == 1_000_000)
        #expect(outcome.lateness.max == 0, "the generator was in time; the transport was not")
    }

    @Test
    func
        `An engine that takes nothing for a second delays each goal planned meanwhile, and the generator is not to blame`()
    {
        let laboratory = VirtualLaboratory(goalEveryFiveMilliseconds())
        laboratory.full = 4_000_000_000..<5_000_000_000
        let outcome = laboratory.run()
        var expected = LatencyHistogram()
        for millisecond in stride(from: 0, to: 10_000, by: 5) as StrideTo<Int64> {
            expected.record(4000..<5000 ~= millisecond ? (5000 - millisecond) * 1000 : 0)
        }
        #expect(outcome.reading.stages[.goal, .accepted] == expected)
        #expect(
            outcome.reading.stages[.goal, .age].max == 0,
            "the states were fresh when they left, for they were decided late")
        #expect(outcome.lateness.max == 0)
        #expect(outcome.taken == expected, "the events waited before the core")
    }

    /// A figure without the goals that never arrived would be the better the more of them are lost.
    @Test func `A goal that has not reached its last activity at the end counts with the time until then`() {
        var scenario = goalEveryFiveMilliseconds()
        scenario.drain = .seconds(1)
        var sink = Scenario.Sink()
        sink.stalls = [Scenario.Stall(at: .seconds(9), length: .seconds(60))]
        scenario.transport = .discard(sink)
        let outcome = VirtualLaboratory(scenario).run()
        #expect(outcome.unfinishedGoals == 200)
        #expect(outcome.last.count == 200)
        // The last goal is planned at 9.995 s, and the run ends a second later.
        #expect(outcome.last.min == 1_000_000 && outcome.last.max == 1_995_000)
        #expect(outcome.reading.stages[.goal, .accepted].count == 1800)
    }

    /// The second goal overtakes the first in the stall: no push brings the first one as its newest, and its followers wait the longest of all.
    @Test func `A goal that another one overtook in a stall counts with the time until its followers had the other`() {
        var scenario = goalEveryFiveMilliseconds()
        (scenario.subscribers.count, scenario.feed.topics) = (100, 1)
        scenario.feed.bursts = [3900, 4000, 4900].map { LoadFeed.Burst(at: .milliseconds($0)) }
        var sink = Scenario.Sink()
        sink.stalls = [Scenario.Stall(at: .milliseconds(3950), length: .milliseconds(1050))]
        scenario.transport = .discard(sink)
        let outcome = VirtualLaboratory(scenario).run()
        var accepted = LatencyHistogram()
        for (microseconds, count) in [(0, 100), (100_000, 100)] as [(Int64, Int)] {
            accepted.record(microseconds, times: count)
        }
        var reached = accepted
        reached.record(1_000_000, times: 100)
        #expect(outcome.reading.stages[.goal, .accepted] == accepted)
        #expect(outcome.reading.stages[.goal, .reached] == reached)
        #expect(outcome.owed["goal"] == 300)
        #expect(outcome.reading.goals.prefix(3).map(\.count) == [100, 100, 100], "and so do the goals' spreads")
        #expect(outcome.reading.goals[1].max == 1_000_000)
    }

    @Test func `A sink of less than a hundred pushes a second sends them at its rate`() {
        var scenario = goalEveryFiveMilliseconds()
        scenario.feed.bursts[0].count = 10
        scenario.drain = .seconds(30)
        var sink = Scenario.Sink()
        sink.pushesPerSecond = 50
        scenario.transport = .discard(sink)
        #expect(VirtualLaboratory(scenario).run().reading.stages[.goal, .accepted].count == 10)
    }

    @Test func `The seconds of a run show the stall where it was`() {
        var scenario = goalEveryFiveMilliseconds()
        var sink = Scenario.Sink()
        sink.stalls = [Scenario.Stall(at: .seconds(4), length: .seconds(1))]
        scenario.transport = .discard(sink)
        let seconds = VirtualLaboratory(scenario).run().seconds
        #expect(seconds.map(\.accepted).prefix(10) == [200, 200, 200, 200, 0, 400, 200, 200, 200, 200])
        #expect(seconds.map { $0.stages.all(.accepted).max }.prefix(10) == [0, 0, 0, 0, 0, 1_000_000, 0, 0, 0, 0])
    }

    @Test func `A transport that takes half of what is due makes each push wait for those before it`() {
        var scenario = goalEveryFiveMilliseconds()
        var sink = Scenario.Sink()
        sink.pushesPerSecond = 100
        scenario.transport = .discard(sink)
        scenario.drain = .seconds(30)
        let accepted = VirtualLaboratory(scenario).run().reading.stages[.goal, .accepted]
        #expect(accepted.count == 2000)
        // The push planned at n leaves at 2 n: the last waits ten seconds, but for the ten milliseconds that the sink may make up for.
        #expect(abs(accepted.max - 10_000_000) < 20_000)
        #expect(abs((accepted.quantile(0.5) ?? 0) - 5_000_000) < 20_000)
    }

    @Test func `Arrivals planned in the warm-up are not counted`() {
        var scenario = goalEveryFiveMilliseconds()
        scenario.warmUp = .seconds(3)
        scenario.duration = .seconds(7)
        scenario.feed.bursts[0].at = .zero - .seconds(3)
        let outcome = VirtualLaboratory(scenario).run()
        #expect(outcome.reading.stages[.goal, .accepted].count == 1400)
        #expect(outcome.seconds.map(\.accepted).reduce(0, +) == 1400)
        #expect(outcome.lateness.count == 1400)
    }

    @Test func `A new activity's first state counts from the planned moment of its follow`() {
        var scenario = goalEveryFiveMilliseconds()
        scenario.feed.bursts = []
        scenario.churn.follows.perSecond = 100
        var sink = Scenario.Sink()
        sink.stalls = [Scenario.Stall(at: .seconds(2), length: .seconds(1))]
        scenario.transport = .discard(sink)
        let follows = Schedule(scenario).followsAt
        var expected = LatencyHistogram()
        for planned in follows {
            expected.record(nanoseconds: 2_000_000_000..<3_000_000_000 ~= planned ? 3_000_000_000 - planned : 0)
        }
        let reading = VirtualLaboratory(scenario).run().reading
        #expect(reading.follow == expected)
        #expect(reading.stages[.goal, .accepted].count == 0)
    }
}

@Suite struct DispatcherTests {
    /// Arrivals at a rate, all within the first part of a second.
    private func schedule(perSecond: Int, count: Int, warmUp: Duration = .zero) -> Schedule {
        var scenario = Scenario(name: "arrivals")
        scenario.warmUp = warmUp
        scenario.duration = .seconds(10)
        scenario.feed.topics = 1
        var burst = LoadFeed.Burst(at: .zero)
        burst.within = .milliseconds(Int64(count) * 1000 / Int64(perSecond))
        (burst.occasion, burst.count) = (.noise, count)
        scenario.feed.bursts = [burst]
        return Schedule(scenario)
    }

    /// Lateness of a generator that needs a microsecond for each arrival.
    private func lateness(perSecond: Int, count: Int = 100_000) -> LatencyHistogram {
        var now: Int64 = 0
        var dispatcher = Dispatcher(schedule(perSecond: perSecond, count: count), start: 0)
        while case .at(let due) = dispatcher.run(
            clock: { now },
            offer: { _ in
                now += 1000
                return true
            })
        { now = due }
        return dispatcher.lateness
    }

    @Test func `Asked for ten times what it can generate, the generator is late, and the run fails`() {
        let lateness = lateness(perSecond: 10_000_000)
        // Arrival n is planned after n tenths of a microsecond and handed over after n microseconds.
        #expect(abs(lateness.max - 90_000) < 100)
        let faults = RunFigures.faults(lateness: lateness, limit: .milliseconds(50), left: 0, planned: 100_000)
        #expect(faults.count == 1 && faults[0].hasPrefix("generator late: "), "\(faults)")
        #expect(!Verdict(faults: faults, thresholds: []).passes)
    }

    @Test func `A generator that keeps up is not late`() {
        let lateness = lateness(perSecond: 500_000)
        #expect(lateness.count == 100_000 && lateness.max <= 1)
        #expect(RunFigures.faults(lateness: lateness, limit: .milliseconds(50), left: 0, planned: 100_000).isEmpty)
    }

    @Test func `Time for which the engine has no room during the warm-up is not counted`() {
        var now: Int64 = 0
        // The burst begins with the measured time; an engine that starts at 3.5 s was full for half a second of it.
        var dispatcher = Dispatcher(schedule(perSecond: 1000, count: 3000, warmUp: .seconds(3)), start: -1_000_000_000)
        loop: while true {
            switch dispatcher.run(clock: { now }, offer: { _ in now >= 2_500_000_000 }) {
            case .at(let due): now = due
            case .room: now += 1_000_000
            case .over: break loop
            }
        }
        #expect(dispatcher.full == 500_000_000)
    }

    @Test func `Arrivals that were never handed over fail the run`() {
        let inTime = RunFigures.faults(lateness: LatencyHistogram(), limit: .milliseconds(50), left: 7, planned: 100)
        #expect(inTime == ["engine full: it had no room for 7 of 100 arrivals until the end"])
        var lateness = LatencyHistogram()
        lateness.record(60_000)
        let late = RunFigures.faults(lateness: lateness, limit: .milliseconds(50), left: 7, planned: 100)
        #expect(late.last == "generator late: 7 of 100 arrivals were never handed over")
    }

    @Test func `Time for which the engine has no room is not the generator's lateness`() {
        var now: Int64 = 0
        var dispatcher = Dispatcher(schedule(perSecond: 1000, count: 3000), start: 0)
        let full = 1_000_000_000..<2_000_000_000 as Range<Int64>
        var order: [Int64] = []
        loop: while true {
            let next = dispatcher.run(
                clock: { now },
                offer: { arrival in
                    guard !full.contains(now) else { return false }
                    order.append(arrival.planned)
                    return true
                })
            switch next {
            case .at(let due): now = due
            case .room: now += 1_000_000
            case .over: break loop
            }
        }
        #expect(order == order.sorted() && order.count == 3000)
        #expect(dispatcher.full == 1_000_000_000)
        #expect(dispatcher.lateness.max <= 1000)
    }
}
