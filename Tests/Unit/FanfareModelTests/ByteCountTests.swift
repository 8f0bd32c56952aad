import Testing

@testable import FanfareModel

@Suite struct ByteCountTests {
    @Test func aKibibyteHas1024BytesAndAMebibyteAsManyKibibytes() {
        #expect(ByteCount.kibibytes(1) == .bytes(1024))
        #expect(ByteCount.mebibytes(1) == .kibibytes(1024))
        #expect(ByteCount.mebibytes(64).bytes == 64 << 20)
        #expect(ByteCount.zero.bytes == 0)
    }

    @Test func sizesAreComparedAddedSubtractedAndMultiplied() {
        let (small, large) = (ByteCount.bytes(100), ByteCount.kibibytes(4))
        #expect(small < large && max(small, large) == large)
        #expect(large - small == .bytes(3996))
        #expect(small - large == .bytes(-3996))
        #expect(small * 3 + small == .bytes(400))
        var size = small
        size += large
        size -= small
        #expect(size == large)
    }

    @Test func aResultBeyond64BitsIsTheNearestNumber() {
        let least = ByteCount.bytes(.min)
        #expect(ByteCount.max + .bytes(1) == .max)
        #expect(least + .bytes(-1) == least)
        #expect(least - .bytes(1) == least)
        #expect(ByteCount.max - .bytes(-1) == .max)
        #expect(ByteCount.max * 2 == .max)
        #expect(ByteCount.max * -2 == least)
        #expect(least * -1 == .max)
        #expect(ByteCount.kibibytes(.max) == .max)
        #expect(ByteCount.mebibytes(.min) == least)
    }

    @Test func aSizeIsDescribedWithItsUnit() {
        #expect("at most \(ByteCount.bytes(512))" == "at most 512 bytes")
    }
}
