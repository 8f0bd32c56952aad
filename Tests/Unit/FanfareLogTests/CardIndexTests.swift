import FanfareModel
import Testing

@testable import FanfareLog

@Suite struct CardIndexTests {
    /// Beside a dictionary, with ids of which many have their upper bits in common.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func everyCardIsACandidateOfItsId(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var index = CardIndex(expectedCount: seed.isMultiple(of: 2) ? 0 : 100_000)
        var cards: [UInt64: Set<CardKey>] = [:]
        let prefixes = (0..<50).map { _ in random.next() & ~0xFF_FFFF_FFFF } + [0, ~0xFF_FFFF_FFFF]
        // Their lower 32 bits begin anew meanwhile.
        var serial: UInt64 = random.next() % 2 == 0 ? 1 : 7 << 32 - 500
        func same(_ a: UInt64, _ b: UInt64) -> Bool { a >> 40 == b >> 40 }
        for step in 0..<2000 {
            if step.isMultiple(of: 500) { #expect(index.violation() == nil, "seed \(seed), step \(step)") }
            let id = prefixes[Int(random.next() % UInt64(prefixes.count))] | random.next() % 4
            switch random.next() % 4 {
            case 0:
                guard let key = cards[id]?.min(by: { $0.serial < $1.serial }) else { continue }
                index.remove(id, at: key)
                cards[id]?.remove(key)
            case 1: index.remove(id, at: CardKey(slice: 1, serial: serial + 1))
            default:
                let key = CardKey(slice: Int(random.next() % 64), serial: serial)
                serial += 1
                index.insert(id, at: key)
                cards[id, default: []].insert(key)
            }
            let candidates = index.candidates(id)
            let expected = cards.filter { same($0.key, id) }.values.reduce(into: Set()) { $0.formUnion($1) }
            #expect(Set(candidates) == expected && candidates.count == expected.count, "seed \(seed)")
            #expect(candidates.map(\.serial) == candidates.map(\.serial).sorted(by: >), "seed \(seed)")
        }
        #expect(index.count == cards.values.reduce(0) { $0 + $1.count } && index.violation() == nil, "seed \(seed)")
    }

    /// A card that is billions of cards older than the newest one is found no more, and hides no other.
    @Test func aCardOfLongAgoIsNotFound() {
        var index = CardIndex()
        index.insert(1 << 63, at: CardKey(slice: 3, serial: 1 << 33))
        index.insert(1 << 63, at: CardKey(slice: 3, serial: 5))
        #expect(index.candidates(1 << 63) == [CardKey(slice: 3, serial: 1 << 33)] && index.count == 1)
    }
}
