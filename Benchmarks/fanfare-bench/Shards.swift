import CFanfareBench
import FanfareDecisions
import FanfareFanOut
import FanfareModel
import FanfareQueues

/// Equal subscribers on one shard and on two, each on a processor of its own; and, measured separately, the core's work for them: it
/// decides, and passes each publication to every shard.
enum Shards {
    private static let sweepsPerRun = 4
    private static let eventsPerRun = 4096
    /// Most publications that wait in a ring.
    private static let ringCapacity = 256

    static func register(activities: Int) {
        for count in [1, 2] {
            let shards = Lazy { (0..<count).map { _ in Fleet(activities: activities / count) } }
            Benchmark.register("shards/\(count)/sweep", checksum: 0) { sweep(shards.value) }
            Benchmark.register("shards/\(count)/core", checksum: 0) { core(shards: count) }
        }
    }

    /// Each shard sweeps its members for each version; the run ends with the last shard.
    private static func sweep(_ fleets: [Fleet]) -> bench_result {
        let bodies = fleets.map { fleet -> @Sendable () -> UInt64 in
            // Only its thread uses the fleet until the race has ended.
            nonisolated(unsafe) let fleet = fleet
            return {
                var missing: UInt64 = 0
                for _ in 0..<sweepsPerRun {
                    fleet.publish()
                    let swept = fleet.sweep()
                    missing &+= UInt64(fleet.activities - swept.pushes) &+ swept.sum &- fleet.tokenSum
                }
                return missing
            }
        }
        let pushes = fleets.reduce(0) { $0 + $1.activities } * sweepsPerRun
        return Race.run(bodies, items: Int64(pushes)) { Int32($0) }
    }

    /// Measures the publications per second that the core decides and passes on, with its processor to itself.
    private static func core(shards: Int) -> bench_result {
        var core = DecisionCore(isLive: false)
        var decisions: [Decision] = []
        let rings = (0..<shards).map { _ in Link(capacity: ringCapacity) }
        var handed = 0
        var seconds = 0.0
        for first in stride(from: 0, to: eventsPerRun, by: ringCapacity) {
            // Each topic has an event every 2.5 s, more than its minimum interval, so each event is published.
            let events = (first..<first + ringCapacity).map { number in
                FeedEvent(
                    topic: TopicID("match/\(number % 10)"), topicKind: .generic,
                    at: FeedTime(milliseconds: 1_800_000_000_000 + Int64(number) * 250), kind: "patch",
                    change: .patch(["home": "Reds", "away": "Blues", "minute": .int(Int64(number))]))
            }
            seconds += FanOut.timed {
                for event in events {
                    core.apply(event, now: event.at, into: &decisions)
                    for case .publish(let publication) in decisions {
                        for ring in rings where ring.producer.tryPush(.publish(publication)) { handed += 1 }
                    }
                    decisions.removeAll(keepingCapacity: true)
                }
            }
            for ring in rings { _ = ring.consumer.drain(limit: ringCapacity) { _ in } }
        }
        return bench_result(
            seconds: seconds, items: Int64(eventsPerRun), checksum: UInt64(eventsPerRun * shards - handed))
    }

    private final class Link {
        @safe @exclusivity(unchecked) var producer: RingProducer<ShardCommand>
        @safe @exclusivity(unchecked) var consumer: RingConsumer<ShardCommand>

        init(capacity: Int) {
            let ring = OneToOneRing<ShardCommand>(capacity: capacity)
            producer = ring.takeProducer()
            consumer = ring.takeConsumer()
        }
    }
}
