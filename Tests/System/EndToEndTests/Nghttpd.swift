import Foundation
import Glibc

/// A server from Debian that answers 200 to every POST.
struct Nghttpd {
    private static let path = "/usr/sbin/nghttpd"
    static let isThere = FileManager.default.isExecutableFile(atPath: path)

    let program: Program
    private let port: UInt16

    init(folder: Folder) throws {
        let certificates = try Certificates.folder.get()
        port = try Nghttpd.freePort()
        program = try Program(
            path: Nghttpd.path,
            [
                "-v", "--address", "127.0.0.1", "--echo-upload", "-d", folder.path, "\(port)",
                certificates("server.key"), certificates("server.pem"),
            ], folder: folder)
        let port = port
        try program.waitUntil("nghttpd listens") { _, _ in Nghttpd.accepts(port) }
    }

    func options() throws -> [String] {
        let certificates = try Certificates.folder.get()
        return [
            "--transport", "apns://127.0.0.1:\(port)", "--ca", certificates("ca.pem"), "--key", certificates("apns.p8"),
            "--key-id", "ABC123DEFG", "--team-id", "DEF123GHIJ", "--bundle-id", Simulator.bundleID,
        ]
    }

    /// Returns a port that was free a moment ago, because nghttpd does not report the port that it chose.
    private static func freePort() throws -> UInt16 {
        var address = loopback(port: 0)
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                bind(socket, raw, length) == 0 ? getsockname(socket, raw, &length) : -1
            }
        }
        guard code == 0 else { throw Failure("no free port: \(String(cString: strerror(errno)))") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func accepts(_ port: UInt16) -> Bool {
        var address = loopback(port: port)
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
