import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct CheckpointPassTests {
    private static let topic = TopicID("order")

    private static func pass(end: UInt64 = 100, places: Int = 3, first: [UInt8] = [1]) -> CheckpointPass {
        CheckpointPass(end: end, places: places, first: first)
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
        var pass = Self.pass(first: [1, 9])
        #expect(pass.rows == [[1, 9]] && pass.size == .bytes(2))
        pass.write([2, 8, 8], of: Self.topic, at: 2)
        pass.write([2, 7], of: Self.topic, at: 0)
        #expect(pass.size == .bytes(7))
        let taken = [pass.takeRows(), pass.takeRows()]
        let expected: [[[UInt8]]] = [[[1, 9], [2, 8, 8], [2, 7]], []]
        #expect(taken == expected && pass.size == .zero && pass.rows.isEmpty)
        pass.write([2], of: Self.topic, at: 1)
        #expect(pass.rows == [[2]] && pass.size == .bytes(1))
    }

    @Test func theWalkPassesEachPlaceOnceAndThenTheCheckpointIsWhole() {
        var pass = Self.pass(places: 3)
        var (places, wholes): ([Int?], [Bool]) = ([], [])
        for _ in 0..<4 {
            wholes.append(pass.isWhole)
            places.append(pass.next())
        }
        #expect(places == [0, 1, 2, nil] && wholes == [false, false, false, true] && pass.isWhole)
    }

    @Test func aCheckpointWithoutTopicsIsWholeAtOnce() {
        var pass = Self.pass(end: 1, places: 0)
        let place = pass.next()
        #expect(pass.isWhole && place == nil && pass.rows == [[1]])
    }

    /// Places on both sides of each word of 64 bits.
    @Test func aTopicIsOwedUntilItIsWrittenAndNoOtherOneWithIt() {
        let places = [0, 1, 62, 63, 64, 65, 127, 128, 129]
        var pass = Self.pass(places: 130)
        var owed = places
        for place in [63, 0, 128, 129, 64, 127, 1, 65, 62] {
            #expect(places.filter { pass.owes($0, birth: 5) } == owed)
            pass.write([2], of: Self.topic, at: place)
            owed.removeAll { $0 == place }
        }
        #expect(!places.contains { pass.owes($0, birth: 5) })
    }

    @Test func vacantPlacesAndTopicsThatBeganLaterAreNotOwed() {
        let pass = Self.pass(end: 7)
        let owed = ([0, 1, 6, 7, 8] as [UInt64]).map { pass.owes(0, birth: $0) }
        #expect(owed == [false, true, true, false, false])
    }

    @Test func aTopicWithoutASerialFormIsNamedAndOwedNoMore() {
        var pass = Self.pass()
        #expect(pass.unwritable == nil)
        pass.write(nil, of: Self.topic, at: 1)
        #expect(pass.unwritable == Self.topic && !pass.owes(1, birth: 5) && pass.owes(0, birth: 5))
        #expect(pass.rows == [[1]] && !pass.isGivenUp)
    }

    @Test func aTopicThatIsTooLargeIsNamedAndNotWritten() {
        var pass = Self.pass()
        pass.write(Self.row(bytes: ByteCount.mebibytes(64).bytes), of: Self.topic, at: 0)
        #expect(pass.unwritable == Self.topic && pass.rows.count == 1 && !pass.isGivenUp)
    }

    @Test func rowsThatNobodyTakesGiveTheCheckpointUpBeyondTheirBound() {
        let row = Self.row(bytes: ByteCount.mebibytes(1).bytes)
        var pass = Self.pass(places: 200, first: [])
        for place in 0..<64 { pass.write(row, of: Self.topic, at: place) }
        #expect(pass.size == .mebibytes(64) && !pass.isGivenUp && pass.rows.count == 65)
        pass.write([2], of: Self.topic, at: 64)
        #expect(pass.isGivenUp && pass.rows.isEmpty && pass.size == .zero && pass.unwritable == nil)
        #expect(pass.violation() == nil)
    }

    @Test func rowsThatAreTakenInTimeMayBeAnyNumber() {
        let row = Self.row(bytes: ByteCount.mebibytes(1).bytes)
        var pass = Self.pass(places: 200)
        for place in 0..<200 {
            pass.write(row, of: Self.topic, at: place)
            if place % 50 == 49 { _ = pass.takeRows() }
        }
        #expect(!pass.isGivenUp && pass.size == .zero)
    }

    @Test func aCheckpointThatIsGivenUpOwesNothingAndIsNeverWhole() {
        var pass = Self.pass()
        pass.giveUp()
        #expect(pass.isGivenUp && !pass.owes(0, birth: 5))
        while pass.next() != nil {}
        let rows = pass.takeRows()
        #expect(!pass.isWhole && rows.isEmpty)
    }

    /// Topic of a place; birth 0 is none.
    private struct Tenant {
        var birth: UInt64
        var content: UInt8 = 0
    }

    /// Topics change, go and come while the walk goes on; each is written before it changes, as `owes` tells.
    @Test(arguments: 0..<20 as Range<UInt64>) func rowsAreThoseOfTheMomentAtWhichThePassBegan(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tenants: [Tenant] = []
        for place in 0..<150 { tenants.append(Tenant(birth: random.chance(20) ? 0 : UInt64(place + 1))) }
        var nextBirth: UInt64 = 151
        let expected = tenants.indices.filter { tenants[$0].birth > 0 }.map { [UInt8($0), 0] }
        var pass = Self.pass(end: nextBirth, places: tenants.count, first: [0xFF])
        var rows: [[UInt8]] = []

        func save(_ place: Int) {
            guard pass.owes(place, birth: tenants[place].birth) else { return }
            pass.write([UInt8(place), tenants[place].content], of: Self.topic, at: place)
        }
        while !pass.isWhole {
            let place = random.number(below: tenants.count)
            switch random.number(below: 4) {
            case 0:
                save(place)
                tenants[place].content = 1
            case 1:
                save(place)
                tenants[place] = Tenant(birth: tenants[place].birth == 0 ? nextBirth : 0, content: 2)
                nextBirth += 1
            case 2: rows += pass.takeRows()
            default: if let next = pass.next() { save(next) }
            }
            let violation = pass.violation()
            #expect(violation == nil, "seed \(seed)")
        }
        rows += pass.takeRows()
        let written = rows.dropFirst().sorted { $0[0] < $1[0] }
        #expect(rows.first == [0xFF] && written == expected, "seed \(seed)")
    }
}
