/// Content of a request's `:path`.
enum DevicePath: Equatable {
    /// A path that is not `/3/device/…`.
    case foreign
    case withoutToken
    case badToken
    /// A path with a token of this many bytes.
    case device(tokenBytes: Int)

    /// Longest token accepted, longer than any token seen in the wild (spec §1: up to 80 bytes). Apple
    /// documents no size; Fanfare has the same limit.
    static let tokenBytesMax = 512

    /// Decodes the token from hex into the beginning of `space`, which has room for `tokenBytesMax` bytes.
    static func read(_ path: UnsafeRawBufferPointer, into space: inout [UInt8]) -> DevicePath {
        let prefix: StaticString = "/3/device/"
        guard path.count >= prefix.utf8CodeUnitCount,
            UnsafeRawBufferPointer(rebasing: path[..<prefix.utf8CodeUnitCount]).equals(prefix)
        else { return .foreign }
        let digits = UnsafeRawBufferPointer(rebasing: path[prefix.utf8CodeUnitCount...])
        guard !digits.isEmpty else { return .withoutToken }
        guard digits.count % 2 == 0, digits.count <= 2 * tokenBytesMax else { return .badToken }
        var faults: UInt64 = 0
        space.withUnsafeMutableBytes { space in
            var offset = 0
            while offset + 8 <= digits.count {
                let bytes = decode(digits.loadUnaligned(fromByteOffset: offset, as: UInt64.self), &faults)
                space.storeBytes(of: bytes, toByteOffset: offset / 2, as: UInt32.self)
                offset += 8
            }
            var rest: UInt64 = 0x3030_3030_3030_3030  // zeros
            withUnsafeMutableBytes(of: &rest) { rest in
                for index in offset..<digits.count { rest[index - offset] = digits[index] }
            }
            withUnsafeBytes(of: decode(rest, &faults)) { bytes in
                for index in 0..<(digits.count - offset) / 2 { space[offset / 2 + index] = bytes[index] }
            }
        }
        return faults == 0 ? .device(tokenBytes: digits.count / 2) : .badToken
    }

    /// Decodes eight digits at once, the first in the lowest byte. Has no branches, because the digits of a token are random and every
    /// second branch prediction would fail. Sets bits of `faults` for characters that are not hex digits.
    @inline(__always)
    private static func decode(_ digits: UInt64, _ faults: inout UInt64) -> UInt32 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops = 0x80 * ones
        // If every byte is below 0x80, adding 0x80 - x sets the top bit of bytes that are x or more.
        let decimals = (digits &+ (0x80 - 0x30) * ones) & ~(digits &+ (0x80 - 0x3A) * ones)
        let folded = digits | 0x20 * ones
        let letters = (folded &+ (0x80 - 0x61) * ones) & ~(folded &+ (0x80 - 0x67) * ones)
        faults |= (digits | ~(decimals | letters)) & tops
        // Bit 6 distinguishes digits (0x30…) from letters (0x41… or 0x61…).
        let nibbles = (digits & (0x0F * ones)) &+ 9 * (digits >> 6 & ones)
        // Two nibbles make a byte; every second byte is dropped.
        var bytes = (nibbles << 4 | nibbles >> 8) & 0x00FF_00FF_00FF_00FF
        bytes = (bytes | bytes >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: bytes | bytes >> 16)
    }
}
