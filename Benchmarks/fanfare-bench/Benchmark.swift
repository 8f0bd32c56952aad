import CFanfareBench

/// A benchmark for the C harness: a function and its context.
final class Benchmark {
    private let run: () -> bench_result

    private init(_ run: @escaping () -> bench_result) { self.run = run }

    /// Registers a benchmark. Parts of a name are separated by `/`; the last part names the implementation.
    static func register(_ name: String, checksum: UInt64, _ run: @escaping () -> bench_result) {
        // A benchmark stays registered for as long as the process lives, so the retain is never balanced.
        let context = Unmanaged.passRetained(Benchmark(run)).toOpaque()
        bench_register(
            name,
            { context in
                guard let context else { return bench_result() }
                return Unmanaged<Benchmark>.fromOpaque(context).takeUnretainedValue().run()
            }, context, checksum)
    }
}

/// Runs threads that begin together; each is a closure that returns its checksum.
enum Race {
    private final class Part: Sendable {
        let body: @Sendable () -> UInt64
        init(_ body: @escaping @Sendable () -> UInt64) { self.body = body }
    }

    /// Distributes the producers over the processors from the first on; the consumer has the last.
    static func run(
        producers: [@Sendable () -> UInt64], consumer: @escaping @Sendable () -> UInt64, _ work: bench_queue_work
    ) -> bench_result {
        run(producers + [consumer], items: work.items) { index in
            index < producers.count ? bench_producer_cpu(work, Int32(index)) : bench_consumer_cpu(work)
        }
    }

    /// - Parameter processor: returns the processor on which a thread runs.
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
        // The race has ended when the call returns; the parts must live until then.
        return withExtendedLifetime(parts) { bench_race(roles, Int32(roles.count), items) }
    }
}
