import Fanfare
import FanfareFanOut
import FanfareLoop
import FanfareQueues

/// Latencies of several callers at once, each of whom waits for its receipt before the next call.
struct Callers: Sendable {
    let latency: Histogram
    let seconds: Double

    var calls: Int { Int(latency.count) }

    /// Calls until each caller has got `nil`.
    ///
    /// - Parameter call: returns the receipt of a caller's next call; `nil` when the caller is done.
    /// - Throws: the error of any call, and a fault if a receipt does not say that its call is durable.
    static func run(
        _ count: Int, _ call: @escaping @Sendable (_ caller: Int, _ turn: Int) async throws -> Receipt?
    ) async throws -> Callers {
        let latency = Locked(Histogram())
        let started = Clock.monotonicNanoseconds()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<count {
                group.addTask {
                    var (turn, calledAt) = (0, Clock.monotonicNanoseconds())
                    while let receipt = try await call(caller, turn) {
                        guard receipt.durability == .durable else {
                            throw BenchmarkFault(
                                "a receipt of caller \(caller) says \(receipt.durability), not durable")
                        }
                        let now = Clock.monotonicNanoseconds()
                        latency.withLock { [calledAt] in $0.record(now - calledAt) }
                        (turn, calledAt) = (turn + 1, Clock.monotonicNanoseconds())
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = Double(Clock.monotonicNanoseconds() - started) / 1e9
        return Callers(latency: latency.withLock { $0 }, seconds: seconds)
    }

    /// Notes calls per second, and microseconds from a call to its receipt.
    ///
    /// - Parameters:
    ///   - what: what a call hands in, in the plural.
    ///   - prefix: beginning of the figures' names.
    func write(_ what: String, _ prefix: String, to figures: inout Figures) {
        figures.note("\(prefix)\(what)_per_s", (Double(calls) / seconds).rounded())
        latency.write("\(prefix)", to: &figures)
    }
}

extension Histogram {
    /// Notes the percentiles of nanoseconds as microseconds.
    func write(_ prefix: String, to figures: inout Figures) {
        for (name, share) in [("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999)] {
            figures.note("\(prefix)\(name)_us", Double(nanoseconds(at: share) ?? 0) / 1000)
        }
    }
}
