/// HPACK integers with a prefix of 1 to 8 bits (RFC 7541 §5.1).
enum PrefixInteger {
    /// Largest integer that is accepted; frames, tables and strings of HTTP/2 are far smaller. It also limits the length: a
    /// prefix and four bytes of seven bits.
    static let max = (1 << 28) - 1

    /// Appends `value`; `pattern` holds the representation's bits above the prefix.
    static func write(_ value: Int, prefix: Int, pattern: UInt8, into bytes: inout [UInt8]) {
        let limit = (1 << prefix) - 1
        guard value >= limit else { return bytes.append(pattern | UInt8(value)) }
        bytes.append(pattern | UInt8(limit))
        var rest = value - limit
        while rest >= 128 {
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// Position in one header block while it is decoded.
package struct BlockCursor {
    package var position: Int

    package init(position: Int = 0) { self.position = position }

    mutating func byte(of block: Span<UInt8>) throws(HPACKError) -> UInt8 {
        guard position < block.count else { throw HPACKError("header block ends inside a field") }
        defer { position += 1 }
        return block[position]
    }

    /// Reads the integer that begins at the position.
    package mutating func integer(prefix: Int, of block: Span<UInt8>) throws(HPACKError) -> Int {
        let limit = (1 << prefix) - 1
        var value = try Int(byte(of: block)) & limit
        guard value == limit else { return value }
        // The loop also limits the bytes, because leading zeros can make an integer arbitrarily long without making it large.
        for shift in stride(from: 0, to: 35, by: 7) {
            let next = try byte(of: block)
            value += Int(next & 127) << shift
            guard value <= PrefixInteger.max else { break }
            if next & 128 == 0 { return value }
        }
        throw HPACKError("integer in a header block is over \(PrefixInteger.max)")
    }

    /// Advances by `count` bytes and returns their range; the caller extracts them.
    package mutating func skip(_ count: Int, of block: Span<UInt8>) throws(HPACKError) -> Range<Int> {
        guard count <= block.count - position else {
            throw HPACKError("string of \(count) bytes in a header block with \(block.count - position) left")
        }
        defer { position += count }
        return position..<position + count
    }
}
