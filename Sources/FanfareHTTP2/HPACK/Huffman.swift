/// HPACK's Huffman code (RFC 7541 Appendix B). The code is canonical: in the order of length, then symbol, each code is its
/// predecessor plus one. So the lengths define the whole table.
package enum Huffman {
    /// Code length of each symbol, in bits; the last symbol is EOS.
    static let lengths: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
        28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
        5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
        13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
        6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
        20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
        24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
        22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
        21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
        19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
        20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
        26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
        30,
    ]

    static let endOfString = 256

    /// Code of each symbol, right-aligned.
    static let codes: [UInt32] = {
        var codes = [UInt32](repeating: 0, count: lengths.count)
        var code: UInt32 = 0
        var length: UInt8 = 0
        for symbol in lengths.indices.sorted(by: { (lengths[$0], $0) < (lengths[$1], $1) }) {
            code <<= UInt32(lengths[symbol] - length)
            length = lengths[symbol]
            codes[symbol] = code
            code += 1
        }
        return codes
    }()

    /// Returns the number of bytes that `encode` appends for this string.
    static func encodedCount(_ string: some Collection<UInt8>) -> Int {
        (string.reduce(0) { $0 + Int(lengths[Int($1)]) } + 7) / 8
    }

    static func encode(_ string: some Collection<UInt8>, into bytes: inout [UInt8]) {
        var bits: UInt64 = 0
        var count: UInt64 = 0
        for symbol in string {
            let length = UInt64(lengths[Int(symbol)])
            bits = bits << length | UInt64(codes[Int(symbol)])
            count += length
            // At most 7 bits remain from the symbol before, and no code is longer than 30 bits, so 64 bits always suffice.
            while count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        if count > 0 {
            // The last byte is padded with the beginning of EOS, which is all ones (§5.2).
            bytes.append(UInt8(truncatingIfNeeded: bits << (8 - count)) | UInt8(0xff >> count))
        }
    }
}

extension Huffman {
    /// Symbols at the start of the next twelve bits: two if both fit, otherwise one, or none if its code is longer. Packed: the
    /// symbols (bits 0–7 and 8–15), the first symbol's length (16–19), the total length (20–23), the number of symbols (24–25).
    private struct Step {
        var bits: UInt32 = 0
        var first: UInt8 { UInt8(truncatingIfNeeded: bits) }
        var second: UInt8 { UInt8(truncatingIfNeeded: bits >> 8) }
        var firstLength: UInt64 { UInt64(bits >> 16 & 15) }
        var length: UInt64 { UInt64(bits >> 20 & 15) }
        var symbols: Int { Int(bits >> 24) }
    }

    private static let stepBits: UInt64 = 12

    /// Decoding steps by the next twelve bits: 16 KB, of which text of digits and lower-case letters touches a few.
    private static let steps: [Step] = {
        var steps = [Step](repeating: Step(), count: 1 << stepBits)
        let short = (0..<256).filter { lengths[$0] <= stepBits }
        func fill(_ code: UInt32, _ length: UInt64, _ step: UInt32) {
            let free = stepBits - length
            let start = Int(code) << Int(free)
            for index in start..<start + 1 << Int(free) { steps[index].bits = step }
        }
        for first in short {
            let length = UInt64(lengths[first])
            fill(codes[first], length, UInt32(first) | UInt32(length) << 16 | UInt32(length) << 20 | 1 << 24)
        }
        for first in short {
            for second in short where lengths[first] + lengths[second] <= stepBits {
                let (length, both) = (UInt64(lengths[first]), UInt64(lengths[first] + lengths[second]))
                fill(
                    codes[first] << UInt32(lengths[second]) | codes[second], both,
                    UInt32(first) | UInt32(second) << 8 | UInt32(length) << 16 | UInt32(both) << 20 | 2 << 24)
            }
        }
        return steps
    }()

    /// Symbols in the order of their codes.
    private static let order = lengths.indices.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
    /// Per code length: the first code, left-aligned in 32 bits, beyond the codes of at most this length; and the distance
    /// between a code of this length and its symbol's position in `order`.
    private static let ends: [(end: UInt64, offset: Int)] = (0...30).map { length in
        let upTo = order.filter { lengths[$0] <= length }
        guard length > 0, let last = upTo.last else { return (0, 0) }
        let end = (UInt64(codes[last]) + 1) << UInt64(32 - lengths[last])
        let code = codes[last] << UInt32(length - Int(lengths[last]))
        return (end, Int(code) - (upTo.count - 1))
    }

    /// Returns a symbol whose code has more than `stepBits` bits; nil when the code is longer than the `count` remaining bits.
    private static func longSymbol(_ bits: UInt64, _ count: UInt64) -> (symbol: Int, length: UInt64)? {
        let code = bits >> 32
        // The loop always finds a length, because the last code, EOS, is thirty ones.
        for length in Int(stepBits) + 1...30 where code < ends[length].end {
            guard length <= count else { return nil }
            return (order[Int(code >> UInt64(32 - length)) - ends[length].offset], UInt64(length))
        }
        return nil
    }

    /// Appends the decoded string. Throws when an unfinished code of more than seven bits ends the string, when the padding
    /// is wrong, and on EOS.
    package static func decode(_ string: Span<UInt8>, into bytes: inout [UInt8]) throws(HPACKError) {
        var fault: HPACKError?
        // Every code has at least five bits.
        bytes.append(addingCapacity: string.count * 8 / 5) { output in
            unsafe output.withUnsafeMutableBufferPointer { room, filled in
                unsafe string.withUnsafeBytes { fault = unsafe decode($0, into: room, &filled) }
            }
        }
        if let fault { throw fault }
    }

    private static func decode(
        _ string: UnsafeRawBufferPointer, into room: UnsafeMutableBufferPointer<UInt8>, _ filled: inout Int
    ) -> HPACKError? {
        unsafe steps.withUnsafeBufferPointer { steps in
            // Left-aligned bits. Only the first `count` are valid; the bits after them belong to the rest of the string, or
            // are zero at its end.
            var bits: UInt64 = 0
            var count: UInt64 = 0
            var index = 0
            while true {
                if count < 32 {
                    if index + 8 <= string.count {
                        let next = unsafe UInt64(
                            bigEndian: string.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                        bits |= next &>> count
                        let taken = (63 &- count) &>> 3
                        index += Int(taken)
                        count += taken &* 8
                    }
                    while count <= 56, index < string.count {
                        unsafe bits |= UInt64(string[index]) &<< (56 &- count)
                        count += 8
                        index += 1
                    }
                }
                let step = unsafe steps[Int(bits &>> (64 &- stepBits))]
                if step.symbols == 2, step.length <= count {
                    unsafe room[filled] = step.first
                    unsafe room[filled + 1] = step.second
                    filled += 2
                    bits &<<= step.length
                    count -= step.length
                } else if step.symbols > 0, step.firstLength <= count {
                    unsafe room[filled] = step.first
                    filled += 1
                    bits &<<= step.firstLength
                    count -= step.firstLength
                } else if step.symbols == 0, let (symbol, length) = longSymbol(bits, count) {
                    if symbol == endOfString { return HPACKError("Huffman-coded string contains EOS") }
                    unsafe room[filled] = UInt8(symbol)
                    filled += 1
                    bits &<<= length
                    count -= length
                } else {
                    break
                }
            }
            // Valid padding is at most seven bits of EOS, which is all ones (§5.2).
            guard count < 8, bits == ~(~0 &>> count) else {
                return HPACKError("Huffman-coded string ends inside a code")
            }
            return nil
        }
    }
}
