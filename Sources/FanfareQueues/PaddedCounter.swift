public import Synchronization

/// A counter that one thread writes and another reads, with 128 bytes of padding on both sides: writer and reader of two
/// counters never share a cache-line pair, which the hardware prefetches together.
@usableFromInline struct PaddedCounter: ~Copyable {
    /// Size of a cache-line pair.
    @inlinable static var lineBytes: Int { 128 }

    private let before = InlineArray<15, UInt64>(repeating: 0)
    @usableFromInline let value = Atomic<UInt64>(0)
    private let after = InlineArray<15, UInt64>(repeating: 0)

    @usableFromInline init() {}
}
