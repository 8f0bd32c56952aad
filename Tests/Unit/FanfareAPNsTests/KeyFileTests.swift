import FanfareLoop
import FanfareTestSupport
import Foundation
import ServerTestSupport
import Testing

@testable import FanfareAPNs

@Suite struct KeyFileTests {
    private func withKeyFile(_ text: String, mode: Int, _ body: (String) throws -> Void) throws {
        let folder = try TemporaryFolder.made()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.path + "/key.p8"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        try body(path)
    }

    private func load(_ path: String) throws -> ProviderToken {
        try load(path, keyID: "K123456789")
    }

    /// Loads a key; its file is read at once, not on a thread as in the program.
    private func load(_ path: String, keyID: String?) throws -> ProviderToken {
        try ProviderToken(keyFile: path, keyID: keyID, teamID: "T123456789") { $0() }
    }

    @Test func aKeyFileSignsWhatItsPublicKeyVerifies() throws {
        let key = try ES256PrivateKey.generate()
        try withKeyFile(key.pem(), mode: 0o600) { path in
            let issue = try load(path).current(at: moment(1_790_000_000))
            let parts = String(decoding: issue.authorization, as: UTF8.self).dropFirst("bearer ".count)
                .split(separator: ".")
            try #require(parts.count == 3)
            let standard = parts[2].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            let signature = try #require(Data(base64Encoded: standard + "=="))
            #expect(key.publicKey.verify(Array(signature), of: Array("\(parts[0]).\(parts[1])".utf8)))
            #expect(!key.publicKey.verify(Array(signature), of: Array("\(parts[0]).\(parts[1])x".utf8)))
        }
    }

    @Test(arguments: [0o644, 0o604, 0o660, 0o620, 0o610, 0o446])
    func aKeyThatOthersCanUseIsRefused(mode: Int) throws {
        try withKeyFile(ES256PrivateKey.generate().pem(), mode: mode) { path in
            let fault = #expect(throws: CredentialsFault.self) { try load(path) }
            #expect(fault?.description.hasSuffix("chmod 600 \(path)") == true)
        }
    }

    /// Kubernetes with `fsGroup` mounts secrets with these modes.
    @Test(arguments: [0o600, 0o400, 0o440, 0o640]) func aKeyThatAGroupOfOursCanReadIsUsed(mode: Int) throws {
        try withKeyFile(ES256PrivateKey.generate().pem(), mode: mode) { path in
            let issue = try load(path).current(at: moment(Self.start))
            #expect(issue.serial == 1)
        }
    }

    @Test(arguments: [0o440, 0o640, 0o040] as [mode_t]) func aKeyThatAnotherGroupCanReadIsRefused(mode: mode_t) {
        #expect(KeyFile.isOursAlone(permissions: mode, groupIsOurs: true))
        #expect(!KeyFile.isOursAlone(permissions: mode, groupIsOurs: false))
    }

    /// Opening a pipe would block until it has a writer.
    @Test func aPipeInThePlaceOfTheKeyIsSaidAtOnce() throws {
        let folder = try TemporaryFolder.made()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.path + "/key.p8"
        try #require(mkfifo(path, 0o600) == 0)
        let fault = #expect(throws: CredentialsFault.self) { try load(path) }
        #expect(fault?.description == "key file \(path): not a file, but a folder, a pipe or a device")
    }

    @Test func aMissingFileIsSaid() {
        let fault = #expect(throws: CredentialsFault.self) { try load("/no/such/key.p8") }
        #expect(fault?.description == "key file /no/such/key.p8: No such file or directory")
    }

