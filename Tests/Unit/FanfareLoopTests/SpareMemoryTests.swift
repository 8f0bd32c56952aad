import Testing

@testable import FanfareLoop

@Suite struct SpareMemoryTests {
    private func fill(_ buffer: inout ByteBuffer, _ byte: UInt8, _ count: Int = 1000) {
        [UInt8](repeating: byte, count: count).withUnsafeBytes { buffer.append($0) }
    }

    @Test func aBufferIsFilledInTheMemoryThatWasGivenBackLast() {
        var spares = SpareMemory()
        var first = ByteBuffer()
        var second = ByteBuffer()
        spares.lend(to: &first)
        fill(&first, 1)
        let memory = first.bytes.baseAddress
        spares.takeBack(&first)
        let left = first.count
        #expect(left == 0)
        spares.lend(to: &second)
        fill(&second, 2)
        let isItsMemory = second.bytes.baseAddress == memory
        #expect(isItsMemory)
        fill(&first, 3)
        let held = (Array(first.bytes), Array(second.bytes))
        #expect(held.0.allSatisfy { $0 == 3 } && held.1.allSatisfy { $0 == 2 }, "nobody shares memory")
    }

    @Test func aBufferThatHasMemoryKeepsIt() {
        var spares = SpareMemory()
        var first = ByteBuffer()
        var second = ByteBuffer()
        fill(&first, 1)
        spares.takeBack(&first)
        fill(&second, 2)
        let memory = second.bytes.baseAddress
        spares.lend(to: &second)
        let keepsIts = second.bytes.baseAddress == memory && second.count == 1000
        #expect(keepsIts)
    }
}
