import FanfareFeeds
package import FanfareModel
import Glibc

/// Everything that arrives in a run, with its planned moment. It is fixed before the run begins, and the scenario with its seed
/// determines it.
package struct Schedule: Sendable {
    /// One arrival; 16 bytes, because there may be millions.
    package struct Arrival: Sendable, Equatable {
        /// Nanoseconds from the schedule's start.
        package var planned: Int64
        package var action: Action
    }

    package enum Action: Sendable, Equatable {
        case event(Occasion, topic: UInt32)
        /// Event of a recording, by its index in `recorded`.
        case recorded(UInt32)
        case follow(subscriber: UInt32)
        case unfollow(subscriber: UInt32)
        /// The phone of a follower reports a new token.
        case rotate(subscriber: UInt32)
    }

    /// Arrivals in the order of their planned moments.
    package let arrivals: [Arrival]
    /// Events of a recording.
    package let recorded: [FeedEvent]
    /// Topics of the scenario.
    package let topics: [TopicID]
    /// Start and end of the measurement in nanoseconds from the schedule's start.
    package let measured: Range<Int64>
    /// Planned moments of the follows: of subscriber `initial + n` at index n.
    package let followsAt: [Int64]

    /// - Parameter recording: events with their log times; `nil` for a scenario of rates.
    package init(_ scenario: Scenario, recording: [(now: FeedTime, event: FeedEvent)]? = nil) {
        let warmUp = scenario.warmUp.wholeNanoseconds
        measured = warmUp..<warmUp + scenario.duration.wholeNanoseconds
        var drawing = Drawing(scenario, end: measured.upperBound)
        if let recording, let first = recording.first {
            drawing.play(recording.map(\.now), from: first.now, speed: scenario.feed.speed)
            topics = Schedule.topics(of: recording.map(\.event))
            recorded = recording.map(\.event)
        } else {
            drawing.drawFeed()
            topics = (0..<scenario.feed.topics).map { TopicID("\(scenario.feed.kind.rawValue)/\(1001 + $0)") }
            recorded = []
        }
        drawing.drawActivities()
        followsAt = drawing.followsAt
        arrivals = drawing.sorted()
    }

    /// Goals of the measurement; a recording tells none before it is decided.
    package var plannedGoals: Int {
        arrivals.count { arrival in
            guard measured.contains(arrival.planned), case .event(.goal, _) = arrival.action else { return false }
            return true
        }
    }

    private static func topics(of events: [FeedEvent]) -> [TopicID] {
        var known: Set<TopicID> = [.every]
        return events.compactMap { known.insert($0.topic).inserted ? $0.topic : nil }
    }

    /// Reads the events of a recording into memory.
    package static func read(_ paths: [String]) throws -> [(now: FeedTime, event: FeedEvent)] {
        let feed = try Feed(paths: paths)
        var events: [(now: FeedTime, event: FeedEvent)] = []
        while let (now, item) = feed.next() {
            if case .event(let event) = item { events.append((now, event)) }
        }
        return events
    }
}

/// Draws a schedule's arrivals. Each source draws from a generator of its own, so that one rate does not change another's arrivals.
private struct Drawing {
    private let scenario: Scenario
    /// Nanoseconds.
    private let end: Int64
    private var arrivals: [Schedule.Arrival] = []
    private(set) var followsAt: [Int64] = []

    init(_ scenario: Scenario, end: Int64) {
        self.scenario = scenario
        self.end = end
    }

    func sorted() -> [Schedule.Arrival] {
        // Equal moments keep the order in which their sources are drawn.
        let order = arrivals.indices.sorted { (arrivals[$0].planned, $0) < (arrivals[$1].planned, $1) }
        return order.map { arrivals[$0] }
    }

