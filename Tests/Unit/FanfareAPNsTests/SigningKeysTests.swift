import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct SigningKeysTests {
    private let old = SigningKey(id: "OLD", publicKey: "old") { _ in [] }
    private let new = SigningKey(id: "NEW", publicKey: "new") { _ in [] }
    /// A copy of the new key under the name of the old one.
    private let misnamed = SigningKey(id: "OLD", publicKey: "new") { _ in [] }

    @Test func aKeyThatIsAcceptedStaysWhereAnotherHasItsID() {
        var keys = SigningKeys(old)
        keys.accepted()
        let isTaken = keys.found(misnamed, in: "key.p8")
        #expect(!isTaken)
        #expect(keys.current.publicKey == "old" && keys.serial == 1)
        #expect(keys.complaint?.hasPrefix("key file key.p8 holds another key") == true)
        // The file has the right key again.
        let isMended = keys.found(old, in: "key.p8")
        #expect(!isMended)
        #expect(keys.complaint == nil && keys.serial == 1)
    }

    /// The replaced key is a wrong one, or one that was accepted and then revoked.
    @Test(arguments: [false, true]) func aKeyThatIsRefusedIsReplacedUnderItsIDAtOnce(wasAccepted: Bool) {
        var keys = SigningKeys(old)
        if wasAccepted { keys.accepted() }
        let (isChanged, isTaken) = (keys.refused(at: .after(.zero)), keys.found(misnamed, in: "key.p8"))
        #expect(!isChanged && isTaken)
        #expect(keys.current.publicKey == "new" && keys.serial == 2 && keys.complaint == nil)
    }

    /// One faulty server among many takes no key out of use; half a minute without an accepted push does.
    @Test func theKeyInTheFileHasItsTurnWhenTheOneBeforeIsRefusedForLong() {
        var keys = SigningKeys(old)
        keys.accepted()
        let isTaken = keys.found(misnamed, in: "key.p8")
        #expect(!isTaken)
        for time in 0..<20 as Range<Int64> {
            let isChanged = keys.refused(at: .after(.seconds(time)))
            #expect(!isChanged)
        }
        keys.accepted()
        for time in 40..<70 as Range<Int64> {
            let isChanged = keys.refused(at: .after(.seconds(time)))
            #expect(!isChanged)
        }
        let isChanged = keys.refused(at: .after(.seconds(70)))
        #expect(isChanged)
        #expect(keys.current.publicKey == "new")
    }

    /// Somebody corrects the file twice within a minute: the key that APNs has accepted is still the one to fall back on.
    @Test func aSecondNewKeyLeavesTheAcceptedOneToFallBackOn() {
        let newest = SigningKey(id: "NEWEST", publicKey: "newest") { _ in [] }
        var keys = SigningKeys(old)
        keys.accepted()
        let areTaken = [keys.found(new, in: "AuthKey_NEW.p8"), keys.found(newest, in: "AuthKey_NEWEST.p8")]
        #expect(areTaken == [true, true])
        let changes = (0..<10).map { keys.refused(at: .after(.milliseconds($0))) }
        #expect(changes.firstIndex(of: true) == 9)
        #expect(keys.current.id == "OLD")
    }

    @Test func aNewKeyThatIsRefusedLeavesTheOneBeforeInUse() {
        var keys = SigningKeys(old)
        keys.accepted()
        let isTaken = keys.found(new, in: "AuthKey_NEW.p8")
        #expect(isTaken)
        #expect(keys.current.id == "NEW" && keys.serial == 2)
        let changes = (0..<10).map { keys.refused(at: .after(.milliseconds($0))) }
        #expect(changes.firstIndex(of: true) == 9)
        #expect(keys.current.id == "OLD" && keys.serial == 3)
        #expect(keys.complaint == "APNs refuses the key NEW; the key OLD is used")
        // If the new key is refused, too, both are tried in turn, for longer each time: each change costs all connections.
        var turns: [Int64] = []
        var changedAt: Int64 = 10
        for time in 10..<4000 as Range<Int64> where keys.refused(at: .after(.seconds(time))) {
            turns.append(time - changedAt)
            changedAt = time
        }
        #expect(turns.count == 6 && zip(turns, turns.dropFirst()).allSatisfy { 2 * $0 <= $1 + 2 }, "\(turns)")
    }

    /// An operator revokes the former key after the new one works.
    @Test func aKeyThatWasFollowedByAnAcceptedOneIsNothingToGoBackTo() {
        var keys = SigningKeys(old)
        keys.accepted()
        let isTaken = keys.found(new, in: "AuthKey_NEW.p8")
        #expect(isTaken)
        keys.accepted()
        for time in 0..<1000 as Range<Int64> {
            let isChanged = keys.refused(at: .after(.seconds(time)))
            #expect(!isChanged)
        }
        #expect(keys.current.id == "NEW" && keys.serial == 2)
    }

    @Test func aKeyThatWasNeverAcceptedIsNothingToFallBackOn() {
        var keys = SigningKeys(old)
        let isTaken = keys.found(new, in: "AuthKey_NEW.p8")
        #expect(isTaken)
        for time in 0..<100 as Range<Int64> {
            let isChanged = keys.refused(at: .after(.seconds(time)))
            #expect(!isChanged)
        }
        #expect(keys.current.id == "NEW" && keys.serial == 2)
    }
}
