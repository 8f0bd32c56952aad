import Foundation
import Glibc

/// The programs under test, built for release. `make test` sets their paths.
enum Binary: String, CaseIterable {
    case fanfare = "FANFARE_BIN"
    case simulator = "APNS_SIMULATOR_BIN"
    case judge = "DELIVERY_JUDGE_BIN"
    case distance = "APNS_DISTANCE_BIN"

    var path: String? { ProcessInfo.processInfo.environment[rawValue] }

    static let areThere = allCases.allSatisfy { $0.path != nil }
    static let whyNot =
        "\(allCases.map(\.rawValue).joined(separator: ", ")) are not set; `make test` builds and sets them"
}

/// A folder for one test, removed with the object.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "fanfare-end-to-end-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    @discardableResult func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: self(name)))
        return self(name)
    }

    @discardableResult func write(_ name: String, _ text: String) throws -> String { try write(name, text.utf8) }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A running program. Its two outputs go to files, so that it never waits for a reader.
final class Program: @unchecked Sendable {
    struct End: Sendable {
        /// The exit status; the negative number of the signal that killed it.
        let status: Int32
        let output: String
        let errors: String

        var errorLines: [Substring] { errors.split(separator: "\n") }
    }

    // Never changed after `init`; any thread may wait for a `Process` or signal it.
    private let process = Process()
    private let outputFile: String
    private let errorFile: String
    private let ended = DispatchSemaphore(value: 0)
    private let input: FileHandle?

    convenience init(_ binary: Binary, _ arguments: [String], folder: Folder, hasInput: Bool = false) throws {
        guard let path = binary.path else { throw Failure(Binary.whyNot) }
        try self.init(path: path, arguments, folder: folder, hasInput: hasInput)
    }

    init(path: String, _ arguments: [String], folder: Folder, hasInput: Bool = false) throws {
        let name = folder("program-\(UUID().uuidString)")
        outputFile = name + ".out"
        errorFile = name + ".err"
        for file in [outputFile, errorFile] { try Data().write(to: URL(fileURLWithPath: file)) }
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardOutput = FileHandle(forWritingAtPath: outputFile)
        process.standardError = FileHandle(forWritingAtPath: errorFile)
        let pipe = hasInput ? Pipe() : nil
        process.standardInput = pipe ?? FileHandle.nullDevice
        input = pipe?.fileHandleForWriting
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
    }

    /// A test that throws leaves no program behind.
    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    static func run(
        _ binary: Binary, _ arguments: [String], folder: Folder, within seconds: Double = 120
    ) throws -> End {
        try Program(binary, arguments, folder: folder).wait(within: seconds)
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    func write(_ text: String) throws { try write(Array(text.utf8)) }
    func write(_ bytes: [UInt8]) throws { try input?.write(contentsOf: Data(bytes)) }

    func closeInput() throws { try input?.close() }

    var outputSoFar: String { (try? String(contentsOfFile: outputFile, encoding: .utf8)) ?? "" }
    var errorsSoFar: String { (try? String(contentsOfFile: errorFile, encoding: .utf8)) ?? "" }

    func wait(within seconds: Double = 120) throws -> End {
        guard ended.wait(timeout: .now() + seconds) == .success else {
            send(SIGKILL)
            throw Failure("still running after \(seconds) s; it said:\n\(errorsSoFar.suffix(2000))")
        }
        let status = process.terminationStatus
        return End(
            status: process.terminationReason == .exit ? status : -status, output: outputSoFar, errors: errorsSoFar)
    }

    /// Waits until the program's output fulfils a condition. The outputs are files, which give no notice when they
    /// grow; hence the short sleeps.
    func waitUntil(
        _ what: String, within seconds: Double = 120, _ isTrue: (_ output: String, _ errors: String) -> Bool
    ) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !isTrue(outputSoFar, errorsSoFar) {
            guard ContinuousClock.now < deadline else {
                throw Failure("\(what): not within \(seconds) s; it said:\n\(outputSoFar)\n\(errorsSoFar)")
            }
            if !process.isRunning, ended.wait(timeout: .now()) == .success {
                ended.signal()
                guard isTrue(outputSoFar, errorsSoFar) else {
                    throw Failure("\(what): the program has ended; it said:\n\(outputSoFar)\n\(errorsSoFar)")
                }
                return
            }
            usleep(5000)
        }
    }
}
