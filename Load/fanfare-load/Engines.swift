import Dispatch
import Foundation
import Glibc
import Laboratory
import LaboratoryReport
import Synchronization

/// One run of a scenario in programs of its own: one for each engine, with a part of the subscribers and the whole feed. So a run finds
/// nothing of earlier ones in its memory.
///
/// Each program is told by `--engine N`, says `ready` when it has prepared its part, and waits for a line: so all start together. One that
/// dies is a fault of the run.
struct Engines {
    /// Word of an engine that waits for the start.
    static let ready = "ready"

    private let program: URL
    private let arguments: [String]
    private let scenario: Scenario

    /// - Parameters:
    ///   - arguments: of `fanfare-load run`, without the files that it writes.
    ///   - program: `fanfare-load` itself.
    init(
        _ scenario: Scenario, arguments: [String],
        program: URL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    ) {
        self.scenario = scenario
        self.arguments = arguments
        self.program = program
    }

    /// Runs them all, and merges their results.
    ///
    /// - Throws: `LaboratoryError` if a program has refused its command, as every further one would.
    func run() throws -> LoadRun {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fanfare-engines-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        // An engine may die before it reads the line that starts it.
        signal(SIGPIPE, SIG_IGN)
        var engines: [Engine] = []
        defer { for engine in engines { engine.end() } }
        for number in 1...scenario.engines {
            let name = scenario.engines > 1 ? "engine \(number)" : "the run's program"
            let file = folder.appending(path: "\(number).json").path
            engines.append(
                try Engine(program, arguments + ["--engine", "\(number)", "--json", file], name: name, file: file))
        }
        let interruption = Interruption { [engines] in for engine in engines { engine.end() } }
        defer { interruption.cancel() }
        // The parts of the others are not the load.
        let dead = engines.first { !$0.awaitReady() }
        for engine in engines { if dead == nil { engine.start() } else { engine.end() } }
        for engine in engines { engine.wait() }
        return try merged(dead.map { [$0] } ?? engines, isInterrupted: interruption.hasCome)
    }

    private func merged(_ engines: [Engine], isInterrupted: Bool) throws -> LoadRun {
        var runs: [LoadRun] = []
        var faults: [String] = []
        for engine in engines {
            switch try engine.outcome() {
            case .result(let run): runs.append(run)
            // One that had not begun leaves no result.
            case .death where isInterrupted: faults = [Verdict.interrupted]
            case .death(let sentence): faults.append(sentence)
            }
        }
        var run =
            LoadRun(simultaneous: runs, of: scenario.thresholds)
            ?? LoadRun(verdict: Verdict(faults: [], thresholds: scenario.thresholds.map { $0.judge([:]) }), seconds: 0)
        run.verdict = Verdict(faults: faults + run.verdict.faults, thresholds: run.verdict.thresholds)
        return run
    }
}

/// One of the programs. `end` may be called on any thread, and `Process` allows that.
private final class Engine: @unchecked Sendable {
    enum Outcome {
        case result(LoadRun)
        /// The program ended without a result: how it did, in a sentence.
        case death(String)
    }

    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private let name: String
    private let file: String

    init(_ program: URL, _ arguments: [String], name: String, file: String) throws {
        self.name = name
        self.file = file
        process.setProgram(program.path, ["run"] + arguments)
        (process.standardInput, process.standardOutput) = (input, output)
        do { try process.run() } catch {
            throw LaboratoryError("\(program.path): cannot be started: \(error.localizedDescription)")
        }
    }

    /// Waits until the engine has prepared its part.
    ///
    /// - Returns: `false` if it has ended instead.
    func awaitReady() -> Bool {
        var line = ""
        while line != Engines.ready + "\n" {
            let byte = output.fileHandleForReading.readData(ofLength: 1)
            guard !byte.isEmpty else { return false }
            line = (line.hasSuffix("\n") ? "" : line) + String(decoding: byte, as: UTF8.self)
        }
        return true
    }

    func start() { try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

    func wait() {
        // Its text is that of one part; read, so that the pipe does not fill.
        _ = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
    }

    /// An engine that waits for its start ends with its input.
    func end() {
        if process.isRunning { process.terminate() }
        try? input.fileHandleForWriting.close()
    }

    /// Called when the engine has ended.
    ///
    /// - Throws: `LaboratoryError` if it has refused its command; it has told why on standard error.
    func outcome() throws -> Outcome {
        let status = process.terminationStatus
        guard process.terminationReason == .exit else {
            return .death(
                "\(name) was ended by signal \(status) (\(String(cString: strsignal(status)))) before its end")
        }
        switch status {
        case ExitStatus.passed, ExitStatus.broken:
            guard let run = try LoadResult(file: file).runs.first else { return .death("\(name) has left no run") }
            return .result(run)
        case ExitStatus.usage: throw LaboratoryError("\(name) could not be carried out, for the reason above")
        default: return .death("\(name) ended with status \(status) and without a result")
        }
    }
}

/// Ends engines at Ctrl-C or SIGTERM, which would end this program alone, and they would go on: what they have measured is merged.
private final class Interruption {
    private final class Flag: Sendable { let isSet = Atomic(false) }

    private let flag = Flag()
    private var sources: [any DispatchSourceSignal] = []
    private static let signals = [SIGINT, SIGTERM]

    init(_ end: @escaping @Sendable () -> Void) {
        for number in Interruption.signals {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [flag] in
                flag.isSet.store(true, ordering: .relaxed)
                end()
            }
            source.resume()
            sources.append(source)
        }
    }

    var hasCome: Bool { flag.isSet.load(ordering: .relaxed) }

    func cancel() {
        for source in sources { source.cancel() }
        for number in Interruption.signals { signal(number, SIG_DFL) }
    }
}
