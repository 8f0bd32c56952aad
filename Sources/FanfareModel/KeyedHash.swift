extension Collection<UInt8> {
    /// SipHash under a key that the process draws when it starts, Swift's own `Hasher`: nobody can choose bytes that meet. For names, and
    /// whatever else strangers may write. In another process it is another number: it must not be stored, sent, or decide anything.
    @inlinable package var keyedHash: UInt64 {
        var hasher = Hasher()
        if withContiguousStorageIfAvailable({ hasher.combine(bytes: UnsafeRawBufferPointer($0)) }) == nil {
            Array(self).withUnsafeBytes { hasher.combine(bytes: $0) }
        }
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
