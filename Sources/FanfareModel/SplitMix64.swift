/// Small seeded generator (SplitMix64). Jitter, synthetic subscribers, generated feeds and the simulation draw from it, so that a
/// printed seed replays them exactly.
@usableFromInline package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    @usableFromInline package init(seed: UInt64) { state = seed }

    @usableFromInline package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return state.mixed
    }

    /// Returns `true` with this probability.
    package mutating func chance(_ probability: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < probability
    }
}

extension UInt64 {
    /// Output of the finaliser of SplitMix64: every bit depends on every bit of the value.
    @inlinable package var mixed: UInt64 {
        var z = self
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

extension Sequence<UInt8> {
    /// FNV-1a with a finaliser, so that every bit depends on every byte; the same in every process. Attackers can choose bytes that
    /// collide: input of theirs needs `keyedHash`. Inlinable, because over another module's unknown sequence each byte would cost a call.
    @inlinable package var fnv1a: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in self { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash.mixed
    }
}
