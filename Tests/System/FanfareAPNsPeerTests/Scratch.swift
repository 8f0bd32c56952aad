import APNsSimulator
import FanfareLoop
import Foundation
import ServerTestSupport

/// A directory that lives as long as the object, with the keys and certificates that a server and its client need.
final class Scratch {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Makes `ca.pem`, `server.pem` and `.key` for localhost; `apns.p8` and `apns.pub.pem`.
    /// - Parameter years: validity before and after the present, so that it covers the tests' clocks.
    func makeCertificates(validSince years: Duration = .seconds(10 * 365 * 86_400)) throws {
        let server = try SelfSignedCertificate(
            hosts: ["localhost", "127.0.0.1"], validSince: years, validFor: years)
        try write(server.certificate, to: "ca.pem")
        try write(server.certificate, to: "server.pem")
        try write(server.key, to: "server.key")
        let key = try ES256PrivateKey.generate()
        try write(key.pem(), to: "apns.p8")
        try write(key.publicKey.pem(), to: "apns.pub.pem")
    }

    /// Options of a simulator that serves this certificate, and trusts this key and one app; `makeCertificates` must come first.
    var simulatorOptions: SimulatorOptions {
        var options = SimulatorOptions()
        options.certificateFile = path("server.pem")
        options.keyFile = path("server.key")
        options.publicKeyFile = path("apns.pub.pem")
        options.bundleID = "com.example.app"
        return options
    }

    private func write(_ text: String, to name: String) throws {
        try text.write(toFile: path(name), atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name))
    }
}
