import Fanfare
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import Foundation

extension Engine {
    /// Creates an engine for a benchmark, whose lines for operators go to standard error.
    ///
    /// - Parameter transport: `nil` takes every push at once and notes nothing.
    convenience init(benchmarking options: Options, _ transport: TransportFactory? = nil) throws {
        var observer = Observer()
        observer.onReport = { FileHandle.standardError.write(Data("engine: \($0)\n".utf8)) }
        let factories = try transport.map { [$0] } ?? TransportChoice.discard.makeFactories(shards: 1)
        try self.init(options, observer: observer, apps: [], makeTransports: factories)
    }

    /// Creates an engine with a store in that folder; people who have nothing to see are all that it has.
    convenience init(benchmarking folder: String) throws {
        try self.init(benchmarking: Options(transport: .discard, store: .folder(folder)))
    }

    /// Creates an engine on a store of so many people, and waits until it has loaded all of them, which its initialiser does not do. Notes people per
    /// second.
    static func loaded(with people: Int, of folder: String, _ figures: inout Figures) throws -> Engine {
        let patience = Engine.patience(for: people)
        let started = Clock.monotonicNanoseconds()
        let engine = try Engine(benchmarking: folder)
        // A settle waits for the end of the loading.
        let isLoaded = try finished { await engine.settle(within: patience) }
        guard isLoaded else { throw BenchmarkFault("the engine has not loaded \(people) people in \(patience)") }
        let seconds = Double(Clock.monotonicNanoseconds() - started) / 1e9
        figures.note("loaded_people_per_s", (Double(people) / seconds).rounded())
        try finished { try await engine.expect(activities: people) }
        return engine
    }

    /// Longest wait for something that so many people need, and that is certain to come: a minute, and a second for each 20,000 of them.
    static func patience(for people: Int) -> Duration { .seconds(60 + people / 20_000) }

    /// Waits until the engine's figures, which are a tenth of a second old at most, have so many activities.
    func expect(activities: Int) async throws {
        let deadline = ContinuousClock.now + Engine.patience(for: activities)
        while true {
            let count = try await counts().activities
            if count == activities { return }
            guard ContinuousClock.now < deadline else {
                throw BenchmarkFault("the engine has \(count) activities, and not \(activities)")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Stops, and throws if anything that was taken is not known to be durable or has not been sent.
    func end() async throws {
        let report = await shutdown(within: .seconds(600))
        guard report.isDrained, report.refused == 0 else {
            throw BenchmarkFault(
                "the engine stopped with \(report.owed) pushes owed, \(report.refused) refused and \(report.unstored) events not durable"
            )
        }
    }
}
