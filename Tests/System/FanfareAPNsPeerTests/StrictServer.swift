import Foundation

/// `strict_server.py`: a server on python3-h2, which raises on any violation.
final class StrictServer {
    /// SETTINGS by their numbers (RFC 9113 §6.5.2): 1 header table, 3 streams, 4 initial window, 5 frame size.
    typealias Settings = [[Int]]

    struct Order: Encodable {
        var settings: [Settings] = [[]]
        var settingsEvery = 50
        var goAwayEvery = 0
        var pingEvery = 0
        var pieceBytes = 0
        var deadBelow = 0
        var hold = 1
        fileprivate(set) var cert = ""
        fileprivate(set) var key = ""
    }

    struct Findings: Decodable {
        let accepted: Int
        let dead: Int
        let connections: Int
        let goAways: Int
        let acknowledgements: Int
        let pings: Int
        let repeats: Int
        let violations: [String]
    }

    private struct Greeting: Decodable { let port: UInt16 }

    let port: UInt16
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Debian's own interpreter: another one in the path does not know Debian's packages.
    private static let python = "/usr/bin/python3"

    static let isInstalled: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["-c", "import h2"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    init(_ order: Order, scratch: Scratch) throws {
        var order = order
        order.cert = scratch.path("server.pem")
        order.key = scratch.path("server.key")
        process.executableURL = URL(fileURLWithPath: StrictServer.python)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "strict_server.py")
        process.arguments = [script.path, String(decoding: try JSONEncoder().encode(order), as: UTF8.self)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        port = try JSONDecoder().decode(Greeting.self, from: output.fileHandleForReading.availableData).port
    }

    deinit {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Ends the server when its connections have ended.
    func finish() throws -> Findings {
        try input.fileHandleForWriting.close()
        let findings = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return try JSONDecoder().decode(Findings.self, from: findings)
    }
}
