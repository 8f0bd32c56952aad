import Testing

@testable import FanfareModel

@Suite struct IdempotencyKeyTests {
    @Test func aKeyHasOneToSixtyFourBytes() throws {
        for count in IdempotencyKey.sizes.lowerBound.bytes...IdempotencyKey.sizes.upperBound.bytes {
            let text = String(repeating: "k", count: count)
            #expect(try IdempotencyKey(text).description == text)
        }
        #expect(throws: IdempotencyKey.Fault(size: .zero)) { try IdempotencyKey("") }
        // Bytes count, not letters.
        #expect(throws: IdempotencyKey.Fault(size: .bytes(66))) {
            try IdempotencyKey(String(repeating: "☂", count: 22))
        }
        do throws(IdempotencyKey.Fault) {
            _ = try IdempotencyKey(String(repeating: "k", count: 65))
        } catch {
            #expect("\(error)" == "an idempotency key has 1 to 64 bytes of UTF-8; this one has 65")
        }
    }

    /// Swift takes the two texts for equal.
    @Test func keysOfDifferentBytesDiffer() throws {
        #expect("caf\u{E9}" == "cafe\u{301}")
        let (composed, decomposed) = (try IdempotencyKey("caf\u{E9}"), try IdempotencyKey("cafe\u{301}"))
        #expect(composed != decomposed)
    }

    @Test func aCallKeyIsReadBack() throws {
        let call = CallKey(try IdempotencyKey("job/☂"), content: .max - 1)
        var writer = SerialWriter()
        writer.write(call)
        var reader = SerialReader(writer.bytes[...])
        #expect(try reader.callKey() == call)
        #expect(reader.isAtEnd)
        for text in ["", String(repeating: "k", count: 65)] {
            var writer = SerialWriter()
            writer.write(text)
            writer.write(fixed: UInt64(1))
            var reader = SerialReader(writer.bytes[...])
            #expect(throws: SerialError.malformed("key")) { try reader.callKey() }
        }
    }
}
