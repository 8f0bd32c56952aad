import FanfareModel
import Testing

@testable import FanfareLog

@Suite struct CardFormTests {
    @Test func eachCardComesBackAsItWas() throws {
        for card in CardSamples.all + CardSamples.starting {
            #expect(try Card(card.bytes(serial: 5), serial: 5) == card)
        }
    }

    @Test(arguments: [UInt64(1), 2, 3]) func randomCardsComeBackAndTheirDamageIsSeen(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for serial in UInt64(1)...1000 {
            let card = CardSamples.random(using: &random)
            var bytes = card.bytes(serial: serial)
            #expect(try Card(bytes, serial: serial) == card, "seed \(seed), serial \(serial)")
            #expect(throws: SerialError.checksum) { try Card(bytes, serial: serial + 1) }
            if Bool.random(using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            } else {
                bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            }
            #expect(throws: SerialError.self, "seed \(seed)") { try Card(bytes, serial: serial) }
        }
    }

    /// The checksum is right here, as a hostile writer would make it: nothing may trap, and what is read means the same when written.
    @Test(arguments: [UInt64(1), 2, 3]) func strangeContentOfACardIsRefused(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<10_000 {
            var bytes = CardSamples.random(using: &random).bytes(serial: 1)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count - 4, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let sealed = LogEntry.sealed(bytes.dropLast(4), at: 1)
            guard let card = try? Card(sealed, serial: 1) else { continue }
            // Attributes may have numbers that are equal to nothing.
            let written = card.bytes(serial: 1)
            #expect((try? Card(written, serial: 1))?.bytes(serial: 1) == written, "seed \(seed)")
        }
    }

    @Test func aFormOfANewerReleaseIsNamed() {
        var bytes = Array(CardSamples.all[0].bytes(serial: 1).dropLast(4))
        bytes[0] = Card.formWithRequest + 1
        let error = #expect(throws: SerialError.self) { try Card(LogEntry.sealed(bytes[...], at: 1), serial: 1) }
        #expect(error == .newerForm(Card.formWithRequest + 1, known: Card.formWithRequest))
        #expect(error?.remedy == "use that release")
    }

    /// Stores of this release must stay readable: these bytes never change. A new form gets a golden list of its own beside them.
    @Test func theFirstFormOfCardsIsAsItWas() throws {
        #expect(CardFormTests.hex(CardSamples.all) == GoldenCards.form1)
    }

    @Test func theFormOfCardsWithARequestIsAsItWas() throws {
        #expect(CardFormTests.hex(CardSamples.starting) == GoldenCards.form2)
    }

    private static func hex(_ cards: [Card]) -> [String] {
        cards.enumerated().map { index, card in
            card.bytes(serial: UInt64(index + 1)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                .joined()
        }
    }

    /// A card that shows has no request, and a request has a name.
    @Test func aRequestIsThatOfACardThatStarts() throws {
        for phase in [Card.Phase.shown, .leaving] {
            var card = CardSamples.starting[0]
            card.phase = phase
            #expect(throws: SerialError.malformed("request")) { try Card(card.bytes(serial: 1), serial: 1) }
        }
        var card = CardSamples.starting[0]
        card.activity = nil
        #expect(throws: SerialError.malformed("request")) { try Card(card.bytes(serial: 1), serial: 1) }
    }

    /// The slice of a subscriber is part of the stored form: another one would not find the subscriber's cards.
    @Test func slicesOfSubscribersAreAsTheyWere() {
        let slices = ["anna", "", "ä"].map { Card.slice(ofSubscriber: $0, token: [1]) }
        #expect(slices == GoldenCards.slices)
        #expect(Card.slice(ofSubscriber: nil, token: [1]) == GoldenCards.tokenSlice)
    }
}