    mutating func drawFeed() {
        let feed = scenario.feed
        for (salt, occasion, rate) in [
            (1, Occasion.noise, feed.eventsPerSecond), (2, .update, feed.updatesPerSecond),
            (3, .goal, feed.goalsPerSecond),
        ] as [(UInt64, Occasion, Double)] {
            var random = SplitMix64(seed: (scenario.seed ^ salt << 32).mixed)
            let count = UInt64(feed.topics)
            for planned in moments(rate, in: 0..<end, &random) {
                let topic = UInt32(random.next().multipliedFullWidth(by: count).high)
                arrivals.append(Schedule.Arrival(planned: planned, action: .event(occasion, topic: topic)))
            }
        }
        for burst in feed.bursts {
            let start = scenario.warmUp.wholeNanoseconds + burst.at.wholeNanoseconds
            for number in 0..<burst.count {
                let share = Double(number) / Double(burst.count)
                let planned = start + Int64(Double(burst.within.wholeNanoseconds) * share)
                let topic = (burst.firstTopic + number % burst.topics) % feed.topics
                guard planned < end else { continue }
                arrivals.append(
                    Schedule.Arrival(planned: planned, action: .event(burst.occasion, topic: UInt32(topic))))
            }
        }
    }

    mutating func play(_ times: [FeedTime], from first: FeedTime, speed: Double) {
        for (index, time) in times.enumerated() {
            let planned = Int64(Double((time - first).milliseconds) * 1e6 / speed)
            guard planned < end else { continue }
            arrivals.append(Schedule.Arrival(planned: planned, action: .recorded(UInt32(index))))
        }
    }

    /// Of several engines each has people of its own, who come and go at moments of their own.
    private var part: UInt64 { UInt64(scenario.part ?? 0) << 40 }

    mutating func drawActivities() {
        let initial = scenario.subscribers.count
        var random = SplitMix64(seed: (scenario.seed ^ 4 << 32 ^ part).mixed)
        for planned in moments(scenario.churn.follows, &random) {
            let subscriber = UInt32(initial + followsAt.count)
            followsAt.append(planned)
            arrivals.append(Schedule.Arrival(planned: planned, action: .follow(subscriber: subscriber)))
        }
        // Each subscriber leaves once, in an order that does not follow the loading's: 2^31 − 1 is prime and larger than any count. Those
        // who followed later leave after them.
        var leavesAt: [Int64] = []
        for planned in moments(scenario.churn.unfollows, &random) {
            let later = leavesAt.count - initial
            guard later < 0 || later < followsAt.count && followsAt[later] < planned else { break }
            let subscriber = subscriber(leavesAt.count)
            leavesAt.append(planned)
            arrivals.append(Schedule.Arrival(planned: planned, action: .unfollow(subscriber: subscriber)))
        }
        drawRotations(leavesAt)
    }

    /// - Returns: the subscriber who leaves at this place, counted from 0.
    private func subscriber(_ place: Int) -> UInt32 {
        let initial = scenario.subscribers.count
        return UInt32(place < initial ? place * 2_147_483_647 % initial : place)
    }

    /// Draws new tokens of subscribers who follow at that moment.
    private mutating func drawRotations(_ leavesAt: [Int64]) {
        var random = SplitMix64(seed: (scenario.seed ^ 5 << 32 ^ part).mixed)
        var (left, followed) = (0, 0)
        for planned in moments(scenario.churn.rotations, &random) {
            while left < leavesAt.count, leavesAt[left] <= planned { left += 1 }
            while followed < followsAt.count, followsAt[followed] < planned { followed += 1 }
            let present = scenario.subscribers.count + followed - left
            guard present > 0 else { continue }
            let place = left + Int(random.next().multipliedFullWidth(by: UInt64(present)).high)
            arrivals.append(Schedule.Arrival(planned: planned, action: .rotate(subscriber: subscriber(place))))
        }
    }

    private func moments(_ arrivals: Scenario.Arrivals, _ random: inout SplitMix64) -> [Int64] {
        let warmUp = scenario.warmUp.wholeNanoseconds
        let from = min(end, warmUp + arrivals.from.wholeNanoseconds)
        let until = min(end, arrivals.until.map { warmUp + $0.wholeNanoseconds } ?? end)
        return moments(arrivals.perSecond, in: from..<max(from, until), &random)
    }

    /// Moments of a Poisson process: the gaps between arrivals are exponentially distributed.
    private func moments(_ perSecond: Double, in range: Range<Int64>, _ random: inout SplitMix64) -> [Int64] {
        guard perSecond > 0 else { return [] }
        var moments: [Int64] = []
        var at = Double(range.lowerBound)
        while true {
            let share = Double(random.next() >> 11) * 0x1p-53
            at += -log(1 - share) / perSecond * 1e9
            guard at < Double(range.upperBound) else { return moments }
            moments.append(Int64(at))
        }
    }
}
