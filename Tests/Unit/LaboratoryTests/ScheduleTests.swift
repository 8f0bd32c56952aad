import FanfareFanOut
import FanfareModel
import Testing

@testable import Laboratory

@Suite struct ScheduleTests {
    private func scenario() -> Scenario {
        var scenario = Scenario(name: "test")
        scenario.seed = 7
        scenario.feed.eventsPerSecond = 200
        scenario.feed.updatesPerSecond = 20
        scenario.feed.goalsPerSecond = 2
        scenario.churn.follows.perSecond = 50
        scenario.churn.unfollows.perSecond = 30
        return scenario
    }

    private func count(_ schedule: Schedule, _ isWanted: (Schedule.Action) -> Bool) -> Int {
        schedule.arrivals.count { isWanted($0.action) }
    }

    /// A waste of 100 ns a push was none, because durations were cut to milliseconds.
    @Test func `A duration keeps its nanoseconds`() {
        #expect(Duration.nanoseconds(100).wholeNanoseconds == 100)
        #expect(Duration.seconds(86_400 * 7).wholeNanoseconds == 604_800_000_000_000)
        #expect(Duration.milliseconds(-1500).wholeNanoseconds == -1_500_000_000)
    }

    @Test func `A schedule is a function of the scenario and its seed`() {
        #expect(Schedule(scenario()).arrivals == Schedule(scenario()).arrivals)
        var other = scenario()
        other.seed = 8
        #expect(Schedule(scenario()).arrivals != Schedule(other).arrivals)
    }

    @Test func `Arrivals come in the order of their moments, at the rates of the scenario`() {
        let schedule = Schedule(scenario())
        let moments = schedule.arrivals.map(\.planned)
        #expect(moments == moments.sorted())
        #expect(moments.allSatisfy { (0..<25_000_000_000).contains($0) })
        let noise = count(schedule) { if case .event(.noise, _) = $0 { true } else { false } }
        // A Poisson process of 5,000 expected arrivals: four standard deviations are 283.
        #expect((4717...5283).contains(noise))
        let follows = count(schedule) { if case .follow = $0 { true } else { false } }
        #expect((1000 - 130...1000 + 130).contains(follows) && follows == schedule.followsAt.count)
    }

    @Test func `One rate does not change the arrivals of another`() {
        func goals(_ scenario: Scenario) -> [Schedule.Arrival] {
            Schedule(scenario).arrivals.filter { if case .event(.goal, _) = $0.action { true } else { false } }
        }
        var busier = scenario()
        busier.feed.eventsPerSecond = 1000
        busier.churn.follows.perSecond = 0
        #expect(goals(scenario()) == goals(busier))
    }

    @Test func `Nobody leaves twice`() {
        var scenario = scenario()
        scenario.subscribers.count = 500
        scenario.churn.unfollows.perSecond = 1000
        let left = Schedule(scenario).arrivals.compactMap { arrival -> UInt32? in
            if case .unfollow(let subscriber) = arrival.action { subscriber } else { nil }
        }
        // Those who followed later leave after all others.
        #expect(left.count >= 500 && Set(left).count == left.count)
        #expect(Set(left.prefix(500)) == Set(0..<500))
        #expect(Array(left.dropFirst(500)) == (0..<UInt32(left.count - 500)).map { 500 + $0 })
    }

    @Test func `Only those who follow get new tokens, and each token is another one`() {
        var scenario = scenario()
        scenario.subscribers.count = 500
        scenario.churn.unfollows.perSecond = 40
        scenario.churn.rotations.perSecond = 200
        let schedule = Schedule(scenario)
        var present = Set(UInt32(0)..<500)
        var tokens: Set<[UInt8]> = []
        var rotated = 0
        let population = Population(scenario, topics: schedule.topics)
        for arrival in schedule.arrivals {
            switch arrival.action {
            case .follow(let subscriber): present.insert(subscriber)
            case .unfollow(let subscriber): present.remove(subscriber)
            case .rotate(let subscriber):
                #expect(present.contains(subscriber))
                let token = population.token(of: Int(subscriber), since: arrival.planned)
                #expect(token != population.token(of: Int(subscriber)))
                #expect(Population.subscriber(of: token[...]) == Int(subscriber))
                #expect(tokens.insert(token).inserted)
                rotated += 1
            case .event, .recorded: break
            }
        }
        #expect(rotated > 1000)
    }

    @Test func `Engines of one scenario have one feed, and subscribers of their own`() {
        var whole = scenario()
        whole.subscribers.count = 1001
        (whole.subscribers.lineups, whole.engines) = (2...3, 2)
        let parts = (0..<2).map { whole.part($0) }
        #expect(parts.map(\.subscribers.count) == [501, 500])
        func events(_ scenario: Scenario) -> [Schedule.Arrival] {
            Schedule(scenario).arrivals.filter { if case .event = $0.action { true } else { false } }
        }
        #expect(events(parts[0]) == events(whole) && events(parts[1]) == events(whole))
        #expect(parts.map(\.definition) != [whole.definition, whole.definition])
        let populations = parts.map { Population($0, topics: Schedule($0).topics) }
        let keys = Set((0..<500).flatMap { subscriber in populations.map { $0.key(of: subscriber) } })
        #expect(keys.count == 1000)
        // Each lineup has two or three topics.
        #expect(1002...1503 ~= populations[0].followers().reduce(0, +))
    }

