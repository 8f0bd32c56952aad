import FanfareModel
import Testing

@Suite struct BitFieldTests {
    /// The bits of a byte in three fields, split at every two places.
    private static let splits: [[Range<Int>]] = (1..<7).flatMap { first in
        (first + 1..<8).map { second in [0..<first, first..<second, second..<8] }
    }

    @Test(arguments: splits) func eachFieldKeepsItsNumberWhateverTheOthersHold(fields: [Range<Int>]) {
        for written in [UInt8.min, 0x5a, .max] {
            var word: UInt8 = 0
            var numbers: [UInt8] = [0, 0, 0]
            for (index, bits) in fields.enumerated().reversed() {
                word[bits: bits] = written
                numbers[index] = written & UInt8((1 << bits.count) - 1)
                let held = fields.map { word[bits: $0] }
                #expect(held == numbers)
            }
        }
    }

    @Test func aFieldMayBeTheWholeWord() {
        var word: UInt32 = 7
        word[bits: 0..<32] = .max
        #expect(word == .max)
        #expect(word[bits: 0..<32] == .max)
    }

    @Test func aNumberThatIsTooGreatLeavesTheOtherFieldsAlone() {
        var word: UInt64 = 0
        word[bits: 4..<8] = 0xab
        #expect(word == 0xb0)
    }
}
