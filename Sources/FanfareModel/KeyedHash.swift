extension Collection<UInt8> {
    /// SipHash (Swift's `Hasher`) under a key that the process draws at its start, so attackers cannot choose bytes that collide. For
    /// names and other input from strangers. Another process gets another number: it must not be stored, sent, or affect any decision.
    @inlinable package var keyedHash: UInt64 {
        var hasher = Hasher()
        if withContiguousStorageIfAvailable({ unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }) == nil {
            unsafe Array(self).withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
