import Foundation
import Glibc

/// Throw-away keys and certificates, made once for all tests.
enum Certificates {
    static let folder = Result { try make() }

    /// Makes other keys and certificates.
    static func make() throws -> Folder {
        let folder = try Folder()
        let script = Process()
        script.executableURL = URL(fileURLWithPath: "Load/certificates.sh")
        script.arguments = [folder.path]
        try script.run()
        script.waitUntilExit()
        guard script.terminationStatus == 0 else { throw Failure("Load/certificates.sh failed") }
        return folder
    }
}

/// A running APNs simulator on a free port of this machine.
final class Simulator {
    static let bundleID = "com.example.scores"

    /// Options for all the trouble that APNs may cause, often.
    static let trouble = [
        "--dead-share", "0.1", "--error-share", "0.05", "--throttle-share", "0.1", "--throttle-interval", "500",
        "--lose-connections", "2000", "--goaway-every", "5000", "--latency", "0..20", "--seed", "3",
    ]

    let address: String
    private let program: Program
    /// A relay that adds the distance.
    private let relay: Program?
    private let dumpFile: String

    /// - Parameters:
    ///   - place: address of an earlier simulator to listen on; a free one by default.
    ///   - distance: milliseconds of an additional round trip; 0 for none.
    init(_ options: [String] = [], at place: String? = nil, distance: Int = 0, folder: Folder) throws {
        let listening = place.map { ["--listen", $0] } ?? []
        let certificates = try Certificates.folder.get()
        dumpFile = folder("dump-\(UUID().uuidString).ndjson")
        program = try Program(
            .simulator,
            [
                "--cert", certificates("server.pem"), "--key", certificates("server.key"), "--public-key",
                certificates("apns.pub.pem"), "--bundle-id", Simulator.bundleID, "--dump", dumpFile,
            ] + options + (distance > 0 ? [] : listening), folder: folder)
        let near = try Simulator.address(of: program)
        relay =
            distance > 0
            ? try Program(.distance, ["--to", near, "--round-trip", "\(distance)"] + listening, folder: folder) : nil
        address = try relay.map { try Simulator.address(of: $0) } ?? near
    }

    /// Waits until the simulator listens, and returns its address.
    private static func address(of program: Program) throws -> String {
        let prefix = "listening on "
        try program.waitUntil("a server listens") { output, _ in output.contains(prefix) && output.hasSuffix("\n") }
        return String(program.outputSoFar.dropFirst(prefix.count).prefix { $0 != "\n" })
    }

    /// Returns the options with which `fanfare replay` pushes to it.
    func options() throws -> [String] {
        let certificates = try Certificates.folder.get()
        return [
            "--transport", "apns://\(address)", "--ca", certificates("ca.pem"), "--key", certificates("apns.p8"),
            "--key-id", "ABC123DEFG", "--team-id", "DEF123GHIJ", "--bundle-id", Simulator.bundleID,
        ]
    }

    /// Stops the simulator and returns the file with all accepted pushes.
    func dump() throws -> String {
        relay?.send(SIGTERM)
        program.send(SIGTERM)
        let end = try program.wait()
        guard end.status == 0 else { throw Failure("the simulator ended with \(end.status): \(end.errors)") }
        return dumpFile
    }
}
