import FanfareLoop
import Foundation
import ServerTestSupport
import Testing

/// Runs a loop until the body's condition stops it, and fails the test rather than hanging when it does not.
func withLoop(
    deadline: Duration = .seconds(120), sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (Loop) throws -> Void
) throws {
    let loop = try Loop()
    defer { loop.close() }
    let watchdog = LoopTimer(loop: loop) {
        Issue.record("the loop was still running after \(deadline)", sourceLocation: sourceLocation)
        loop.stop()
    }
    watchdog.start(after: deadline)
    try body(loop)
    loop.run()
}

/// A server's listener on loopback with a port of its own choosing, and the address to reach it.
func listen(_ loop: Loop, onConnection: @escaping (TCPStream) -> Void) throws -> SocketAddress {
    let listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0, onConnection: onConnection)
    return try #require(SocketAddress(ip: "127.0.0.1", port: listener.port))
}

/// An address that was free a moment ago, and has nobody listening now.
func vacantAddress(_ loop: Loop) throws -> SocketAddress {
    let listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { _ in }
    defer { listener.close() }
    return try #require(SocketAddress(ip: "127.0.0.1", port: listener.port))
}

/// A file that goes away with the object.
final class TemporaryFile {
    let path: String

    init(_ text: String) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try text.write(toFile: path, atomically: false, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A certificate made for this test run, and the contexts of its two ends.
struct TLSPair {
    let certificate: TemporaryFile
    let key: TemporaryFile
    let server: TLSContext
    let client: TLSContext

    init(
        hosts: [String] = ["localhost", "127.0.0.1"], commonName: String = "Fanfare local",
        validSince: Duration = .seconds(3600), validFor: Duration = .seconds(86_400)
    ) throws {
        let made = try SelfSignedCertificate(
            hosts: hosts, commonName: commonName, validSince: validSince, validFor: validFor)
        certificate = try TemporaryFile(made.certificate)
        key = try TemporaryFile(made.key)
        server = try .server(certificateFile: certificate.path, keyFile: key.path)
        client = try .client(caFile: certificate.path)
    }
}

/// An endless stream of bytes that depends on its seed, and any piece of it: what was sent can be told from what was not
/// without keeping it.
struct Pattern {
    /// A prime number of bytes, so that nothing lost in a unit of buffers goes unseen; twice, so that pieces are contiguous.
    private let cycle: [UInt8]
    private static let period = 65_537

    init(seed: UInt64) {
        let once = (0..<Pattern.period).map {
            UInt8(truncatingIfNeeded: (UInt64($0) &+ seed) &* 0x9E37_79B9_7F4A_7C15 >> 32)
        }
        cycle = once + once
    }

    /// At most 64 KB, which is also the most that a stream gives out at once.
    func bytes(at position: Int, count: Int) -> [UInt8] {
        let start = position % Pattern.period
        return Array(cycle[start..<start + count])
    }
}