    @Test(arguments: ["", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func anErrorNamesTheFileThatHoldsNoKey(text: String) throws {
        try withKeyFile(text, mode: 0o600) { path in
            let error = #expect(throws: LoopError.self) { try load(path) }
            #expect(error?.description.contains(path) == true)
        }
    }

    // MARK: Rotation

    private static let start: Int64 = 1_790_000_000

    /// Returns the `kid` of a JWT.
    private func keyID(_ issue: ProviderToken.Issue) throws -> String? {
        struct Header: Decodable { let kid: String }
        let part = String(decoding: issue.authorization, as: UTF8.self).dropFirst("bearer ".count).split(
            separator: ".")[0]
        let padding = String(repeating: "=", count: (4 - part.count % 4) % 4)
        let data = try #require(Data(base64Encoded: part + padding))
        return try JSONDecoder().decode(Header.self, from: data).kid
    }

    private func isSigned(_ issue: ProviderToken.Issue, by key: ES256PrivateKey) -> Bool {
        let parts = String(decoding: issue.authorization, as: UTF8.self).dropFirst("bearer ".count).split(
            separator: ".")
        let standard = parts[2].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        guard let signature = Data(base64Encoded: standard + "==") else { return false }
        return key.publicKey.verify(Array(signature), of: Array("\(parts[0]).\(parts[1])".utf8))
    }

    private func replace(_ path: String, with text: String, mode: Int = 0o600) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test func aNewKeyInThePlaceOfTheOldOneSigns() throws {
        let (old, new) = (try ES256PrivateKey.generate(), try ES256PrivateKey.generate())
        try withKeyFile(old.pem(), mode: 0o600) { path in
            let token = try load(path)
            let first = try token.current(at: moment(Self.start))
            #expect(isSigned(first, by: old) && first.keySerial == 1)
            try replace(path, with: new.pem())
            #expect(try token.current(at: moment(Self.start + 9)).serial == first.serial, "not looked at yet")
            let second = try token.current(at: moment(Self.start + 10))
            #expect(isSigned(second, by: new) && !isSigned(second, by: old))
            #expect(second.keySerial == 2 && second.serial == first.serial + 1 && second.complaint == nil)
            let later = try token.current(at: moment(Self.start + 20))
            #expect(later.serial == second.serial, "an unchanged file is not read again")
        }
    }

    /// Tools that synchronise secrets write the same bytes every minute; APNs takes a new JWT each time for an attack.
    @Test func aFileThatIsTouchedOrWrittenAgainChangesNothing() throws {
        let pem = try ES256PrivateKey.generate().pem()
        try withKeyFile(pem, mode: 0o600) { path in
            let token = try load(path)
            let first = try token.current(at: moment(Self.start))
            var now = Self.start
            func expectNoChange(_ what: Comment) throws {
                now += 10
                let issue = try token.current(at: moment(now))
                #expect(issue.serial == first.serial && issue.keySerial == 1 && issue.complaint == nil, what)
            }
            try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: path)
            try expectNoChange("touched")
            try replace(path, with: pem)
            try expectNoChange("written again, as another file")
            try pem.write(toFile: path, atomically: false, encoding: .utf8)
            try expectNoChange("written over")
            try replace(path, with: "\n" + pem + "\n")
            try expectNoChange("the same key in other words")
        }
    }

    /// The read never returns. Shards go on with the old key, people are told, and no second read begins.
    @Test func fileSystemThatHangsStopsNoPush() throws {
        final class Looks: Sendable { let waiting = Locked<[@Sendable () -> Void]>([]) }
        let (old, new) = (try ES256PrivateKey.generate(), try ES256PrivateKey.generate())
        try withKeyFile(old.pem(), mode: 0o600) { path in
            let looks = Looks()
            let token = try ProviderToken(keyFile: path, keyID: "K123456789", teamID: "T123456789") { look in
                looks.waiting.withLock { $0.append(look) }
            }
            let first = try token.current(at: moment(Self.start))
            try replace(path, with: new.pem())
            #expect(try token.current(at: moment(Self.start + 9)).complaint == nil)
            for seconds in [10, 20, 30] as [Int64] {
                let issue = try token.current(at: moment(Self.start + seconds))
                #expect(issue.serial == first.serial)
                #expect(
                    issue.complaint
                        == "key file \(path): its file system does not answer; the key read before stays in use")
            }
            let waiting = looks.waiting.withLock { $0 }
            try #require(waiting.count == 1)
            waiting[0]()
            let mended = try token.current(at: moment(Self.start + 31))
            #expect(isSigned(mended, by: new) && mended.complaint == nil)
        }
    }

    @Test func theProgramsOwnLookIsOnAThreadOfItsOwn() async throws {
        let (old, new) = (try ES256PrivateKey.generate(), try ES256PrivateKey.generate())
        let folder = try TemporaryFolder.made()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.path + "/key.p8"
        try replace(path, with: old.pem())
        let token = try ProviderToken(keyFile: path, keyID: "K123456789", teamID: "T123456789")
        try replace(path, with: new.pem())
        var issue = try token.current(at: moment(Self.start))
        let patience = ContinuousClock.now + .seconds(60)
        while issue.keySerial == 1, ContinuousClock.now < patience {
            await Task.yield()
            issue = try token.current(at: moment(Self.start))
        }
        #expect(isSigned(issue, by: new))
    }

