import Foundation
import Testing

/// A directory that lives as long as the object, and commands run in it.
final class Scratch {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Runs a command to its end; its standard error is part of a failure's text.
    func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = url
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let text = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(arguments): \(String(decoding: text, as: UTF8.self))")
    }

    /// `ca.pem`, and `cert.pem` with `key.pem` for localhost and 127.0.0.1, signed by it; `push.p8` with `push.pub`.
    func makeCertificates() throws {
        try run("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "ca-key.pem")
        try run(
            "openssl", "req", "-x509", "-new", "-key", "ca-key.pem", "-subj", "/CN=Fanfare test CA", "-days", "2",
            "-addext", "basicConstraints=critical,CA:TRUE", "-out", "ca.pem")
        try run("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")
        try run("openssl", "req", "-new", "-key", "key.pem", "-subj", "/CN=localhost", "-out", "request.pem")
        try "subjectAltName=DNS:localhost,IP:127.0.0.1\n".write(
            toFile: path("names"), atomically: true, encoding: .utf8)
        try run(
            "openssl", "x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial",
            "-days", "2", "-extfile", "names", "-out", "cert.pem")
        try run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "push.p8")
        try run("openssl", "pkey", "-in", "push.p8", "-pubout", "-out", "push.pub")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("push.p8"))
    }
}
