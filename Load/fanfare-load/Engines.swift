import Dispatch
import Foundation
import Glibc
import Laboratory
import LaboratoryReport

/// Several programs that run one scenario at the same time, each with a part of the subscribers and the whole feed.
///
/// Each is told by `--engine N`, says `ready` when it has prepared its part, and waits for a line: so all start together.
struct Engines {
    /// Word of an engine that waits for the start.
    static let ready = "ready"

    private let arguments: [String]
    private let scenario: Scenario

    /// - Parameter arguments: of `fanfare-load run`, without the files that it writes.
    init(_ scenario: Scenario, arguments: [String]) {
        self.scenario = scenario
        self.arguments = arguments
    }

    /// Runs them all, and merges their results.
    func run() throws -> LoadRun {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fanfare-engines-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = (1...scenario.engines).map { folder.appending(path: "\($0).json").path }
        let engines = try files.enumerated().map { try Engine(arguments, number: $0.offset + 1, file: $0.element) }
        defer { for engine in engines { engine.end() } }
        let signals = [SIGINT, SIGTERM].map { number in Engines.watch(number) { for engine in engines { engine.end() } }
        }
        defer {
            for source in signals { source.cancel() }
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        }
        for engine in engines { try engine.awaitReady() }
        for engine in engines { engine.start() }
        for engine in engines { engine.wait() }
        guard
            let run = LoadRun(
                simultaneous: try files.flatMap { try LoadResult(file: $0).runs }, of: scenario.thresholds)
        else { throw LaboratoryError("\(scenario.name): no engine has left a result") }
        return run
    }

    /// Calls a handler for a signal instead of ending this program, whose engines would go on without it: they end early, and what they have
    /// measured is merged.
    private static func watch(_ number: CInt, _ handler: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: handler)
        source.resume()
        return source
    }

    /// One of the programs. `end` may be called on any thread, and `Process` allows that.
    private final class Engine: @unchecked Sendable {
        private let process = Process()
        private let (input, output) = (Pipe(), Pipe())
        private let number: Int

        init(_ arguments: [String], number: Int, file: String) throws {
            self.number = number
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["run"] + arguments + ["--engine", "\(number)", "--json", file]
            (process.standardInput, process.standardOutput) = (input, output)
            do { try process.run() } catch {
                throw LaboratoryError("engine \(number) cannot be started: \(error.localizedDescription)")
            }
        }

        func awaitReady() throws {
            var line = ""
            while line != Engines.ready + "\n" {
                let byte = output.fileHandleForReading.readData(ofLength: 1)
                guard !byte.isEmpty else {
                    throw LaboratoryError("engine \(number) ended before its part was prepared")
                }
                line = (line.hasSuffix("\n") ? "" : line) + String(decoding: byte, as: UTF8.self)
            }
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
    }
}
