package import FanfareFanOut

extension DeliveryBatch {
    /// Sum of all tokens' bytes, by which a transport without a network proves that it has read each of them.
    package var tokenSum: UInt64 {
        let tokens = self.tokens
        var sum: UInt64 = 0
        var start = 0
        // The sum of each part fits into two bytes: a register then adds four times as many bytes at once as with eight.
        while start < tokens.count {
            let end = min(start + 256, tokens.count)
            var part: UInt16 = 0
            for byte in tokens[start..<end] { part &+= UInt16(byte) }
            sum &+= UInt64(part)
            start = end
        }
        return sum
    }
}
