import CFanfareBench

/// A benchmark as C sees it: a function and what it is about.
final class Benchmark {
    private let run: () -> bench_result

    private init(_ run: @escaping () -> bench_result) { self.run = run }

    /// Names have parts with `/` between them; the last part is who does it.
    static func register(_ name: String, checksum: UInt64, _ run: @escaping () -> bench_result) {
        // Registered for as long as the process lives, so nothing gives the retain back.
        let context = Unmanaged.passRetained(Benchmark(run)).toOpaque()
        bench_register(
            name,
            { context in
                guard let context else { return bench_result() }
                return Unmanaged<Benchmark>.fromOpaque(context).takeUnretainedValue().run()
            }, context, checksum)
    }
}

/// Threads that begin together, each a closure that returns its checksum.
enum Race {
    private final class Part: Sendable {
        let body: @Sendable () -> UInt64
        init(_ body: @escaping @Sendable () -> UInt64) { self.body = body }
    }

    /// Producers take turns on the processors from the first on; the consumer has the last.
    static func run(
        producers: [@Sendable () -> UInt64], consumer: @escaping @Sendable () -> UInt64, _ work: bench_queue_work
    ) -> bench_result {
        run(producers + [consumer], items: work.items) { index in
            index < producers.count ? bench_producer_cpu(work, Int32(index)) : bench_consumer_cpu(work)
        }
    }

    /// - Parameter processor: on which each of them runs.
    static func run(
        _ bodies: [@Sendable () -> UInt64], items: Int64, processor: (_ index: Int) -> Int32
    ) -> bench_result {
        let parts = bodies.map(Part.init)
        let roles = parts.enumerated().map { index, part in
            bench_role(
                run: { context in
                    guard let context else { return 0 }
                    return Unmanaged<Part>.fromOpaque(context).takeUnretainedValue().body()
                },
                context: Unmanaged.passUnretained(part).toOpaque(), cpu: processor(index))
        }
        // The race has ended when the call returns; until then the parts must stay.
        return withExtendedLifetime(parts) { bench_race(roles, Int32(roles.count), items) }
    }
}
