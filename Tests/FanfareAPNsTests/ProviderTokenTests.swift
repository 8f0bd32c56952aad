import Foundation
import Synchronization
import Testing

@testable import FanfareAPNs

@Suite struct ProviderTokenTests {
    static let start: Int64 = 1_790_000_000

    private final class Signer: Sendable {
        let signatures = Atomic<Int>(0)
        func token() throws -> ProviderToken {
            try ProviderToken(keyID: "ABC123DEFG", teamID: "TEAM123456") { _ in
                self.signatures.add(1, ordering: .relaxed)
                return [UInt8](repeating: 0xff, count: 64)
            }
        }
        var count: Int { signatures.load(ordering: .relaxed) }
    }

    @Test func base64URLHasNoPaddingAndItsOwnLetters() {
        // RFC 4648 §10, without padding.
        for (plain, text) in [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64URL.encode(Array(plain.utf8)) == Array(text.utf8))
        }
        #expect(Base64URL.encode([0xfb, 0xff, 0xfe]) == Array("-__-".utf8))
    }

    @Test func sayWhoWeAre() throws {
        let issue = try Signer().token().current(wallSeconds: Self.start)
        let text = String(decoding: issue.authorization, as: UTF8.self)
        let parts = text.dropFirst("bearer ".count).split(separator: ".").map(String.init)
        #expect(text.hasPrefix("bearer "))
        try #require(parts.count == 3)
        func decoded(_ part: String) throws -> String {
            let standard = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
            return String(decoding: try #require(Data(base64Encoded: standard + padding)), as: UTF8.self)
        }
        #expect(try decoded(parts[0]) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(try decoded(parts[1]) == #"{"iss":"TEAM123456","iat":1790000000}"#)
        #expect(parts[2].count == 86)
    }

    @Test func isMintedEvery45Minutes() throws {
        let signer = Signer()
        let token = try signer.token()
        let first = try token.current(wallSeconds: Self.start)
        #expect(try token.current(wallSeconds: Self.start + 2699).serial == first.serial)
        #expect(signer.count == 1)
        let second = try token.current(wallSeconds: Self.start + 2700)
        #expect(second.serial == first.serial + 1)
        #expect(second.issuedAt == Self.start + 2700)
        #expect(signer.count == 2)
    }

    @Test func aClockSetBackALittleDoesNotMint() throws {
        let signer = Signer()
        let token = try signer.token()
        _ = try token.current(wallSeconds: Self.start)
        _ = try token.current(wallSeconds: Self.start - 30)
        #expect(signer.count == 1)
        // Two hours in the future would be refused: this one must go.
        _ = try token.current(wallSeconds: Self.start - 7200)
        #expect(signer.count == 2)
    }

    @Test func theFirstToSayExpiredMintsForAll() throws {
        let signer = Signer()
        let token = try signer.token()
        let issue = try token.current(wallSeconds: Self.start)
        for _ in 0..<100 { #expect(try token.expired(serial: issue.serial, wallSeconds: Self.start + 1500)) }
        #expect(signer.count == 2)
        #expect(try token.current(wallSeconds: Self.start + 1500).serial == issue.serial + 1)
    }

    @Test func anExpiredTokenThatIsYoungIsNotReplaced() throws {
        let signer = Signer()
        let token = try signer.token()
        let issue = try token.current(wallSeconds: Self.start)
        #expect(try !token.expired(serial: issue.serial, wallSeconds: Self.start + 1199))
        #expect(signer.count == 1)
    }

    @Test func allShardsShareOneToken() async throws {
        let signer = Signer()
        let token = try signer.token()
        let serials = try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<8 { group.addTask { try token.current(wallSeconds: Self.start).serial } }
            return try await group.reduce(into: Set<UInt64>()) { $0.insert($1) }
        }
        #expect(serials == [1])
        #expect(signer.count == 1)
    }

    @Test func aFailedSignatureIsAnErrorAndKeepsTheOldToken() throws {
        struct Broken: Error {}
        let works = Atomic<Bool>(true)
        let token = try ProviderToken(keyID: "K", teamID: "T") { _ in
            guard works.load(ordering: .relaxed) else { throw Broken() }
            return [1]
        }
        let issue = try token.current(wallSeconds: Self.start)
        works.store(false, ordering: .relaxed)
        #expect(throws: Broken.self) { try token.current(wallSeconds: Self.start + 3000) }
        #expect(try token.current(wallSeconds: Self.start + 10).serial == issue.serial)
    }

    @Test(arguments: ["", "ABC 123", "ABC\"123", "ÄBC", String(repeating: "a", count: 65)])
    func idsAreLettersAndDigits(id: String) {
        #expect(throws: CredentialsFault.self) { try ProviderToken(keyID: id, teamID: "T") { $0 } }
        #expect(throws: CredentialsFault.self) { try ProviderToken(keyID: "K", teamID: id) { $0 } }
    }
}
