import FanfareModel
import Testing

@testable import Laboratory

@Suite struct AudiencesTests {
    /// Ten subscribers of two topics; others follow and leave.
    private func scenario() -> Scenario {
        var scenario = Scenario(name: "test")
        (scenario.warmUp, scenario.duration) = (.zero, .seconds(10))
        scenario.subscribers.count = 10
        scenario.feed.topics = 2
        return scenario
    }

    private func sizes(
        _ scenario: Scenario, at seconds: [Double], deaths: (Population) -> [UInt64: Int64] = { _ in [:] }
    ) -> [Int] {
        let schedule = Schedule(scenario)
        let population = Population(scenario, topics: schedule.topics)
        var audiences = Audiences(schedule, population, deaths: deaths(population))
        return seconds.map { second in
            (0..<2).reduce(0) { $0 + audiences.size(of: $1, at: Int64(second * 1e9)) }
        }
    }

    @Test func `Who follows later belongs to the audience from then on, and who leaves does no more`() {
        var scenario = scenario()
        scenario.churn.follows.perSecond = 20
        (scenario.churn.follows.from, scenario.churn.follows.until) = (.seconds(2), .seconds(3))
        scenario.churn.unfollows.perSecond = 2
        scenario.churn.unfollows.from = .seconds(5)
        scenario.churn.unfollows.until = .seconds(7)
        let schedule = Schedule(scenario)
        let left = schedule.arrivals.count { if case .unfollow = $0.action { true } else { false } }
        #expect(schedule.followsAt.count > 5 && left > 0, "seed \(scenario.seed)")
        let come = 10 + schedule.followsAt.count
        #expect(sizes(scenario, at: [1, 4, 9]) == [10, come, come - left])
    }

    @Test func `An activity whose token has died is in no audience, and one that leaves as well goes once`() {
        var scenario = scenario()
        func deaths(_ population: Population) -> [UInt64: Int64] {
            [population.key(of: 3): 2_000_000_000, population.key(of: 4): -1]
        }
        #expect(sizes(scenario, at: [1, 3], deaths: deaths) == [9, 8])
        scenario.churn.unfollows.perSecond = 100
        scenario.churn.unfollows.from = .seconds(4)
        #expect(sizes(scenario, at: [9], deaths: deaths) == [0])
    }

    /// The transport stops for good at 9 s: of two thousand goals with one follower each two hundred get nowhere.
    @Test func `A run that loses a tenth of its pushes tells that its percentiles are those of nine tenths`() {
        var scenario = Scenario(name: "a goal every five milliseconds")
        (scenario.warmUp, scenario.duration, scenario.drain) = (.zero, .seconds(10), .seconds(1))
        (scenario.subscribers.count, scenario.feed.topics) = (2000, 2000)
        var burst = LoadFeed.Burst(at: .zero)
        (burst.within, burst.count, burst.topics) = (.seconds(10), 2000, 2000)
        scenario.feed.bursts = [burst]
        var sink = Scenario.Sink()
        sink.stalls = [Scenario.Stall(at: .seconds(9), length: .seconds(60))]
        scenario.transport = .discard(sink)
        let outcome = VirtualLaboratory(scenario).run()
        #expect(outcome.owed == ["goal": 2000, "all": 2000, "kind/football": 2000])
        var accepted = Latency(
            series: "goal", stage: "accepted", histogram: outcome.reading.stages[.goal, .accepted])
        accepted.owed = outcome.owed["goal"]
        #expect(accepted.figures["goal.accepted.p9999"] == 0, "which flatters")
        #expect(accepted.figures["goal.accepted.share"] == 0.9 && accepted.figures["goal.accepted.owed"] == 2000)
        #expect(accepted.shareOfOwed == "90 %")
    }

    @Test func `One push of a million that is missing is not rounded away, and without any owed there is no share`() {
        var histogram = LatencyHistogram()
        histogram.record(1000, times: 999_999)
        var latency = Latency(series: "goal", stage: "accepted", histogram: histogram)
        #expect(latency.shareOfOwed == nil && latency.figures["goal.accepted.share"] == nil)
        latency.owed = 1_000_000
        #expect(latency.shareOfOwed == "99.9999 %")
        latency.owed = 0
        #expect(latency.shareOfOwed == nil && latency.figures["goal.accepted.share"] == nil)
    }
}
