import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct TokenUseTests {
    private static let start = ProviderTokenTests.start
    /// Unix nanoseconds at which the monotonic clock of these tests began.
    private static let origin = start * 1_000_000_000
    private let proof = WallProof()
    private let tokens: TokenUse

    init() throws {
        let credentials = try ProviderToken(keyID: "ABC123DEFG", teamID: "TEAM123456") { _ in
            [UInt8](repeating: 0xff, count: 64)
        }
        tokens = TokenUse(of: credentials, proof)
    }

    @Test func aJWTIsNewToTheConnectionsOnce() throws {
        let issue = try tokens.current(at: moment(Self.start))
        let steps = [tokens.advance(to: issue), tokens.advance(to: issue)]
        #expect(steps == [.another, .same])
    }

    @Test func aJWTOfAnotherKeyIsNotSentBeforeTheKeyHasChanged() throws {
        let issue = try tokens.current(at: moment(Self.start))
        _ = tokens.advance(to: issue)
        tokens.noteSent(issue)
        #expect(!tokens.isOfFormerKey(issue.serial))
        tokens.changeKey(to: issue.keySerial + 1)
        let step = tokens.advance(to: issue)
        #expect(step == .anotherKey && tokens.isOfFormerKey(issue.serial) && !tokens.isOfFormerKey(issue.serial + 1))
    }

    @Test func anAcceptedJWTProvesItsTime() throws {
        let issue = try tokens.current(at: moment(Self.start))
        _ = tokens.advance(to: issue)
        tokens.noteSent(issue)
        #expect(proof.origin == nil)
        tokens.noteAccepted(issue.serial)
        #expect(proof.origin == Self.origin && tokens.violation() == nil)
    }

    /// The wall clock was set forward by two hours after the start, and APNs finds its JWT in the future.
    @Test func pushesWaitForALaterClockAfterTheTimeHasChanged() throws {
        tokens.begin(at: moment(Self.start))
        let wrong = moment(Self.start + 7800, after: 600)
        let issue = try tokens.current(at: wrong)
        _ = tokens.advance(to: issue)
        #expect(tokens.maySend(at: wrong.monotonic))
        let remedy = try tokens.refused(issue.serial, as: .invalid, at: wrong)
        #expect(remedy == .anotherTime && proof.origin == Self.origin)
        #expect(!tokens.maySend(at: wrong.monotonic) && tokens.maySend(at: wrong.monotonic + .nanoseconds(1)))
    }

    @Test func aMendedClockIsNoticedOnceAJWTWasRefused() throws {
        let mended = moment(Self.start + 7200, after: 10)
        #expect(tokens.repair(at: mended) == nil, "no key is in use yet")
        let issue = try tokens.current(at: moment(Self.start))
        _ = tokens.advance(to: issue)
        let remedy = try tokens.refused(issue.serial, as: .invalid, at: moment(Self.start + 1))
        #expect(remedy == TokenUse.Remedy.none)
        #expect(tokens.repair(at: moment(Self.start + 2)) == nil)
        #expect(tokens.repair(at: mended) == .time)
    }
}
