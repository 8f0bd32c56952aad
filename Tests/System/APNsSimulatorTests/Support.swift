import FanfareLoop
import Foundation
import LoadJSON
import Testing

@testable import APNsSimulator

/// Keys, certificates and tokens for all tests of this process, made by the same script that people use.
enum Bench {
    static let bundleID = "com.example.scores"
    static let topic = "\(bundleID).push-type.liveactivity"

    private static let folder: Result<URL, any Error> = Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-bench-\(UUID().uuidString)")
        let script = repository.appendingPathComponent("Load/certificates.sh").path
        let result = try run("/bin/sh", [script, folder.path])
        guard result.status == 0 else { throw Failure(text: "certificates.sh: \(result.errors)") }
        atexit { if let folder = try? Bench.folder.get() { try? FileManager.default.removeItem(at: folder) } }
        return folder
    }

    static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    struct Failure: Error { let text: String }

    static func file(_ name: String) throws -> String { try folder.get().appendingPathComponent(name).path }

    /// Returns a provider token signed by the bench's key, or by `key`.
    static func providerToken(
        key: ES256PrivateKey? = nil, issuedAt: Int64 = Int64(Date().timeIntervalSince1970), header: String? = nil
    ) throws -> String {
        let key = try key ?? ES256PrivateKey(pem: String(contentsOfFile: file("apns.p8"), encoding: .utf8))
        let head = base64url(header ?? #"{"alg":"ES256","kid":"ABC1234567"}"#)
        let message = head + "." + base64url(#"{"iss":"TEAM123456","iat":\#(issuedAt)}"#)
        let signature = try key.sign(Array(message.utf8))
        return "bearer \(message).\(base64url(Data(signature)))"
    }

    private static func base64url(_ text: String) -> String { base64url(Data(text.utf8)) }

    private static func base64url(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// Returns the path of a program of this package, which is built into the folder of the test program.
    static func built(_ name: String) -> String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Runs a program to its end.
    static func run(_ program: String, _ arguments: [String], input: String = "") throws -> Output {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // Read on another thread: a full pipe would block the program.
        let reader = Thread.reading(errors.fileHandleForReading)
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaints = reader()
        process.waitUntilExit()
        return Output(status: process.terminationStatus, text: text, errors: complaints)
    }

    struct Output {
        let status: Int32
        let text: String
        let errors: String
    }

    /// Returns whether a tool is installed; tests that need it are skipped with a message otherwise.
    static func has(_ program: String) -> Bool { FileManager.default.isExecutableFile(atPath: program) }
    static let curl = "/usr/bin/curl"
    static let python = "/usr/bin/python3"
    static let hasPythonH2: Bool = has(python) && ((try? run(python, ["-c", "import h2"]))?.status == 0)
}

extension Thread {
    /// Reads everything on another thread; the returned function waits for the result.
    static func reading(_ handle: FileHandle) -> () -> String {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var text = ""  // handed over by the semaphore
        Thread.detachNewThread {
            text = String(decoding: handle.readDataToEndOfFile(), as: UTF8.self)
            done.signal()
        }
        return {
            done.wait()
            return text
        }
    }
}

/// The built program, listening on a free port.
final class RunningSimulator {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    private let readErrors: () -> String
    private let dump: URL
    let port: Int

    /// The output of a simulator at its end.
    struct Record {
        let status: Int32
        let summary: String
        let complaints: String
        let dump: [JSON]

        var tokens: [JSON] { dump.filter { $0["type"] == "token" } }
        var counts: JSON? { dump.last?["counts"] }
        /// Accepted pushes of all tokens.
        var accepted: [[JSON]] { tokens.flatMap { $0["accepted"]?.arrayValue ?? [] }.compactMap(\.arrayValue) }
        var unanswered: Int { accepted.count { $0.last == "unanswered" } }
    }

    private let isFast: Bool

    init(_ arguments: [String] = [], isFast: Bool = false) throws {
        self.isFast = isFast
        dump = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-dump-\(UUID().uuidString)")
        process.executableURL = URL(fileURLWithPath: Bench.built("apns-simulator"))
        process.arguments =
            try ["--cert", Bench.file("server.pem"), "--key", Bench.file("server.key")]
            + (isFast
                ? ["--mode", "fast"]
                : ["--public-key", Bench.file("apns.pub.pem"), "--bundle-id", Bench.bundleID, "--dump", dump.path])
            + arguments
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        readErrors = Thread.reading(errors.fileHandleForReading)
        var line = Data()
        while !line.contains(0x0A), case let chunk = output.fileHandleForReading.availableData, !chunk.isEmpty {
            line += chunk
        }
        guard let port = Int(String(decoding: line, as: UTF8.self).split(separator: ":").last?.dropLast() ?? "") else {
            throw Bench.Failure(text: "the simulator did not start: \(readErrors())")
        }
        self.port = port
    }

    deinit {
        if process.isRunning { process.terminate() }
        try? FileManager.default.removeItem(at: dump)
    }

    func stop() throws -> Record {
        process.terminate()
        let summary = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let lines = isFast ? [] : try Data(contentsOf: dump).split(separator: 0x0A).map { try JSON(parsing: Array($0)) }
        return Record(status: process.terminationStatus, summary: summary, complaints: readErrors(), dump: lines)
    }

    // MARK: Clients

    struct Answer {
        let status: Int
        let reason: String?
        let apnsID: String?
        let milliseconds: Double
    }

    struct Conversation {
        /// The answers; `nil` for a request without one.
        let answers: [Answer?]
        let json: JSON
        var statuses: [Int: Int] { Dictionary(answers.map { ($0?.status ?? 0, 1) }, uniquingKeysWith: +) }
    }

    /// Sends requests with Python's h2, which raises an error on any violation of HTTP/2.
    /// - Parameter pingsAndLeaves: whether a PING follows the last request, with whose answer the client leaves.
    func converse(
        _ requests: [Request], concurrent: Int, bodiesLast: Bool = false, pingsAndLeaves: Bool = false
    ) throws -> Conversation {
        let order: JSON = [
            "port": .int(Int64(port)), "ca": .string(try Bench.file("ca.pem")), "concurrent": .int(Int64(concurrent)),
            "requests": .array(requests.map(\.json)), "bodiesLast": .bool(bodiesLast),
            "pingsAndLeaves": .bool(pingsAndLeaves),
        ]
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("client.py")
        let output = try Bench.run(Bench.python, [script.path], input: order.canonicalText)
        guard output.status == 0 else { throw Bench.Failure(text: output.errors) }
        let json = try JSON(parsing: Array(output.text.utf8))
        let answers = (json["answers"]?.arrayValue ?? []).map { answer -> Answer? in
            guard let status = answer["status"]?.intValue else { return nil }
            let body = (answer["body"]?.stringValue).flatMap { try? JSON(parsing: Array($0.utf8)) }
            return Answer(
                status: Int(status), reason: body?["reason"]?.stringValue, apnsID: answer["id"]?.stringValue,
                milliseconds: answer["ms"]?.doubleValue ?? 0)
        }
        return Conversation(answers: answers, json: json)
    }

    /// Sends one request with curl.
    func curl(_ request: Request) throws -> (status: Int, body: String, fields: String) {
        var arguments = ["-sS", "-i", "--http2", "--max-time", "120", "--cacert", try Bench.file("ca.pem")]
        arguments += ["-X", request.method, "--data-binary", "@-", "https://localhost:\(port)\(request.path)"]
        for (name, value) in request.fields { arguments += ["-H", "\(name): \(value)"] }
        let output = try Bench.run(Bench.curl, arguments, input: request.body)
        guard output.status == 0 else { throw Bench.Failure(text: output.errors) }
        let parts = output.text.components(separatedBy: "\r\n\r\n")
        let status = parts[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return (status, parts.dropFirst().joined(), parts[0])
    }
}

/// A valid push, of which tests change one part.
struct Request {
    var method = "POST"
    var token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    var fields: [(String, String)] = []
    var body: String

    var path: String { "/3/device/\(token)" }

    init(token: String? = nil, providerToken: String, score: Int = 1, stamp: Int64? = nil, event: String = "update") {
        if let token { self.token = token }
        let stamp = stamp ?? Int64(Date().timeIntervalSince1970)
        fields = [
            ("authorization", providerToken), ("apns-push-type", "liveactivity"), ("apns-topic", Bench.topic),
            ("apns-priority", "10"), ("apns-expiration", "0"),
        ]
        body = """
            {"aps":{"timestamp":\(stamp),"event":"\(event)","content-state":{"home":"Reds","homeScore":\(score)}}}
            """
    }

    mutating func set(_ name: String, _ value: String?) {
        fields.removeAll { $0.0 == name }
        if let value { fields.append((name, value)) }
    }

    var json: JSON {
        let pseudo = [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path)]
        return [
            "headers": .array((pseudo + fields).map { [.string($0.0), .string($0.1)] }), "body": .string(body),
        ]
    }
}
