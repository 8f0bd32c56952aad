import FanfareModel
import Testing

@Suite struct BitFieldTests {
    /// Splits the bits of a word and of its number at every two places.
    private func fields(_ width: Int) -> [[Range<Int>]] {
        (1..<width - 1).flatMap { first in (first + 1..<width).map { [0..<first, first..<$0, $0..<width] } }
    }

    @Test func eachFieldKeepsItsNumberWhateverTheOthersHold() {
        for fields in fields(8) {
            for written in [UInt8.min, 0x5a, .max] {
                var word: UInt8 = 0
                var numbers: [UInt8] = [0, 0, 0]
                for (index, bits) in fields.enumerated().reversed() {
                    word[bits: bits] = written
                    numbers[index] = written & UInt8(1 << bits.count - 1)
                    #expect(fields.map { word[bits: $0] } == numbers, "\(fields)")
                }
            }
        }
    }

    @Test func aFieldMayBeTheWholeWord() {
        var word: UInt32 = 7
        word[bits: 0..<32] = .max
        #expect(word == .max && word[bits: 0..<32] == .max)
    }

    @Test func aNumberThatIsTooGreatLeavesTheOtherFieldsAlone() {
        var word: UInt64 = 0
        word[bits: 4..<8] = 0xab
        #expect(word == 0xb0)
    }
}
