/// Place of a token, and of the text that follows it, in a `TokenStore`.
struct TokenReference {
    /// Place of the token's first byte, in the store's units.
    private(set) var start: UInt32 = 0
    /// Number of the token's bytes. The top bit is set if a text follows.
    private var bits: UInt16 = 0

    private static let text: UInt16 = 1 << 15

    init() {}
    init(start: UInt32, count: Int, hasText: Bool) {
        self.start = start
        bits = UInt16(count) | (hasText ? TokenReference.text : 0)
    }

    /// Bytes of the token.
    var count: Int { Int(bits & ~TokenReference.text) }
    var hasText: Bool { bits & TokenReference.text != 0 }
}
