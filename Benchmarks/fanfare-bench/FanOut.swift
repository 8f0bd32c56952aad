import CFanfareBench

/// Sweeps and publications on one shard.
enum FanOut {
    /// Publications timed together, because one takes less time than reading the clock.
    private static let publicationsPerRun = 64

    static func register(activities: Int) {
        let sizes = [activities / 100, activities / 10, activities]
        for size in sizes {
            let fresh = Lazy { Fleet(activities: size) }
            let churned = Lazy {
                let fleet = Fleet(activities: size)
                fleet.churnHalf(seed: 1)
                return fleet
            }
            // All sizes make the same number of pushes per run.
            let sweeps = activities / size
            Benchmark.register("sweep/\(size)/fresh", checksum: 0) { sweep(fresh.value, times: sweeps) }
            Benchmark.register("sweep/\(size)/churned", checksum: 0) { sweep(churned.value, times: sweeps) }
            Benchmark.register("publish/\(size)", checksum: 0) { publish(fresh.value) }
        }
        for (name, claims) in [("alerts", false), ("claimed", true)] {
            let fleet = Lazy { Fleet(activities: activities, alerts: true, claims: claims) }
            Benchmark.register("sweep/\(activities)/\(name)", checksum: 0) { sweep(fleet.value, times: 1) }
        }
        let alone = Lazy { Fleet(activities: 1) }
        Benchmark.register("publish/1", checksum: 0) { publish(alone.value) }
    }

    /// Publishes and brings all members to the new version. The checksum is the sum of the token bytes read, minus the expected sum.
    private static func sweep(_ fleet: Fleet, times: Int) -> bench_result {
        var pushes = 0
        var sum: UInt64 = 0
        let seconds = timed {
            for _ in 0..<times {
                fleet.publish()
                let swept = fleet.sweep()
                pushes += swept.pushes
                sum &+= swept.sum
            }
        }
        guard pushes == fleet.activities * times else { return bench_result() }
        return bench_result(
            seconds: seconds, items: Int64(pushes), checksum: sum &- fleet.tokenSum &* UInt64(times))
    }

    /// Times consecutive publications to an audience that was up to date. Neither making nor sending them is timed.
    private static func publish(_ fleet: Fleet) -> bench_result {
        let publications = (0..<publicationsPerRun).map { _ in fleet.nextPublication() }
        let seconds = timed { for publication in publications { fleet.publish(publication) } }
        let swept = fleet.sweep()
        guard swept.pushes == fleet.activities else { return bench_result() }
        return bench_result(
            seconds: seconds, items: Int64(publications.count), checksum: swept.sum &- fleet.tokenSum)
    }

    /// Share by which timed parts are made slower, to show which differences a comparison detects. Set once, before
    /// anything is timed and before another thread starts.
    nonisolated(unsafe) static var slower = 0.0

    static func timed(_ body: () -> Void) -> Double {
        let clock = ContinuousClock()
        let started = clock.now
        body()
        let end = started + (clock.now - started) * (1 + slower)
        while slower > 0, clock.now < end { continue }
        return (clock.now - started) / .seconds(1)
    }
}

/// A value made at its first use, so that a filtered run does not load fleets that it does not use.
final class Lazy<Value> {
    private var make: (() -> Value)?
    lazy var value: Value = {
        guard let make else { preconditionFailure("a lazy value is made once") }
        defer { self.make = nil }
        return make()
    }()

    init(_ make: @escaping () -> Value) { self.make = make }
}
