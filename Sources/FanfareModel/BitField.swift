extension UnsignedInteger where Self: FixedWidthInteger {
    /// A small number in some bits of a word, which are counted from the lowest: rows of which there are millions hold several in one. A
    /// number that is too great for its bits loses the highest of its own.
    @inlinable package subscript(bits bits: Range<Int>) -> Self {
        @inline(__always) get { self &>> Self(truncatingIfNeeded: bits.lowerBound) & Self.ones(bits.count) }
        @inline(__always) set {
            let shift = Self(truncatingIfNeeded: bits.lowerBound)
            let mask = Self.ones(bits.count) &<< shift
            self = self & ~mask | newValue &<< shift & mask
        }
    }

    /// - Parameter count: 1…`bitWidth`.
    @inlinable @inline(__always)
    static func ones(_ count: Int) -> Self { Self.max &>> Self(truncatingIfNeeded: Self.bitWidth - count) }
}
