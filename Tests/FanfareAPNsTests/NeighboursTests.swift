import FanfareCore
import Testing

@testable import FanfareAPNs

@Suite struct NeighboursTests {
    private static let second: Int64 = 1_000_000_000
    private final class Pool {}
    private let one = Pool()
    private let other = Pool()
    private let neighbours = Neighbours(pools: 3)

    @Test func nobodyGivesWhereNobodyStarves() {
        #expect(!neighbours.isWanted(at: 0))
        #expect(!neighbours.take(at: 0))
    }

    /// However many of the others ask, and however often the one says so.
    @Test func whoStarvesGetsOneAtATime() {
        for _ in 0..<3 { neighbours.starves(ObjectIdentifier(one), at: 0) }
        #expect(neighbours.isWanted(at: 0) && neighbours.take(at: 0))
        neighbours.starves(ObjectIdentifier(one), at: Self.second)
        #expect(neighbours.isWanted(at: Self.second) && !neighbours.take(at: Self.second))
        #expect(!neighbours.take(at: 10 * Self.second - 1) && neighbours.take(at: 10 * Self.second))
    }

    @Test func twoGetOneEach() {
        neighbours.starves(ObjectIdentifier(one), at: 0)
        neighbours.starves(ObjectIdentifier(other), at: 0)
        #expect(neighbours.take(at: 0) && neighbours.take(at: 0) && !neighbours.take(at: 0))
    }

    @Test func whoIsFedWantsNoMore() {
        neighbours.starves(ObjectIdentifier(one), at: 0)
        neighbours.starves(ObjectIdentifier(other), at: 0)
        neighbours.isFed(ObjectIdentifier(one))
        #expect(neighbours.isWanted(at: 0))
        neighbours.isFed(ObjectIdentifier(other))
        neighbours.isFed(ObjectIdentifier(other))
        #expect(!neighbours.isWanted(at: 0) && !neighbours.take(at: 0))
    }

    /// It has no connection for another reason: the others go on with what they have.
    @Test func whoIsNotHelpedByAFewGetsNoMore() {
        neighbours.starves(ObjectIdentifier(one), at: 0)
        var given = 0
        for second in 0..<3600 as Range<Int64> {
            neighbours.starves(ObjectIdentifier(one), at: second * Self.second)
            if neighbours.take(at: second * Self.second) { given += 1 }
        }
        #expect(given == Neighbours.givenMax)
        #expect(!neighbours.isWanted(at: 3600 * Self.second))
    }
}
