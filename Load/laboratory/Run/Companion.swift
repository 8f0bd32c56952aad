package import Foundation

/// A program beside the run: the APNs simulator, or the relay before it. It prints `listening on HOST:PORT` when it is ready, and a line
/// `summary key=value …` when it is told to end.
final class Companion {
    static let simulator = "apns-simulator"

    let name: String
    let port: Int
    private let process = Process()
    private let output = Pipe()

    /// - Parameter name: name of the executable, which lies beside this one's.
    init(_ name: String, _ arguments: [String]) throws(LaboratoryError) {
        self.name = name
        let path = ProgramFiles.folder + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw LaboratoryError("\(path): missing; build it: swift build -c release --product \(name)")
        }
        process.setProgram(path, arguments)
        process.standardOutput = output
        do { try process.run() } catch { throw LaboratoryError("\(path): cannot be started: \(error)") }
        var line = ""
        while !line.hasSuffix("\n") {
            let byte = output.fileHandleForReading.readData(ofLength: 1)
            guard !byte.isEmpty else {
                process.waitUntilExit()
                throw LaboratoryError("\(name) \(arguments.joined(separator: " ")): ended before it was listening")
            }
            line += String(decoding: byte, as: UTF8.self)
        }
        guard let colon = line.lastIndex(of: ":"), let port = Int(line[line.index(after: colon)...].dropLast()) else {
            process.terminate()
            throw LaboratoryError("\(name): said \"\(line.dropLast())\" instead of where it listens")
        }
        self.port = port
    }

    deinit { if process.isRunning { process.terminate() } }

    var cpuSeconds: Double { ProcessReadings.threads(of: process.processIdentifier).values.reduce(0, +) }

    /// Is `false` once the program has ended by itself.
    var isRunning: Bool { process.isRunning }

    /// Ends the program.
    ///
    /// - Returns: the numbers of its summary.
    func stop() -> [String: Double] {
        if process.isRunning { process.terminate() }
        let rest = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        var numbers: [String: Double] = [:]
        for word in String(decoding: rest, as: UTF8.self).split(whereSeparator: \.isWhitespace) {
            let parts = word.split(separator: "=")
            if parts.count == 2, let number = Double(parts[1]) { numbers[String(parts[0])] = number }
        }
        return numbers
    }
}

extension Process {
    /// Sets a program that the kernel ends together with the thread that starts it: of a laboratory that is killed no simulator remains.
    package func setProgram(_ path: String, _ arguments: [String]) {
        // PR_SET_PDEATHSIG of prctl(2), which util-linux sets before it becomes the program. It may have inherited a blocked SIGTERM.
        let setpriv = "/usr/bin/setpriv"
        let isThere = FileManager.default.isExecutableFile(atPath: setpriv)
        executableURL = URL(fileURLWithPath: isThere ? setpriv : path)
        self.arguments = (isThere ? ["--pdeathsig", "KILL", path] : []) + arguments
    }
}

/// The servers of a run and the keys for them.
final class Companions {
    private(set) var all: [Companion] = []
    private(set) var host = "127.0.0.1"
    private(set) var port = 0
    private(set) var caFile = ""
    private(set) var keyFile = ""
    private var folder: String?

    static let bundleID = "com.example.scores"
    static let keyID = "ABC123DEFG"
    static let teamID = "DEF123GHIJ"

    init(_ scenario: Scenario) throws(LaboratoryError) {
        switch scenario.transport {
        case .discard: break
        case .host(let host, let port, let caFile, let keyFile):
            (self.host, self.port, self.caFile, self.keyFile) = (host, port, caFile, keyFile)
        case .simulator(let options, let distance, _):
            try start(options, distance, deadShare: scenario.subscribers.deadShare)
        }
    }

    deinit { if let folder { try? FileManager.default.removeItem(atPath: folder) } }

    private func start(_ options: [String], _ distance: [String]?, deadShare: Double) throws(LaboratoryError) {
        let folder = NSTemporaryDirectory() + "fanfare-load-\(UUID().uuidString)"
        self.folder = folder
        try Companions.makeCertificates(in: folder)
        caFile = folder + "/ca.pem"
        keyFile = folder + "/apns.p8"
        var arguments = ["--listen", "127.0.0.1:0", "--cert", folder + "/server.pem", "--key", folder + "/server.key"]
        if !LoadTransport.isOfFastMode(options) {
            arguments += ["--public-key", folder + "/apns.pub.pem", "--bundle-id", Companions.bundleID]
        }
        if deadShare > 0 { arguments += ["--dead-share", "\(deadShare)"] }
        let simulator = try Companion(Companion.simulator, arguments + options)
        all.append(simulator)
        port = simulator.port
        guard let distance else { return }
        let relay = try Companion("apns-distance", ["--to", "127.0.0.1:\(port)"] + distance)
        all.append(relay)
        port = relay.port
    }

    private static func makeCertificates(in folder: String) throws(LaboratoryError) {
        guard let script = ProgramFiles.repositoryFile("Load/certificates.sh") else {
            throw LaboratoryError(
                "Load/certificates.sh: not found above \(ProgramFiles.folder); run from the repository")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [script, folder]
        do { try process.run() } catch { throw LaboratoryError("\(script): cannot be started: \(error)") }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw LaboratoryError("\(script): failed; openssl is needed") }
    }
}
