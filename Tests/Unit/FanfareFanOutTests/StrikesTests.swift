import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct StrikesTests {
    private static let second: Int64 = 1_000_000_000

    @Test func failuresOfTheTokenItselfDoubleTheWaitUpToAMinute() {
        var strikes = Strikes()
        let waits = (0..<9).map { _ in strikes.add(isOwn: true, in: 3) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64, 64].map { $0 * Self.second } && strikes.count == 6)
    }

    /// In an outage each answer is trouble, and none says anything of the token.
    @Test func troubleWithTheServiceInOneSpellDoublesTheWaitTwice() {
        var strikes = Strikes()
        let waits = (0..<5).map { _ in strikes.add(in: 3) }
        #expect(waits == [1, 2, 4, 4, 4].map { $0 * Self.second } && strikes.count == 2)
    }

    @Test func troubleCountsAsTheTokensOwnAfterOthersWereServed() {
        var strikes = Strikes()
        let waits = (0..<9).map { strikes.add(in: UInt8($0 % 16)) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64, 64].map { $0 * Self.second })
    }

    @Test func doubtfulStrikesNeverLessenThoseOfTheToken() {
        var strikes = Strikes()
        for _ in 0..<4 { _ = strikes.add(isOwn: true, in: 1) }
        let wait = strikes.add(in: 1)
        #expect(wait == 16 * Self.second && strikes.count == 4)
    }

    @Test func othersWereServedIfTheSpellIsAnotherThanAtTheLastStrike() {
        var strikes = Strikes()
        #expect(!strikes.othersWereServed(by: 5), "there is no strike")
        _ = strikes.add(in: 15)
        #expect(!strikes.othersWereServed(by: 15) && strikes.othersWereServed(by: 0))
        _ = strikes.add(in: 0)
        #expect(!strikes.othersWereServed(by: 0) && strikes.othersWereServed(by: 15))
    }
}

@Suite struct ServiceSpellsTests {
    @Test func aSpellBeginsWithTheFirstServiceAfterTrouble() {
        var spells = ServiceSpells()
        var numbers: [UInt8] = []
        for isServed in [true, true, false, false, true, true, false, true] {
            if isServed { spells.noteService() } else { spells.noteTrouble() }
            numbers.append(spells.number)
        }
        #expect(numbers == [0, 0, 0, 0, 1, 1, 1, 2])
    }

    /// A strike keeps the spell in four bits.
    @Test func theNumberOfASpellWrapsAroundWithinFourBits() {
        var spells = ServiceSpells()
        var numbers: [UInt8] = []
        for _ in 0..<17 {
            spells.noteTrouble()
            spells.noteService()
            numbers.append(spells.number)
        }
        #expect(numbers == Array(1...15) + [0, 1])
    }
}
