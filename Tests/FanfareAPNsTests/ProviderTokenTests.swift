import FanfareCore
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
        let issue = try Signer().token().current(at: moment(Self.start))
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
        let first = try token.current(at: moment(Self.start))
        #expect(try token.current(at: moment(Self.start + 2699)).serial == first.serial)
        #expect(signer.count == 1)
        let second = try token.current(at: moment(Self.start + 2700))
        #expect(second.serial == first.serial + 1)
        #expect(second.issuedAt == Self.start + 2700)
        #expect(signer.count == 2)
    }

    /// As it is when a machine's clock is kept right: nobody mints for it.
    @Test(arguments: [-300, -30, 30, 300] as [Int64])
    func aClockSetByAFewMinutesDoesNotMint(step: Int64) throws {
        let signer = Signer()
        let token = try signer.token()
        _ = try token.current(at: moment(Self.start))
        _ = try token.current(at: moment(Self.start + step, after: 0))
        _ = try token.current(at: moment(Self.start + 2000 + step, after: 2000))
        #expect(signer.count == 1)
    }

    /// APNs judges `iat` by its own clock, and ours has just been mended, or worse: APNs knows.
    @Test(arguments: [-7200, -301, 301, 86_400] as [Int64])
    func aClockSetByMoreMintsForTheWallAsItIsNowOnceTheOldIssueIsRefused(step: Int64) throws {
        let signer = Signer()
        let token = try signer.token()
        let first = try token.current(at: moment(Self.start))
        #expect(try token.current(at: moment(Self.start + 10 + step, after: 10)).serial == first.serial)
        token.refused(serial: first.serial)
        let issue = try token.current(at: moment(Self.start + 20 + step, after: 20))
        #expect(issue.issuedAt == Self.start + 20 + step && signer.count == 2)
        token.refused(serial: first.serial)
        #expect(try token.current(at: moment(Self.start + 30 + step, after: 30)).serial == issue.serial)
    }

    /// Each shard reads the clocks for itself, and for the seconds of a doubt, or after it, they need not agree.
    @Test func shardsThatDisagreeAboutTheClockMintOnceInTwentyMinutes() throws {
        let signer = Signer()
        let token = try signer.token()
        for second: Int64 in 0..<7200 {
            for step: Int64 in [0, 3 * 3600] {
                _ = try token.current(at: moment(Self.start + second + step, after: second))
            }
        }
        #expect((2...7).contains(signer.count), "\(signer.count)")
    }

    /// A clock that somebody sets back by an hour, and leaves so. Its own time has expired for APNs, that of stamps has not.
    @Test func anIssueOfAClockThatIsAnHourBehindIsReplacedByOneOfTheTimeOfStamps() throws {
        let signer = Signer()
        let token = try signer.token()
        func at(_ seconds: Int64) -> Moment {
            Moment(
                wallMilliseconds: (Self.start + seconds - 3601) * 1000, monotonicNanoseconds: seconds * 1_000_000_000,
                stampMilliseconds: (Self.start + seconds) * 1000)
        }
        let first = try token.current(at: at(0))
        #expect(first.issuedAt == Self.start - 3601)
        #expect(try token.expired(serial: first.serial, at: at(1)))
        #expect(try token.current(at: at(2)).issuedAt == Self.start + 1)
        #expect(try token.current(at: at(2702)).issuedAt == Self.start + 2702)
        #expect(signer.count == 3)
    }

    /// The other way round: it was ahead, and is right now.
    @Test func anIssueOfTheTimeOfStampsThatIsRefusedIsReplacedByOneOfTheWall() throws {
        let token = try Signer().token()
        func at(_ seconds: Int64) -> Moment {
            Moment(
                wallMilliseconds: (Self.start + seconds) * 1000, monotonicNanoseconds: seconds * 1_000_000_000,
                stampMilliseconds: (Self.start + seconds + 7200) * 1000)
        }
        let first = try token.current(at: at(0))
        #expect(try token.expired(serial: first.serial, at: at(1)))
        let second = try token.current(at: at(2))
        #expect(second.issuedAt == Self.start + 7201)
        token.refused(serial: second.serial)
        #expect(try token.current(at: at(3)).issuedAt == Self.start + 3)
    }

    @Test func theAgeIsOfTimePassedWhateverTheWallSays() throws {
        let signer = Signer()
        let token = try signer.token()
        let issue = try token.current(at: moment(Self.start))
        #expect(try token.current(at: moment(Self.start + 2600, after: 2699)).serial == issue.serial)
        #expect(try token.current(at: moment(Self.start + 2600, after: 2700)).serial == issue.serial + 1)
    }

    /// The wall was set back by 44 minutes behind the minting; an hour later APNs is right and the wall is not.
    @Test func anExpiredTokenIsReplacedAlthoughTheWallWasSetBack() throws {
        let token = try Signer().token()
        let issue = try token.current(at: moment(Self.start))
        #expect(try token.expired(serial: issue.serial, at: moment(Self.start + 3600 - 2640, after: 3600)))
        let fresh = try token.current(at: moment(Self.start + 3600 - 2640, after: 3600))
        #expect(fresh.serial == issue.serial + 1)
    }

    @Test func theFirstToSayExpiredMintsForAll() throws {
        let signer = Signer()
        let token = try signer.token()
        let issue = try token.current(at: moment(Self.start))
        for _ in 0..<100 { #expect(try token.expired(serial: issue.serial, at: moment(Self.start + 1500))) }
        #expect(signer.count == 2)
        #expect(try token.current(at: moment(Self.start + 1500)).serial == issue.serial + 1)
    }

    @Test func anExpiredTokenThatIsYoungIsNotReplaced() throws {
        let signer = Signer()
        let token = try signer.token()
        let issue = try token.current(at: moment(Self.start))
        #expect(try !token.expired(serial: issue.serial, at: moment(Self.start + 1199)))
        #expect(signer.count == 1)
    }

    @Test func allShardsShareOneToken() async throws {
        let signer = Signer()
        let token = try signer.token()
        let serials = try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<8 { group.addTask { try token.current(at: moment(Self.start)).serial } }
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
        let issue = try token.current(at: moment(Self.start))
        works.store(false, ordering: .relaxed)
        #expect(throws: Broken.self) { try token.current(at: moment(Self.start + 3000)) }
        #expect(try token.current(at: moment(Self.start + 10)).serial == issue.serial)
    }

    @Test(arguments: ["", "ABC 123", "ABC\"123", "ÄBC", String(repeating: "a", count: 65)])
    func idsAreLettersAndDigits(id: String) {
        #expect(throws: CredentialsFault.self) { try ProviderToken(keyID: id, teamID: "T") { $0 } }
        #expect(throws: CredentialsFault.self) { try ProviderToken(keyID: "K", teamID: id) { $0 } }
    }
}

/// - Parameter passed: seconds since the tests' start; as the wall says, unless it is given.
func moment(_ wallSeconds: Int64, after passed: Int64? = nil) -> Moment {
    Moment(
        wallMilliseconds: wallSeconds * 1000,
        monotonicNanoseconds: (passed ?? wallSeconds - ProviderTokenTests.start) * 1_000_000_000)
}
