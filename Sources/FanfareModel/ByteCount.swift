/// Number of bytes: the size of a text, a request or a file, or the limit of one.
///
/// ```swift
/// options.lineSizeMax = .kibibytes(64)
/// ```
///
/// `bytes` is the plain number, for comparisons with the `count` of a buffer. Programs set limits, so no arithmetic traps: a result that 64 bits
/// cannot hold becomes the nearest number that they can hold.
public struct ByteCount: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The plain number.
    public let bytes: Int

    @inlinable init(_ bytes: Int) { self.bytes = bytes }

    /// No bytes.
    @inlinable public static var zero: ByteCount { ByteCount(0) }
    /// The greatest number, which no size reaches: no limit.
    @inlinable public static var max: ByteCount { ByteCount(Int.max) }

    /// Returns this many bytes.
    @inlinable public static func bytes(_ count: Int) -> ByteCount { ByteCount(count) }
    /// Returns this many times 1,024 bytes.
    @inlinable public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(1 << 10) * count }
    /// Returns this many times 1,048,576 bytes.
    @inlinable public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(1 << 20) * count }

    /// The number and its unit, such as `512 bytes`.
    public var description: String { "\(bytes) bytes" }

    /// Returns `true` if `a` is the smaller number.
    @inlinable public static func < (a: ByteCount, b: ByteCount) -> Bool { a.bytes < b.bytes }

    /// Returns the sum, or the nearest number that 64 bits can hold.
    @inlinable public static func + (a: ByteCount, b: ByteCount) -> ByteCount {
        let (sum, overflows) = a.bytes.addingReportingOverflow(b.bytes)
        return ByteCount(overflows ? (b.bytes < 0 ? Int.min : Int.max) : sum)
    }
    /// Returns the difference, or the nearest number that 64 bits can hold; negative if `b` is the greater number.
    @inlinable public static func - (a: ByteCount, b: ByteCount) -> ByteCount {
        let (difference, overflows) = a.bytes.subtractingReportingOverflow(b.bytes)
        return ByteCount(overflows ? (b.bytes < 0 ? Int.max : Int.min) : difference)
    }
    /// Returns the product, or the nearest number that 64 bits can hold.
    @inlinable public static func * (size: ByteCount, factor: Int) -> ByteCount {
        let (product, overflows) = size.bytes.multipliedReportingOverflow(by: factor)
        return ByteCount(overflows ? ((size.bytes < 0) == (factor < 0) ? Int.max : Int.min) : product)
    }
    /// Adds a number.
    @inlinable public static func += (a: inout ByteCount, b: ByteCount) { a = a + b }
    /// Subtracts a number.
    @inlinable public static func -= (a: inout ByteCount, b: ByteCount) { a = a - b }
}
