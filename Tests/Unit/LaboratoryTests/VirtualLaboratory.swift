import FanfareDecisions
import FanfareFanOut
import FanfareModel

@testable import Laboratory

/// A scenario with a sink, played in virtual time in one thread: the dispatcher, the decisions, one shard, its probe and its transport.
/// Nothing takes time but what the scenario says, so expected distributions are arithmetic.
final class VirtualLaboratory {
    private let scenario: Scenario
    private let schedule: Schedule
    private let population: Population
    private let shard = Shard()
    private let table = PublicationTable(capacity: 100_000)
    private let start = ScheduleStart()
    private let shelf = ReadingShelf()
    private var core = DecisionCore(rules: .builtIn, isLive: false)
    private var meter: DecisionMeter
    private var script: FeedScript
    private var probe: Probe!  // set in `init`
    private var sink: SinkTransport!  // set in `init`
    private(set) var now: Int64 = 1_000_000_000
    /// Part of the schedule in which the engine has no room, in nanoseconds from its start.
    var full: Range<Int64> = 0..<0
    /// Moment at which the sink wants to go on.
    private var wakeAt: Int64?

    private static let wall: Int64 = 1_790_000_000_000

    init(_ scenario: Scenario) {
        self.scenario = scenario
        schedule = Schedule(scenario)
        population = Population(scenario, topics: schedule.topics)
        meter = DecisionMeter(table, topics: schedule.topics)
        script = FeedScript(scenario.feed.kind, topics: schedule.topics)
        let plan = ProbePlan(schedule, population: population, start: start, shelf: shelf)
        let slots = scenario.subscribers.count + schedule.followsAt.count
        probe = Probe(shard, table, plan, slotsMax: slots) { [unowned self] in now }
        guard case .discard(let options) = scenario.transport else {
            preconditionFailure("virtual time has sinks only")
        }
        let setup = SinkTransport.Setup(options, start: start, measuredFrom: schedule.measured.lowerBound)
        sink = SinkTransport(
            probe, setup, clock: { [unowned self] in moment }, schedule: { [unowned self] in wake(after: $0) })
    }

    private func wake(after wait: Duration) { wakeAt = now + Int64(wait / .nanoseconds(1)) }

    struct Outcome {
        var reading: ProbeReading
        /// Times from the plan to the last activity, of goals.
        var last: LatencyHistogram
        var unfinishedGoals: Int
        /// Times from the plan until the core takes an event.
        var taken: LatencyHistogram
        var seconds: [ProbeReading.Interval]
        var lateness: LatencyHistogram
        /// Pairs of a publication and an activity that it is for, by series.
        var owed: [String: Int]
    }

    func run() -> Outcome {
        for subscriber in 0..<population.initial { shard.apply(population.follow(subscriber), at: moment) }
        for topic in schedule.topics.indices {
            for event in script.opening(of: topic, at: time) { decide(event, nil) }
        }
        settle(until: now + 60_000_000_000)
        start.set(now)
        meter.measured = now + schedule.measured.lowerBound..<now + schedule.measured.upperBound
        var dispatcher = Dispatcher(schedule, start: now)
        schedule: while true {
            let next = dispatcher.run(
                clock: { now },
                offer: { arrival in
                    guard !full.contains(now - start.moment) else { return false }
                    take(arrival)
                    return true
                })
            work()
            switch next {
            case .at(let due): settle(until: due)
            case .room: settle(until: start.moment + full.upperBound)
            case .over: break schedule
            }
        }
        settle(until: now + scenario.drain.wholeNanoseconds)
        meter.close(at: now)
        return Outcome(
            reading: probe.finish(), last: meter.stages[.goal, .last], unfinishedGoals: meter.goals.unfinished,
            taken: meter.taken, seconds: shelf.all.map(\.interval),
            lateness: dispatcher.lateness,
            owed: Audiences.owed(schedule, population, meter, start: start.moment).series)
    }

    private var moment: Moment {
        Moment(wallMilliseconds: VirtualLaboratory.wall + now / 1_000_000, monotonicNanoseconds: now)
    }
    private var time: FeedTime { moment.wall }

    private func take(_ arrival: Schedule.Arrival) {
        let planned = start.moment + arrival.planned
        switch arrival.action {
        case .event(let occasion, let topic):
            let event = script.event(occasion, topic: topic, at: time)
            decide(event, DecisionCause(topic: event.topic, planned: planned, occasion: occasion))
        case .follow(let subscriber): shard.apply(population.follow(Int(subscriber)), at: moment)
        case .unfollow(let subscriber): shard.apply(population.unfollow(Int(subscriber)), at: moment)
        case .rotate(let subscriber):
            shard.apply(population.rotate(Int(subscriber), planned: arrival.planned), at: moment)
        case .recorded: preconditionFailure("virtual time has no recordings")
        }
    }

    private func decide(_ event: FeedEvent, _ cause: DecisionCause?) {
        meter.cause = cause
        meter.noteTaken(at: now)
        meter.deadline = now
        var decisions: [Decision] = []
        core.apply(event, now: time, into: &decisions)
        for case .publish(let publication) in decisions {
            meter.note(publication, at: now)
            shard.apply(.publish(publication), at: moment)
        }
        work()
    }

    /// The sink's work, and what the shard tells of it: a shard that is not heard stops.
    private func work() {
        sink.workAvailable()
        for case .completed(let serial, let moment) in shard.takeFeedback() {
            meter.complete(serial, of: TopicID(""), at: moment?.nanoseconds)
        }
    }

    /// Lets the sink work until the moment.
    private func settle(until moment: Int64) {
        work()
        while let next = wakeAt, next <= moment {
            wakeAt = nil
            now = max(now, next)
            work()
        }
        now = max(now, moment)
    }
}
