import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct TokenStoreTests {
    /// Tokens and texts of every length, replaced and removed in any order, are what was inserted last.
    @Test(arguments: 0..<20 as Range<UInt64>) func tokensAndTextsAreWhatWasInserted(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var store = TokenStore()
        var known: [(reference: TokenReference, token: [UInt8], text: String?)] = []
        for step in 0..<3000 {
            if random.chance(0.4), !known.isEmpty {
                let gone = known.remove(at: Int.random(in: 0..<known.count, using: &random))
                store.remove(gone.reference)
            } else {
                let bytes = Int.random(in: 1...Subscription.tokenSizeMax.bytes, using: &random)
                let token = (0..<bytes).map { _ in UInt8.random(in: 0...255, using: &random) }
                let letters = random.chance(0.5) ? 0 : Int.random(in: 1...TokenStore.textSizeMax.bytes, using: &random)
                let text = letters == 0 ? nil : String(repeating: random.chance(0.5) ? "x" : "y", count: letters)
                known.append((store.insert(token, text: text), token, text))
            }
            guard step % 100 == 0 else { continue }
            for (reference, token, text) in known {
                var copy: [UInt8] = []
                store.copy(reference, to: &copy)
                #expect(
                    copy == token && Array(store[reference]) == token && store.text(reference) == text, "seed \(seed)")
            }
        }
    }

    /// An id's text takes its length, and at most 8 bytes more.
    @Test(arguments: [1, 32, 80, 100, Subscription.tokenSizeMax.bytes])
    func aTextTakesItsLengthAndLittleMore(token: Int) {
        for text in 1...TokenStore.textSizeMax.bytes {
            var (with, without) = (TokenStore(), TokenStore())
            for _ in 0..<10 {
                _ = with.insert(Array(repeating: 1, count: token), text: String(repeating: "x", count: text))
                _ = without.insert(Array(repeating: 1, count: token))
            }
            #expect(with.bytes - without.bytes <= 10 * (text + 8), "\(text) bytes")
        }
    }

    @Test func aTextThatIsEmptyOrTooLongIsNotKept() {
        var store = TokenStore()
        let texts = ["", String(repeating: "x", count: TokenStore.textSizeMax.bytes + 1), nil]
        for text in texts {
            let reference = store.insert([1, 2, 3], text: text)
            #expect(store.text(reference) == nil && Array(store[reference]) == [1, 2, 3])
        }
        let reference = store.insert([1], text: "Größe ✓")
        #expect(store.text(reference) == "Größe ✓")
    }

    /// A day of rotations among cards with ids of different lengths takes no more than was in use at one time.
    @Test func freedSpaceIsUsedAgain() {
        var store = TokenStore()
        var references = (1...100).map { store.insert(Array(repeating: 7, count: 32), text: "card \($0)") }
        let bytes = store.bytes
        for round in 0..<50 {
            for index in references.indices {
                store.remove(references[index])
                references[index] = store.insert(Array(repeating: UInt8(round), count: 32), text: "card \(index + 1)")
            }
        }
        #expect(store.bytes == bytes)
    }
}