    @Test func allPoolsGetTheSameTokenOfTheNewKey() async throws {
        let folder = try TemporaryFolder.made()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.path + "/key.p8"
        try replace(path, with: ES256PrivateKey.generate().pem())
        let token = try load(path)
        _ = try token.current(at: moment(Self.start))
        try replace(path, with: ES256PrivateKey.generate().pem())
        #expect(token.keySerial(at: moment(Self.start + 10)) == 2)
        let serials = try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<16 { group.addTask { try token.current(at: moment(Self.start + 10)).serial } }
            return try await group.reduce(into: Set<UInt64>()) { $0.insert($1) }
        }
        #expect(serials == [2])
    }

    /// An unusable key is reported and the old one stays in use; the new one takes over once it is mended.
    @Test func aNewKeyThatCannotBeUsedLeavesTheOldOne() throws {
        let (old, new) = (try ES256PrivateKey.generate(), try ES256PrivateKey.generate())
        try withKeyFile(old.pem(), mode: 0o600) { path in
            let token = try load(path)
            let first = try token.current(at: moment(Self.start))
            var now = Self.start
            func complaint() throws -> String {
                now += 10
                let issue = try token.current(at: moment(now))
                #expect(issue.serial == first.serial && issue.authorization == first.authorization)
                return issue.complaint ?? ""
            }
            try replace(path, with: new.pem(), mode: 0o644)
            #expect(try complaint().hasSuffix("chmod 600 \(path); the key read before stays in use"))
            try replace(path, with: "half of a k")
            #expect(try complaint().contains(path))
            try FileManager.default.removeItem(atPath: path)
            #expect(try complaint().hasPrefix("key file \(path): No such file"))
            try replace(path, with: new.pem())
            let mended = try token.current(at: moment(now + 10))
            #expect(isSigned(mended, by: new) && mended.complaint == nil && mended.keySerial == 2)
        }
    }

    /// The new `.p8` is copied over the old one, and `--key-id` still has the old one's id.
    @Test func aKeyThatAPNsAcceptsIsNotGivenUpForOneUnderItsID() throws {
        let (old, new) = (try ES256PrivateKey.generate(), try ES256PrivateKey.generate())
        try withKeyFile(old.pem(), mode: 0o600) { path in
            let token = try load(path)
            let first = try token.current(at: moment(Self.start))
            token.accepted(serial: first.serial)
            try replace(path, with: new.pem())
            for seconds in [10, 20, 600] as [Int64] {
                let issue = try token.current(at: moment(Self.start + seconds))
                #expect(issue.serial == first.serial)
                #expect(issue.complaint?.contains("APNs accepts the one before under the id K123456789") == true)
            }
            // The old key is revoked later: the key in the file is then tried.
            for seconds in 700..<730 as Range<Int64> {
                #expect(
                    try token.refused(serial: first.serial, as: .invalid, at: moment(Self.start + seconds)) == .none)
            }
            #expect(
                try token.refused(serial: first.serial, as: .invalid, at: moment(Self.start + 730)) == .newIssue)
            let second = try token.current(at: moment(Self.start + 731))
            #expect(isSigned(second, by: new) && second.keySerial == 2)
        }
    }

    @Test func aLinkBringsTheKeysIDWithIt() throws {
        let folder = try TemporaryFolder.made()
        func path(_ name: String) -> String { folder.path + "/" + name }
        for id in ["AAAAAAAAAA", "BBBBBBBBBB"] {
            try replace(path("AuthKey_\(id).p8"), with: ES256PrivateKey.generate().pem())
        }
        func point(to name: String) throws {
            try? FileManager.default.removeItem(atPath: path("current"))
            try FileManager.default.createSymbolicLink(atPath: path("current"), withDestinationPath: path(name))
        }
        try point(to: "AuthKey_AAAAAAAAAA.p8")
        let token = try load(path("current"), keyID: nil)
        #expect(try keyID(token.current(at: moment(Self.start))) == "AAAAAAAAAA")
        try point(to: "AuthKey_BBBBBBBBBB.p8")
        #expect(try keyID(token.current(at: moment(Self.start + 10))) == "BBBBBBBBBB")

        try replace(path("key.p8"), with: ES256PrivateKey.generate().pem())
        let fault = #expect(throws: CredentialsFault.self) {
            try ProviderToken(keyFile: path("key.p8"), keyID: nil, teamID: "T123456789")
        }
        #expect(
            fault?.description.hasSuffix("give the key's id (--key-id), or keep the file's name, AuthKey_<id>.p8")
                == true)
    }
}
