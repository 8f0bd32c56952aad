import CFanfareZlib

/// Bytes of an encoded histogram, as they are written.
struct ByteOutput {
    var bytes: [UInt8] = []

    mutating func number(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// ZigZag LEB128: seven bits a byte, the least significant first; a ninth byte has eight.
    mutating func zigZag(_ value: Int64) {
        var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
        for _ in 0..<8 {
            guard rest > 0x7f else { break }
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}

/// Bytes of an encoded histogram, as they are read; `nil` when they end too early.
struct ByteInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        guard rest.count >= Number.bitWidth / 8 else { return nil }
        var value: Number = 0
        for _ in 0..<Number.bitWidth / 8 { value = value << 8 | Number(truncatingIfNeeded: rest.removeFirst()) }
        return value
    }

    mutating func zigZag() -> Int64? {
        var value: UInt64 = 0
        for place in 0..<9 {
            guard let byte = rest.popFirst() else { return nil }
            let isLast = place == 8 || byte < 0x80
            value |= UInt64(place == 8 ? byte : byte & 0x7f) << UInt64(7 * place)
            if isLast { break }
        }
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }
}

/// zlib's streams, whole.
enum Zlib {
    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var length = compressBound(uLong(bytes.count))
        var packed = [UInt8](repeating: 0, count: Int(length))
        let status = CFanfareZlib.compress(&packed, &length, bytes, uLong(bytes.count))
        // The output has the room that `compressBound` asks for; nothing but memory can be missing.
        precondition(status == Z_OK, "zlib cannot compress \(bytes.count) bytes: status \(status)")
        return Array(packed[..<Int(length)])
    }

    /// Returns `nil` for a damaged stream, or for one of more than `bytesMax` bytes.
    static func uncompress(_ packed: [UInt8], bytesMax: Int) -> [UInt8]? {
        var length = uLong(bytesMax)
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        guard CFanfareZlib.uncompress(&bytes, &length, packed, uLong(packed.count)) == Z_OK else { return nil }
        return Array(bytes[..<Int(length)])
    }
}
