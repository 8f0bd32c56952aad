import Testing

@testable import FanfareHTTP2

@Suite struct OutputBufferTests {
    @Test func buffersThatExchangeTheirMemoryGoOnWhereTheyWere() {
        var first = OutputBuffer(capacity: 1)
        var second = OutputBuffer(capacity: 1)
        for round in 1...4 {
            let bytes = [UInt8](repeating: UInt8(round), count: 100 * round)
            first.append(bytes)
            let written = first.withBytes { Array($0) }
            #expect(written == bytes)
            first.take(60)
            first.take(bytes.count - 60)
            first.exchangeMemory(with: &second)
            second.append([UInt8(round)])
            let held = (first.count, second.withBytes { Array($0) })
            #expect(held == (0, [UInt8(round)]))
            second.take(1)
        }
        #expect(
            first.taken == 1000 && second.taken == 4, "where in its output a buffer is does not depend on its memory")
    }
}
