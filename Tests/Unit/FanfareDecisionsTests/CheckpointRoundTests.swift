import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct CheckpointRoundTests {
    private static let topic = TopicID("order")

    private static func round(end: UInt64 = 100, places: Int = 3, first: [UInt8] = [1]) -> CheckpointRound {
        CheckpointRound(end: end, places: places, first: first)
    }

    /// Row of that many bytes, a power of two. It is doubled, because tests are not optimised.
    private static func row(bytes count: Int) -> [UInt8] {
        var row: [UInt8] = [2]
        while row.count < count { row.append(contentsOf: row) }
        return row
    }

    /// Checkpoints of earlier releases contain these numbers.
    @Test func firstByteOfARowKeepsItsMeaning() {
        #expect(CheckpointRow.core.rawValue == 1 && CheckpointRow.topic.rawValue == 2)
    }

    @Test func rowsAreTakenOnceTheCoresBeforeThoseOfTopics() {
        var round = Self.round(first: [1, 9])
        #expect(round.rows == [[1, 9]] && round.size == .bytes(2))
        round.write([2, 8, 8], of: Self.topic, at: 2)
        round.write([2, 7], of: Self.topic, at: 0)
        #expect(round.size == .bytes(7))
        let taken = [round.takeRows(), round.takeRows()]
        let expected: [[[UInt8]]] = [[[1, 9], [2, 8, 8], [2, 7]], []]
        #expect(taken == expected && round.size == .zero && round.rows.isEmpty)
        round.write([2], of: Self.topic, at: 1)
        #expect(round.rows == [[2]] && round.size == .bytes(1))
    }

    @Test func theWalkPassesEachPlaceOnceAndThenTheCheckpointIsWhole() {
        var round = Self.round(places: 3)
        var (places, wholes): ([Int?], [Bool]) = ([], [])
        for _ in 0..<4 {
            wholes.append(round.isWhole)
            places.append(round.next())
        }
        #expect(places == [0, 1, 2, nil] && wholes == [false, false, false, true] && round.isWhole)
    }

    @Test func aCheckpointWithoutTopicsIsWholeAtOnce() {
        var round = Self.round(end: 1, places: 0)
        let place = round.next()
        #expect(round.isWhole && place == nil && round.rows == [[1]])
    }

    /// Places on both sides of each word of 64 bits.
    @Test func aTopicIsOwedUntilItIsWrittenAndNoOtherOneWithIt() {
        let places = [0, 1, 62, 63, 64, 65, 127, 128, 129]
        var round = Self.round(places: 130)
        var owed = places
        for place in [63, 0, 128, 129, 64, 127, 1, 65, 62] {
            #expect(places.filter { round.owes($0, birth: 5) } == owed)
            round.write([2], of: Self.topic, at: place)
            owed.removeAll { $0 == place }
        }
        #expect(!places.contains { round.owes($0, birth: 5) })
    }

    @Test func vacantPlacesAndTopicsThatBeganLaterAreNotOwed() {
        let round = Self.round(end: 7)
        let owed = ([0, 1, 6, 7, 8] as [UInt64]).map { round.owes(0, birth: $0) }
        #expect(owed == [false, true, true, false, false])
    }

    @Test func aTopicWithoutASerialFormIsNamedAndOwedNoMore() {
        var round = Self.round()
        #expect(round.unwritable == nil)
        round.write(nil, of: Self.topic, at: 1)
        #expect(round.unwritable == Self.topic && !round.owes(1, birth: 5) && round.owes(0, birth: 5))
        #expect(round.rows == [[1]] && !round.isGivenUp)
    }

    @Test func aTopicThatIsTooLargeIsNamedAndNotWritten() {
        var round = Self.round()
        round.write(Self.row(bytes: ByteCount.mebibytes(64).bytes), of: Self.topic, at: 0)
        #expect(round.unwritable == Self.topic && round.rows.count == 1 && !round.isGivenUp)
    }

    @Test func rowsThatNobodyTakesGiveTheCheckpointUpBeyondTheirBound() {
        let row = Self.row(bytes: ByteCount.mebibytes(1).bytes)
        var round = Self.round(places: 200, first: [])
        for place in 0..<64 { round.write(row, of: Self.topic, at: place) }
        #expect(round.size == .mebibytes(64) && !round.isGivenUp && round.rows.count == 65)
        round.write([2], of: Self.topic, at: 64)
        #expect(round.isGivenUp && round.rows.isEmpty && round.size == .zero && round.unwritable == nil)
    }

    @Test func rowsThatAreTakenInTimeMayBeAnyNumber() {
        let row = Self.row(bytes: ByteCount.mebibytes(1).bytes)
        var round = Self.round(places: 200)
        for place in 0..<200 {
            round.write(row, of: Self.topic, at: place)
            if place % 50 == 49 { _ = round.takeRows() }
        }
        #expect(!round.isGivenUp && round.size == .zero)
    }

    @Test func aCheckpointThatIsGivenUpOwesNothingAndIsNeverWhole() {
        var round = Self.round()
        round.giveUp()
        #expect(round.isGivenUp && !round.owes(0, birth: 5))
        while round.next() != nil {}
        let rows = round.takeRows()
        #expect(!round.isWhole && rows.isEmpty)
    }

    /// Topic of a place; birth 0 is none.
    private struct Tenant {
        var birth: UInt64
        var content: UInt8 = 0
    }

    /// Topics change, go and come while the walk goes on; each is written before it changes, as `owes` tells.
    @Test(arguments: 0..<20 as Range<UInt64>) func rowsAreThoseOfTheMomentAtWhichTheRoundBegan(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tenants: [Tenant] = []
        for place in 0..<150 { tenants.append(Tenant(birth: random.chance(20) ? 0 : UInt64(place + 1))) }
        var nextBirth: UInt64 = 151
        let expected = tenants.indices.filter { tenants[$0].birth > 0 }.map { [UInt8($0), 0] }
        var round = Self.round(end: nextBirth, places: tenants.count, first: [0xFF])
        var rows: [[UInt8]] = []

        func save(_ place: Int) {
            guard round.owes(place, birth: tenants[place].birth) else { return }
            round.write([UInt8(place), tenants[place].content], of: Self.topic, at: place)
        }
        while !round.isWhole {
            let place = random.number(below: tenants.count)
            switch random.number(below: 4) {
            case 0:
                save(place)
                tenants[place].content = 1
            case 1:
                save(place)
                tenants[place] = Tenant(birth: tenants[place].birth == 0 ? nextBirth : 0, content: 2)
                nextBirth += 1
            case 2: rows += round.takeRows()
            default: if let next = round.next() { save(next) }
            }
        }
        rows += round.takeRows()
        let written = rows.dropFirst().sorted { $0[0] < $1[0] }
        #expect(rows.first == [0xFF] && written == expected, "seed \(seed)")
    }
}
