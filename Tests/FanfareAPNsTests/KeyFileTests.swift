import FanfareAPNs
import FanfareLoop
import Foundation
import Testing

@Suite struct KeyFileTests {
    private func withKeyFile(_ text: String, mode: Int, _ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).p8").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        try body(path)
    }

    private func load(_ path: String) throws -> ProviderToken {
        try ProviderToken(keyFile: path, keyID: "K123456789", teamID: "T123456789")
    }

    @Test func signsWhatThePublicKeyVerifies() throws {
        let key = try ES256PrivateKey.generate()
        try withKeyFile(key.pem(), mode: 0o600) { path in
            let issue = try load(path).current(wallSeconds: 1_790_000_000)
            let parts = String(decoding: issue.authorization, as: UTF8.self).dropFirst("bearer ".count)
                .split(separator: ".")
            try #require(parts.count == 3)
            let standard = parts[2].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            let signature = try #require(Data(base64Encoded: standard + "=="))
            #expect(key.publicKey.verify(Array(signature), of: Array("\(parts[0]).\(parts[1])".utf8)))
            #expect(!key.publicKey.verify(Array(signature), of: Array("\(parts[0]).\(parts[1])x".utf8)))
        }
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o660])
    func aKeyThatOthersCanUseIsRefused(mode: Int) throws {
        try withKeyFile(ES256PrivateKey.generate().pem(), mode: mode) { path in
            let fault = #expect(throws: CredentialsFault.self) { try load(path) }
            #expect(fault?.description.hasSuffix("chmod 600 \(path)") == true)
        }
    }

    @Test func aMissingFileIsSaid() {
        let fault = #expect(throws: CredentialsFault.self) { try load("/no/such/key.p8") }
        #expect(fault?.description == "key file /no/such/key.p8: No such file or directory")
    }

    @Test(arguments: ["", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func whatIsNoKeyIsSaidWithTheFile(text: String) throws {
        try withKeyFile(text, mode: 0o600) { path in
            let error = #expect(throws: LoopError.self) { try load(path) }
            #expect(error?.description.contains(path) == true)
        }
    }
}
