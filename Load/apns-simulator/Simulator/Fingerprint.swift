/// 128-bit hash that identifies equal byte strings: bodies already checked, tokens already seen.
///
/// Not secure against adversaries: a client that can reach the simulator controls it anyway. The probability that two of 16 million tokens
/// share the 64 bits used as a table key is 1 in 130,000.
struct Fingerprint: Hashable {
    var low: UInt64
    var high: UInt64

    init(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) {
        // Two lanes, so that one multiplication does not wait for the other. They are joined at the
        // end, so that each half depends on every byte.
        var low = seed ^ 0x9E37_79B9_7F4A_7C15
        // The length is mixed first. Used unmixed, a different last byte could cancel a length that is one greater (9 ^ 1 is 8).
        var high = mixed(UInt64(bytes.count))
        var offset = 0
        while offset + 16 <= bytes.count {
            low = fold(low ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self), 0xA076_1D64_78BD_642F)
            high = fold(high ^ bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self), 0xE703_7ED1_A0B4_28DB)
            offset += 16
        }
        var tail: (UInt64, UInt64) = (0, 0)
        for index in offset..<bytes.count {
            let byte = UInt64(bytes[index]) << UInt64((index - offset) % 8 * 8)
            if index - offset < 8 { tail.0 |= byte } else { tail.1 |= byte }
        }
        low = fold(low ^ tail.0, 0x8EBC_6AF0_9C88_C6E3)
        high = fold(high ^ tail.1, 0x5899_65CC_7537_4CC3)
        self.low = mixed(low ^ (high << 32 | high >> 32))
        self.high = mixed(high &+ self.low)
    }
}

/// The two halves of the 128-bit product, folded into one.
private func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let (high, low) = a.multipliedFullWidth(by: b)
    return high ^ low
}

/// The finaliser of SplitMix64: each bit of the input changes about half the bits of the output.
func mixed(_ value: UInt64) -> UInt64 {
    var x = value &+ 0x9E37_79B9_7F4A_7C15
    x = (x ^ (x >> 30)) &* 0xBF58_476D_1CE4_E5B9
    x = (x ^ (x >> 27)) &* 0x94D0_49BB_1331_11EB
    return x ^ (x >> 31)
}