    @Test func `Of single followers each topic has its own in one of the engines`() {
        var whole = Scenario(name: "test")
        (whole.subscribers.count, whole.feed.topics, whole.engines) = (300, 300, 3)
        let counts = (0..<3).map { part in
            Population(whole.part(part), topics: Schedule(whole.part(part)).topics).followers()
        }
        #expect((0..<300).allSatisfy { topic in counts.reduce(0) { $0 + $1[topic] } == 1 })
        #expect(counts.map { $0.reduce(0, +) } == [100, 100, 100])
    }

    @Test func `A definition tells loads apart, and nothing else`() {
        let first = scenario()
        var same = first
        (same.name, same.seed, same.purpose.good) = ("another", 8, "fast")
        #expect(same.definition == first.definition)
        var longer = first
        longer.duration += .seconds(1)
        #expect(longer.definition != first.definition)
    }

    @Test func `A burst spreads its arrivals over its time and its topics`() {
        var scenario = Scenario(name: "test")
        scenario.warmUp = .seconds(1)
        var burst = LoadFeed.Burst(at: .seconds(2))
        (burst.within, burst.count, burst.firstTopic, burst.topics) = (.seconds(1), 4, 3, 2)
        scenario.feed.bursts = [burst]
        let expected = [(3000, 3), (3250, 4), (3500, 3), (3750, 4)].map { milliseconds, topic in
            Schedule.Arrival(planned: Int64(milliseconds) * 1_000_000, action: .event(.goal, topic: UInt32(topic)))
        }
        #expect(Schedule(scenario).arrivals == expected)
    }

    @Test func `A scaled scenario has proportionally fewer subscribers, and orders with them`() {
        var scenario = scenario()
        scenario.subscribers.count = 1000
        scenario.feed.topics = 1000
        let small = scenario.scaled(by: 0.1)
        #expect(small.subscribers.count == 100 && small.feed.topics == 100 && small.feed.updatesPerSecond == 2)
        scenario.feed.topics = 10
        let matches = scenario.scaled(by: 0.1)
        #expect(
            matches.feed.topics == 10 && matches.feed.updatesPerSecond == 20 && matches.churn.follows.perSecond == 5)
    }

    @Test func `A shortened scenario keeps its course`() {
        var scenario = scenario()
        scenario.duration = .seconds(20)
        scenario.feed.bursts = [LoadFeed.Burst(at: .seconds(10))]
        scenario.churn.follows.until = .seconds(15)
        let short = scenario.shortened(to: .seconds(2))
        #expect(short.duration == .seconds(2) && short.warmUp == .milliseconds(500))
        #expect(short.feed.bursts[0].at == .seconds(1) && short.churn.follows.until == .milliseconds(1500))
    }
}

@Suite struct PopulationTests {
    private func population(_ change: (inout Scenario) -> Void) -> Population {
        var scenario = Scenario(name: "test")
        scenario.subscribers.count = 2000
        change(&scenario)
        return Population(scenario, topics: (0..<10).map { TopicID("match/\($0)") })
    }

    private func topics(_ population: Population) -> [[TopicID]] {
        (0..<2000).compactMap { subscriber -> [TopicID]? in
            guard case .follow(_, let audience, _, _, _, _) = population.follow(subscriber) else { return nil }
            return audience.topics
        }
    }

    @Test func `A token tells its subscriber, and no two are equal`() {
        let population = population { $0.subscribers.sick = 3 }
        let tokens = (0..<2000).map { population.token(of: $0) }
        #expect(tokens.enumerated().allSatisfy { Population.subscriber(of: $1[...]) == $0 })
        #expect(tokens.count { $0.starts(with: [0xff, 0xff]) } == 3)
        #expect(tokens.allSatisfy { $0.count == 80 })
    }

    @Test func `By Zipf's law the first topic has about twice the second's followers`() {
        let followed = topics(population { $0.subscribers.zipf = 1 }).map { $0[0].rawValue }
        let first = followed.count { $0 == "match/0" }
        // A share of 0.341 of 2,000: four standard deviations are 85.
        #expect((682 - 85...682 + 85).contains(first))
        let even = topics(population { _ in }).map { $0[0].rawValue }
        #expect(even.count { $0 == "match/0" } == 200)
    }

    @Test func `Lineups have as many different topics as the scenario says`() {
        let lineups = topics(population { $0.subscribers.lineups = 3...8 })
        #expect(lineups.allSatisfy { (3...8).contains($0.count) && Set($0).count == $0.count })
        #expect(Set(lineups.map(\.count)).count == 6)
    }
}
