import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct FailureStreakTests {
    @Test func failuresOfTheTokenItselfDoubleTheWaitUpToAMinute() {
        var failures = FailureStreak()
        let waits = (0..<9).map { _ in failures.add(isOwn: true, in: 3) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64, 64].map { Duration.seconds($0) } && failures.count == 6)
    }

    /// In an outage each answer is trouble, and none says anything of the token.
    @Test func troubleWithTheServiceInOneSpellDoublesTheWaitTwice() {
        var failures = FailureStreak()
        let waits = (0..<5).map { _ in failures.add(in: 3) }
        #expect(waits == [1, 2, 4, 4, 4].map { Duration.seconds($0) } && failures.count == 2)
    }

    @Test func troubleCountsAsTheTokensOwnAfterOthersWereServed() {
        var failures = FailureStreak()
        let waits = (0..<9).map { failures.add(in: UInt8($0 % 16)) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64, 64].map { Duration.seconds($0) })
    }

    @Test func doubtfulFailuresNeverLessenThoseOfTheToken() {
        var failures = FailureStreak()
        for _ in 0..<4 { _ = failures.add(isOwn: true, in: 1) }
        let wait = failures.add(in: 1)
        #expect(wait == .seconds(16) && failures.count == 4)
    }

    @Test func othersWereServedIfTheSpellIsAnotherThanAtTheLastFailure() {
        var failures = FailureStreak()
        #expect(!failures.othersWereServed(by: 5), "there is no failure")
        _ = failures.add(in: 15)
        #expect(!failures.othersWereServed(by: 15) && failures.othersWereServed(by: 0))
        _ = failures.add(in: 0)
        #expect(!failures.othersWereServed(by: 0) && failures.othersWereServed(by: 15))
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

    /// A failure keeps the spell in four bits.
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
