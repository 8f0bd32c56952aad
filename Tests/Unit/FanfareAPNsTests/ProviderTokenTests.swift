import FanfareModel
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

    @Test func providerTokenNamesItsKeyAndTeam() throws {
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

    @Test func providerTokenIsMintedEvery45Minutes() throws {
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

    /// A clock kept right by small steps does not cause new JWTs.
    @Test(arguments: [-300, -30, 30, 300] as [Int64])
    func aClockSetByAFewMinutesDoesNotMint(step: Int64) throws {
        let signer = Signer()
        let token = try signer.token()
        _ = try token.current(at: moment(Self.start))
        _ = try token.current(at: moment(Self.start + step, after: 0))
        _ = try token.current(at: moment(Self.start + 2000 + step, after: 2000))
        #expect(signer.count == 1)
    }

    /// APNs judges `iat` by its own clock, so APNs decides whether ours has just been mended or broken.
    @Test(arguments: [-7200, -301, 301, 86_400] as [Int64])
    func aClockSetByMoreMintsForTheWallAsItIsNowOnceTheOldIssueIsRefused(step: Int64) throws {
        let signer = Signer()
        let token = try signer.token()
        let first = try token.current(at: moment(Self.start))
        #expect(try token.current(at: moment(Self.start + 10 + step, after: 10)).serial == first.serial)
        let now = moment(Self.start + 20 + step, after: 20)
        #expect(try token.refused(serial: first.serial, as: .invalid, at: now) == .anotherTime)
        let issue = try token.current(at: now)
        #expect(issue.issuedAt == Self.start + 20 + step && signer.count == 2)
        // Requests that were in flight with the old one are refused later.
        #expect(try token.refused(serial: first.serial, as: .invalid, at: now) == .newIssue)
        #expect(try token.current(at: moment(Self.start + 30 + step, after: 30)).serial == issue.serial)
    }

    /// Each shard reads the clocks by itself, so shards may disagree during the seconds of a doubt, or after it.
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

    /// The clock was set back by an hour for good before the first push. APNs finds an issue of that time expired, but not one of the
    /// stamps' time.
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
        #expect(try token.refused(serial: first.serial, as: .expired, at: at(1)) == .anotherTime)
        #expect(try token.current(at: at(2)).issuedAt == Self.start + 1)
        #expect(try token.current(at: at(2702)).issuedAt == Self.start + 2702)
        #expect(signer.count == 3)
    }

    // MARK: Two times, of which APNs takes one

    /// The clock's time at the engine's start is the alternative until APNs has accepted a time.
    @Test(arguments: [-86_400, -7200, 7200, 86_400] as [Int64])
    func aStepBeforeTheFirstAnswerIsUndoneWhereAPNsRefusesIt(step: Int64) throws {
        let signer = Signer()
        let token = try signer.token()
        token.note(moment(Self.start))
        func at(_ seconds: Int64) -> Moment { moment(Self.start + seconds + step, after: seconds) }
        let wrong = try token.current(at: at(600))
        #expect(wrong.issuedAt == Self.start + 600 + step)
        let refusal: ProviderToken.Refusal = step < 0 ? .expired : .invalid
        #expect(try token.refused(serial: wrong.serial, as: refusal, at: at(601)) == .anotherTime)
        let right = try token.current(at: at(601))
        #expect(right.issuedAt == Self.start + 601)
        token.accepted(serial: right.serial)
        // The wall's time is not tried again, however long this lasts.
        #expect(try token.current(at: at(601 + 2700)).issuedAt == Self.start + 601 + 2700)
        #expect(token.provenOrigin == Self.start * 1_000_000_000)
    }

    /// A key was revoked and a clock was set, and APNs does not say which of them it refuses for. The two times are tried in turn, each with
    /// its existing issue.
    @Test func twoRefusedTimesAreTriedInTurnWithoutNewTokens() throws {
        let signer = Signer()
        let token = try signer.token()
        let first = try token.current(at: moment(Self.start))
        token.accepted(serial: first.serial)
        // Refusals before the time is given up. The tenth is that of the first minute.
        for _ in 1..<10 { _ = try token.refused(serial: first.serial, as: .invalid, at: moment(Self.start + 1)) }
        var times: [Bool] = []
        for second in stride(from: 60 as Int64, through: 3 * 3600, by: 60) {
            let now = moment(Self.start + second + 7200, after: second)
            let issue = try token.current(at: now)
            times.append(issue.issuedAt > Self.start + second)
            let remedy = try token.refused(serial: issue.serial, as: .invalid, at: now)
            #expect(remedy == (second == 60 ? .anotherTime : .none), "\(second)")
            // The other requests that were in flight.
            if remedy == .none {
                #expect(try token.refused(serial: issue.serial, as: .invalid, at: now) == .none)
                #expect(try token.current(at: now).serial == issue.serial)
            }
        }
        #expect(times.prefix(6) == [false, true, false, true, false, true])
        #expect(signer.count <= 10, "\(signer.count)")
        #expect(token.provenOrigin == nil, "what was proven is in doubt")
    }

    /// Each of many shards tries once a minute, so one is refused every ten seconds.
    @Test func eachRefusedTimeHasItsTurnHoweverOftenTheOneInUseIsRefused() throws {
        let token = try Signer().token()
        token.note(moment(Self.start))
        var refused: [UInt64] = []
        for second in stride(from: Int64(0), to: 200, by: 10) {
            let now = moment(Self.start + 86_400 + second, after: second)
            let issue = try token.current(at: now)
            if refused.last != issue.serial { refused.append(issue.serial) }
            _ = try token.refused(serial: issue.serial, as: .invalid, at: now)
        }
        #expect(refused.count > 4, "\(refused)")
        #expect(Set(refused) == [1, 2], "minted once for each of the two times")
    }

    /// The machine was suspended for longer than an issue is valid, and its monotonic clock stood still.
    @Test func aTimeThatWasProvenGivesWayToTheWallWhenItIsRefused() throws {
        let token = try Signer().token()
        let first = try token.current(at: moment(Self.start))
        token.accepted(serial: first.serial)
        let now = moment(Self.start + 60 + 9 * 3600, after: 60)
        #expect(try token.current(at: now).serial == first.serial)
        for _ in 1..<10 { #expect(try token.refused(serial: first.serial, as: .expired, at: now) == .none) }
        #expect(try token.refused(serial: first.serial, as: .expired, at: now) == .anotherTime)
        let second = try token.current(at: now)
        #expect(second.issuedAt == now.wallSeconds)
        let wall = (Self.start + 9 * 3600) * 1_000_000_000
        #expect(token.provenOrigin == wall, "the first push of that time is stamped by it")
        token.accepted(serial: first.serial)
        #expect(token.provenOrigin == wall, "an answer from before")
        token.accepted(serial: second.serial)
        #expect(token.provenOrigin == wall)
    }

    /// The machine's clock is wrong by a day, and the proven time outweighs it: a single faulty server does not change that.
    @Test func aTimeThatWasProvenIsNotGivenUpForOneRefusal() throws {
        let token = try Signer().token()
        token.note(moment(Self.start))
        token.accepted(serial: try token.current(at: moment(Self.start)).serial)
        let now = moment(Self.start + 60 + 26 * 3600, after: 60)
        for _ in 0..<3 {
            // Nine refusals in a row count for less than the accepted answer after them.
            let remedies = try (0..<9).map { _ in try token.refused(serial: 1, as: .invalid, at: now) }
            #expect(remedies.allSatisfy { $0 == .none })
            #expect(try token.current(at: now).serial == 1)
            #expect(token.provenOrigin == Self.start * 1_000_000_000)
            token.accepted(serial: 1)
        }
    }

    /// Pushes stop while the proven time is refused: it is tried again soon where there is an alternative, and not once a minute.
    @Test func aProvenTimeThatWasRefusedOnceIsTriedAgainSoonWhereThereIsAnother() throws {
        let token = try Signer().token()
        token.note(moment(Self.start))
        token.accepted(serial: try token.current(at: moment(Self.start)).serial)
        let same = moment(Self.start + 60, after: 60)
        _ = try token.refused(serial: 1, as: .invalid, at: same)
        #expect(!token.knowsAnotherTime(at: same))
        #expect(token.knowsAnotherTime(at: moment(Self.start + 61 + 2 * 3600, after: 61)))
    }

    /// Two endpoints share a key, and the clock was once corrected by ten minutes. One endpoint refuses the key for good; the other
    /// one's connections must not see another JWT for that.
    @Test func whomOneEndpointRefusesKeepsTheJWTOfTheOther() throws {
        let token = try Signer().token()
        let first = try token.current(at: moment(Self.start))
        token.accepted(serial: first.serial)
        var (serial, changes) = (first.serial, 0)
        for minute: Int64 in 1...20 {
            let refused = moment(Self.start + 60 * minute + 600, after: 60 * minute)
            _ = try token.refused(serial: try token.current(at: refused).serial, as: .invalid, at: refused)
            let issue = try token.current(at: moment(Self.start + 60 * minute + 640, after: 60 * minute + 40))
            if issue.serial != serial { (serial, changes) = (issue.serial, changes + 1) }
            token.accepted(serial: issue.serial)
        }
        #expect(changes <= 1, "\(changes)")
    }

    /// All times are refused until the clock is set right; the new time is then tried at once.
    @Test func theTimeOfACorrectedClockIsTriedAtOnce() throws {
        let token = try Signer().token()
        let first = try token.current(at: moment(Self.start - 7200, after: 0))
        #expect(try token.refused(serial: first.serial, as: .expired, at: moment(Self.start - 7199, after: 1)) == .none)
        #expect(!token.knowsAnotherTime(at: moment(Self.start - 7100, after: 100)))
        #expect(token.knowsAnotherTime(at: moment(Self.start + 101, after: 101)))
        #expect(try token.current(at: moment(Self.start + 101, after: 101)).issuedAt == Self.start + 101)
        #expect(!token.knowsAnotherTime(at: moment(Self.start + 102, after: 102)))
    }

    /// The wall's lead over APNs' clock at first, from ten minutes on, and from three hours on.
    struct Story: Sendable, CustomTestStringConvertible {
        let walls: [Int64]
        var testDescription: String { "\(walls) s" }
    }

    private static let stories: [Story] = [-1800, 0, 1800].flatMap { first in
        [-93_600, -7200, -3660, -3540, -2400, -600, 0, 600, 2400, 3540, 3660, 7200, 93_600].flatMap { second in
            [0, second].map { Story(walls: [first, second, $0]) }
        }
    }

    /// APNs accepted the clock at first, and it is then changed for good, once or twice: pushes continue with the next issue, and an issue
    /// is replaced only after twenty minutes or a refusal.
    @Test(arguments: stories) func noStepKeepsPushesFromAPNsForLong(_ story: Story) throws {
        let token = try Signer().token()
        var refusals = 0
        var used: (serial: UInt64, since: Int64, isRefused: Bool) = (0, -1200, false)
        for second: Int64 in 0..<6 * 3600 {
            let wall = story.walls[second < 600 ? 0 : second < 3 * 3600 ? 1 : 2]
            let now = moment(Self.start + second + wall, after: second)
            for attempt in 1... {
                let issue = try token.current(at: now)
                if issue.serial != used.serial {
                    #expect(used.isRefused || second - used.since >= 1200, "second \(second): too soon")
                    used = (issue.serial, second, false)
                }
                let age = Self.start + second - issue.issuedAt
                if abs(age) <= 3600 {
                    token.accepted(serial: issue.serial)
                    break
                }
                used.isRefused = true
                let remedy = try token.refused(serial: issue.serial, as: age > 0 ? .expired : .invalid, at: now)
                if remedy != .none { refusals += 1 }
                // A proven time is given up with the tenth refusal.
                guard remedy != .none || attempt < 13, attempt < 40 else {
                    Issue.record("second \(second): pushing stops")
                    return
                }
            }
        }
        // A clock that is forty minutes late makes issues that last twenty.
        #expect(refusals <= 20, "\(refusals)")
    }

    @Test func theAgeIsOfTimePassedWhateverTheWallSays() throws {
        let signer = Signer()
        let token = try signer.token()
        let issue = try token.current(at: moment(Self.start))
        #expect(try token.current(at: moment(Self.start + 2600, after: 2699)).serial == issue.serial)
        #expect(try token.current(at: moment(Self.start + 2600, after: 2700)).serial == issue.serial + 1)
    }

    /// The wall was set back by 44 minutes just after the minting; an hour later APNs is right and the wall is not.
    @Test func anExpiredTokenIsReplacedAlthoughTheWallWasSetBack() throws {
        let token = try Signer().token()
        let issue = try token.current(at: moment(Self.start))
        let now = moment(Self.start + 3600 - 2640, after: 3600)
        #expect(try token.refused(serial: issue.serial, as: .expired, at: now) != .none)
        let fresh = try token.current(at: moment(Self.start + 3600 - 2640, after: 3600))
        #expect(fresh.serial == issue.serial + 1)
    }

    @Test func theFirstToSayExpiredMintsForAll() throws {
        let signer = Signer()
        let token = try signer.token()
        let issue = try token.current(at: moment(Self.start))
        for _ in 0..<100 {
            let remedy = try token.refused(serial: issue.serial, as: .expired, at: moment(Self.start + 1500))
            #expect(remedy == .newIssue)
        }
        #expect(signer.count == 2)
        #expect(try token.current(at: moment(Self.start + 1500)).serial == issue.serial + 1)
    }

    @Test func anExpiredTokenThatIsYoungIsNotReplaced() throws {
        let signer = Signer()
        let token = try signer.token()
        let issue = try token.current(at: moment(Self.start))
        #expect(try token.refused(serial: issue.serial, as: .expired, at: moment(Self.start + 1199)) == .none)
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

/// - Parameter passed: seconds since the tests' start; by default as the wall says.
func moment(_ wallSeconds: Int64, after passed: Int64? = nil) -> Moment {
    Moment(
        wallMilliseconds: wallSeconds * 1000,
        monotonicNanoseconds: (passed ?? wallSeconds - ProviderTokenTests.start) * 1_000_000_000)
}
