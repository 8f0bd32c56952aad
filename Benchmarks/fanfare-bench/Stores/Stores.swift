import Fanfare
import FanfareLoop
import Foundation

/// Benchmarks of an engine with a store. Each part prints one JSON object, with units in the names of its figures.
enum Stores {
    enum Part: String, CaseIterable {
        /// Events until they are durable.
        case durability
        /// The same while rows of the people are rewritten.
        case rewriting
        /// New people until they are durable, imported and loaded.
        case people
        /// Sweeps with a store and without one.
        case cost
        /// Goals beside the ends of everybody else's cards.
        case ends
        /// A whole engine that is created on a store of which nothing is in the page cache.
        case restart
        /// One such engine, for `restart`, in a process of its own.
        case start
        /// One engine's sweeps, for `cost`, in a process of its own.
        case sweeps
    }

    /// Sizes of all parts; each part uses some of them.
    struct Sizes: Sendable {
        var people = 100_000
        var topics = 5_000
        /// People whose matches have goals, beside `people`, whose match ends.
        var followers = 5_000
        /// Entries of the log.
        var entries = 100_000
        /// Rows that are rewritten each second.
        var rate = 30_000
        /// Seconds for which events are handed in.
        var seconds = 10
        /// Sweeps with alerts and as many without, of each engine.
        var sweeps = 20
        /// Engines with a store and as many without.
        var rounds = 3
        /// Folder in which stores are made. For the parts that another one runs: the store itself, empty if there is none.
        var folder = NSTemporaryDirectory()
    }

    /// Runs a part, or says in a sentence why its figures do not count.
    static func report(_ part: Part, _ sizes: Sizes) {
        let figures: Figures
        // Stores are removed when `measure` returns, before the process ends.
        do { figures = try measure(part, sizes) } catch {
            FileHandle.standardError.write(Data("fanfare-bench: \(part.rawValue): \(error)\n".utf8))
            exit(1)
        }
        print(figures.json)
    }

    private static func measure(_ part: Part, _ sizes: Sizes) throws -> Figures {
        switch part {
        case .durability: try Durability.measure(sizes)
        case .rewriting: try Rewriting.measure(sizes)
        case .people: try NewPeople.measure(sizes)
        case .cost: try StoreCost.measure(sizes)
        case .ends: try Ends.measure(sizes)
        case .restart: try EngineRestart.measure(sizes)
        case .start: try EngineStart.measure(sizes)
        case .sweeps: try Sweeps.measure(sizes)
        }
    }
}

/// Reason why a benchmark's figures do not count.
struct BenchmarkFault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Named figures in the order in which they were measured.
struct Figures: Sendable {
    private(set) var all: [(name: String, value: Double)] = []

    /// Notes a figure, which is printed to four digits: none repeats to more. Whole numbers are exact.
    mutating func note(_ name: String, _ value: Double) { all.append((name, value)) }
    mutating func note(_ name: String, _ value: Int) { all.append((name, Double(value))) }

    subscript(name: String) -> Double? { all.first { $0.name == name }?.value }

    var json: String {
        let members = all.map { name, value in
            let isWhole = value == value.rounded() && abs(value) < 1e15
            return "\"\(name)\": " + (isWhole ? "\(Int(value))" : String(format: "%.4g", value))
        }
        return "{" + members.joined(separator: ", ") + "}"
    }

    /// Runs this program with other options, in a process of its own, and returns what it prints.
    static func ofProcess(_ options: [String]) throws -> Figures {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = options
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkFault("\(options.joined(separator: " ")) ended with status \(process.terminationStatus)")
        }
        var figures = Figures()
        for (name, value) in try JSONDecoder().decode([String: Double].self, from: printed) {
            figures.note(name, value)
        }
        return figures
    }
}

/// Blocks the main thread until a task has ended.
func finished<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let end = DispatchSemaphore(value: 0)
    let result = Locked<Result<Value, any Error>?>(nil)
    Task.detached {
        let value: Result<Value, any Error>
        do { value = .success(try await body()) } catch { value = .failure(error) }
        result.withLock { $0 = value }
        end.signal()
    }
    end.wait()
    guard let result = result.withLock({ $0 }) else { preconditionFailure("a task ends with a result") }
    return try result.get()
}
