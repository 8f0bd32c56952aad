import CFanfareBench
import FanfareFanOut
import FanfareModel
import FanfareQueues
import FanfareTestSupport

/// One shard in front of a transport that takes a limited number of pushes a second and answers a millisecond later, in virtual time. Shows
/// the order in which the scheduler serves, not the speed of the machine.
private final class LimitedShard {
    let shard = Shard()
    /// Nanoseconds of the virtual clock.
    private(set) var now: Int64 = 0

    private let perSecond: Int
    private var batch = DeliveryBatch()
    /// Pushes that the transport can still take, multiplied by the ticks per second.
    private var credit = 0
    /// Completions due in this tick and in the following ones.
    private var flying: [[DeliveryCompletion]]
    private var ticks = 0

    static let ticksPerSecond = 10_000
    private static let answerTicks = 10

    init(perSecond: Int) {
        self.perSecond = perSecond
        flying = Array(repeating: [], count: LimitedShard.answerTicks)
    }

    private var moment: Moment {
        Moment(wallMilliseconds: 1_800_000_000_000 + now / 1_000_000, monotonicNanoseconds: now + 1)
    }

    func apply(_ command: ShardCommand) { shard.apply(command, at: moment) }

    func follow(_ members: Range<UInt64>, _ topic: TopicID) {
        for number in members {
            apply(.follow(ActivityID(number.mixed), .topic(topic), token: Fleet.token(number)))
        }
    }

    /// Advances a tick: pushes sent ten ticks ago are accepted, and new ones are taken up to the limit.
    func tick(_ taken: (Delivery, Payload) -> Void) {
        now += 1_000_000_000 / Int64(LimitedShard.ticksPerSecond)
        ticks += 1
        let turn = ticks % LimitedShard.answerTicks
        if !flying[turn].isEmpty { shard.complete(flying[turn], at: moment) }
        flying[turn].removeAll(keepingCapacity: true)
        credit += perSecond
        let limit = credit / LimitedShard.ticksPerSecond
        credit %= LimitedShard.ticksPerSecond
        if limit > 0 { shard.pull(limit: limit, at: moment, into: &batch) }
        for delivery in batch.deliveries {
            taken(delivery, batch.payload(of: delivery))
            flying[turn].append(
                DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted))
        }
        batch.removeAll()
        shard.drainFeedback { _ in }
    }
}

private func publication(_ serial: UInt64, _ topic: TopicID, alert: Bool = false) -> ShardCommand {
    .publish(
        Publication.test(
            serial, of: topic, state: ["score": .int(Int64(serial))],
            alert: alert
                ? Alert(
                    cause: "goal", class: .essential, text: AlertText(title: "Goal", body: ""), freshFor: .seconds(600),
                    highlight: nil) : nil))
}

/// Small audiences with alerts beside a large audience that is swept all the time, at 500,000 pushes a second.
enum Fairness {
    private static let perSecond = 500_000
    private static let membersEach: UInt64 = 100

    /// Prints one JSON object: milliseconds from the publication of an alert to each of its pushes.
    static func report(activities: Int) {
        let limited = LimitedShard(perSecond: perSecond)
        // A thousand audiences for ten million activities: one alert for every 20 ms of the large sweep.
        let audiences = max(10, activities / 10_000)
        let large = TopicID("large")
        limited.shard.reserve(activities: activities + audiences * Int(membersEach))
        limited.follow(0..<UInt64(activities), large)
        for audience in 0..<audiences {
            let first = UInt64(activities) + UInt64(audience) * membersEach
            limited.follow(first..<first + membersEach, TopicID("small \(audience)"))
        }
        var serial: UInt64 = 0
        func publish(_ topic: TopicID, alert: Bool = false) {
            serial += 1
            limited.apply(publication(serial, topic, alert: alert))
        }
        var random = SplitMix64(seed: 1)
        let order = (0..<audiences).shuffled(using: &random)
        var published: [String: Int64] = [:]
        var milliseconds: [Double] = []
        var others = 0
        for audience in order {
            let topic = TopicID("small \(audience)")
            publish(topic, alert: true)
            published[topic.rawValue] = limited.now
            for _ in 0..<LimitedShard.ticksPerSecond / 50 {
                if limited.shard.statistics.owed == 0 || serial == 1 { publish(large) }
                limited.tick { _, payload in
                    guard payload.alert != nil, let since = published[payload.logLabel] else { return others += 1 }
                    milliseconds.append(Double(limited.now - since) / 1e6)
                }
            }
        }
        let wanted = audiences * Int(membersEach)
        guard milliseconds.count == wanted, others > wanted else {
            // An engine that loses alerts must not report a latency.
            fatalError("\(milliseconds.count) alerts of \(wanted) came out, beside \(others) other pushes")
        }
        milliseconds.sort()
        func percentile(_ permille: Int) -> Double { milliseconds[(milliseconds.count - 1) * permille / 1000] }
        print("{\"p50\": \(percentile(500)), \"p99\": \(percentile(990)), \"p99.9\": \(percentile(999))}")
    }
}

/// A new version every 100 ms for a minute, for an audience whose sweep takes 20 s.
enum Overload {
    /// Seconds of a sweep at any size: ten million activities at 500,000 a second.
    private static let sweepSeconds = 20
    private static let seconds = 60

    /// Prints one JSON object: the longest time that an activity waited for its next version, in sweeps, and the growth of the process
    /// between the end of the first sweep and that of the last. No activity may get a version twice.
    static func report(activities: Int) {
        let limited = LimitedShard(perSecond: activities / sweepSeconds)
        let topic = TopicID("match")
        limited.shard.reserve(activities: activities)
        limited.follow(0..<UInt64(activities), topic)
        var versions = [UInt64](repeating: 0, count: activities)
        var reachedAt = [Int64](repeating: 0, count: activities)
        var waited: Int64 = 0
        var serial: UInt64 = 0
        var afterFirstSweep: Int64 = 0
        var last: Payload?
        var version: UInt64 = 0
        for tick in 0..<seconds * LimitedShard.ticksPerSecond {
            if tick % (LimitedShard.ticksPerSecond / 10) == 0 {
                serial += 1
                limited.apply(publication(serial, topic))
            }
            limited.tick { delivery, payload in
                if last !== payload {
                    last = payload
                    version = payload.state.reduce(0) { (48...57).contains($1) ? $0 * 10 + UInt64($1 - 48) : $0 }
                }
                let slot = Int(delivery.slot.rawValue)
                guard version > versions[slot] else {
                    // A figure is meaningless if an activity got an older version or the same again.
                    fatalError("activity \(slot) had version \(versions[slot]) and got \(version)")
                }
                versions[slot] = version
                waited = max(waited, limited.now - reachedAt[slot])
                reachedAt[slot] = limited.now
            }
            if tick == (sweepSeconds + 2) * LimitedShard.ticksPerSecond { afterFirstSweep = bench_resident_bytes() }
        }
        for last in reachedAt { waited = max(waited, limited.now - last) }
        print(
            """
            {"waited": \(Double(waited) / 1e9 / Double(sweepSeconds)), \
            "growth": \(bench_resident_bytes() - afterFirstSweep)}
            """)
    }
}
