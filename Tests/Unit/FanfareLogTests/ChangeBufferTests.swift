import FanfareModel
import Testing

@testable import FanfareLog

@Suite struct ChangeBufferTests {
    /// List and slices as a file has them, by a buffer's words.
    private struct File {
        var list: [UInt64: (key: CardKey, content: Int)] = [:]
        var slices: [CardKey: Int] = [:]
        var merged = 0

        /// Changes cards, as one commit.
        mutating func change(_ changes: [(key: CardKey, content: Int)], through buffer: inout ChangeBuffer) {
            for (key, number) in buffer.takeMerged(besides: changes.count) {
                let row = list[number]
                #expect(row?.key == key)
                if slices[key] != nil { slices[key] = row?.content }
                merged += 1
            }
            for number in buffer.takeRemoved(besides: changes.count) { list[number] = nil }
            for (key, content) in changes { list[buffer.append(key)] = (key, content) }
        }

        func content(of key: CardKey, _ buffer: ChangeBuffer) -> Int? {
            guard let row = slices[key] else { return nil }
            return buffer.number(of: key).map { list[$0]?.content ?? -1 } ?? row
        }

        /// A buffer that knows the list alone, as after a restart.
        func reopened(mergeMin: Int) -> ChangeBuffer {
            let numbers = list.keys.sorted()
            var buffer = ChangeBuffer(from: numbers.first ?? 1, mergeMin: mergeMin)
            for number in numbers { buffer.append(list[number]?.key ?? CardKey(slice: 0, serial: 0)) }
            return buffer
        }
    }

    private static func key(_ number: Int) -> CardKey { CardKey(slice: number % 64, serial: UInt64(number)) }

    /// Each card has what it was changed to last, however often the file is opened anew, and none comes back.
    @Test(arguments: 1...20) func eachCardHasItsNewestContent(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var file = File()
        var wanted: [CardKey: Int] = [:]
        for number in 0..<300 { (file.slices[Self.key(number)], wanted[Self.key(number)]) = (0, 0) }
        var buffer = ChangeBuffer(from: 1, mergeMin: 32)
        for step in 1...400 {
            if random.chance(0.2), let gone = wanted.keys.randomElement(using: &random), wanted.count > 20 {
                buffer.remove(gone)
                (file.slices[gone], wanted[gone]) = (nil, nil)
            }
            let keys = wanted.keys.sorted { $0.serial < $1.serial }
            let changes = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                (key: keys.randomElement(using: &random)!, content: step)
            }
            for (key, content) in changes { wanted[key] = content }
            file.change(changes, through: &buffer)
            if random.chance(0.05) { buffer = file.reopened(mergeMin: 32) }
            let violation = buffer.violation()
            #expect(violation == nil, "seed \(seed), step \(step)")
            for number in 0..<300 {
                let key = Self.key(number)
                guard file.content(of: key, buffer) != wanted[key] else { continue }
                Issue.record("seed \(seed), step \(step): \(key) has \(file.content(of: key, buffer) ?? -1)")
                return
            }
        }
        #expect(file.merged > 100)
    }

    /// The list stays a few times as long as what is merged at a time, however many changes there are.
    @Test func theListOfChangedCardsDoesNotGrow() {
        var random = SplitMix64(seed: 1)
        var file = File()
        for number in 0..<100_000 { file.slices[Self.key(number)] = 0 }
        var buffer = ChangeBuffer(from: 1, mergeMin: 1000)
        var (longest, most) = (0, 0)
        for step in 1...2000 {
            let changes = (0..<50).map { _ in
                (key: Self.key(Int.random(in: 0..<100_000, using: &random)), content: step)
            }
            file.change(changes, through: &buffer)
            (longest, most) = (max(longest, file.list.count), max(most, buffer.count))
        }
        #expect(longest < 3000 && most < 3000, "\(longest) rows, \(most) cards")
    }

    /// The cards of a merge come in the order of their keys, so that those of a page are written together.
    @Test func cardsAreMergedInTheOrderOfTheirKeys() {
        var random = SplitMix64(seed: 2)
        var buffer = ChangeBuffer(from: 1, mergeMin: 64)
        for _ in 0..<200 { buffer.append(Self.key(Int.random(in: 0..<10_000, using: &random))) }
        let count = buffer.count
        var merged: [CardKey] = []
        while buffer.count > 0 { merged += buffer.takeMerged(besides: 10).map(\.key) }
        #expect(merged.count == count && buffer.isDue == false)
        #expect(zip(merged, merged.dropFirst()).allSatisfy { ($0.slice, $0.serial) < ($1.slice, $1.serial) })
        #expect(buffer.takeRemoved(besides: 1000) == 1..<201 && buffer.isEmpty)
    }

    /// A few cards change again and again, or each card changes once and goes.
    @Test(arguments: [false, true]) func theListDoesNotGrowWithChangesOfFewCards(theyGo: Bool) {
        var file = File()
        var buffer = ChangeBuffer(from: 1, mergeMin: 32)
        var longest = 0
        for step in 0..<20_000 {
            let key = Self.key(theyGo ? step : step % 10)
            file.slices[key] = 0
            file.change([(key, step)], through: &buffer)
            longest = max(longest, file.list.count)
            guard theyGo else { continue }
            buffer.remove(key)
            file.slices[key] = nil
        }
        #expect(longest < 500, "\(longest) rows")
    }

    /// A row as this release writes it, and what any other bytes in its place are.
    @Test func rowsOfChangedCardsHaveTheirForm() {
        let change = ChangedCard(key: CardKey(slice: 63, serial: 0x0102_0304), card: [7, 8, 9])
        let row = change.row(number: 5)
        let hex = row.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hex == "04030201000000fc0708097a29ca25")
        #expect(ChangedCard(row, number: 5) == change && ChangedCard(row, number: 6) == nil)
        for bit in 0..<8 * row.count {
            var damaged = row
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(ChangedCard(damaged, number: 5) == nil, "bit \(bit)")
        }
        var random = SplitMix64(seed: 1)
        for length in 0..<200 {
            let bytes = (0..<length % 20).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            #expect(ChangedCard(bytes, number: 5) == nil)
            // A right checksum lets the reader see all of it.
            let sealed = ChangedCard(LogEntry.sealed(bytes[...], at: 5), number: 5)
            #expect((sealed == nil) == (bytes.count < 8))
        }
    }
}
