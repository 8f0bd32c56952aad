/// RFC 7541 Appendix B. The code is canonical: ordered by length, then by symbol, each code is its predecessor's plus
/// one. So the lengths are the whole table.
package enum Huffman {
    /// Bits of each symbol's code; the last one is EOS.
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

    /// Each symbol's code, right-aligned.
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

    /// Bytes that `encode` appends for this string.
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
            // At most 7 bits stay behind, and no code is longer than 30: 64 always suffice.
            while count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        if count > 0 {
            // The rest of the last byte is the beginning of EOS: ones (§5.2).
            bytes.append(UInt8(truncatingIfNeeded: bits << (8 - count)) | UInt8(0xff >> count))
        }
    }
}

extension Huffman {
    /// What reading four bits does to a decoder. Packed into 32 bits: next node (0–7), symbol (8–15), then flags.
    private struct Step {
        let bits: UInt32
        var node: Int { Int(bits & 0xff) }
        var symbol: UInt8 { UInt8(truncatingIfNeeded: bits >> 8) }
        var emits: Bool { bits & Step.emits != 0 }
        var mayEnd: Bool { bits & Step.mayEnd != 0 }
        var fails: Bool { bits & Step.fails != 0 }

        static let emits: UInt32 = 1 << 16
        static let mayEnd: UInt32 = 1 << 17
        static let fails: UInt32 = 1 << 18
    }

    /// The code's tree has 256 inner nodes, so a node fits a byte; every node has 16 steps. No code is shorter than five
    /// bits: four bits never complete two symbols.
    private static let steps: [Step] = {
        // Children of inner nodes: an inner node's number, or -1 - symbol for a leaf.
        var children: [(Int, Int)] = [(0, 0)]
        var depth = [0]
        var onlyOnes = [true]
        for symbol in lengths.indices {
            var node = 0
            for bit in stride(from: Int(lengths[symbol]) - 1, through: 0, by: -1) {
                let one = codes[symbol] >> UInt32(bit) & 1 == 1
                var child = one ? children[node].1 : children[node].0
                if bit == 0 {
                    child = -1 - symbol
                } else if child == 0 {
                    child = children.count
                    children.append((0, 0))
                    depth.append(depth[node] + 1)
                    onlyOnes.append(onlyOnes[node] && one)
                }
                if one { children[node].1 = child } else { children[node].0 = child }
                node = max(0, child)
            }
        }
        return children.indices.flatMap { start in
            (0..<16).map { nibble in
                var node = start
                var bits: UInt32 = 0
                for bit in stride(from: 3, through: 0, by: -1) {
                    let child = nibble >> bit & 1 == 1 ? children[node].1 : children[node].0
                    if child >= 0 {
                        node = child
                    } else if child == -1 - endOfString {
                        return Step(bits: Step.fails)
                    } else {
                        bits |= Step.emits | UInt32(-1 - child) << 8
                        node = 0
                    }
                }
                // Padding is at most seven bits of EOS, which is all ones (§5.2).
                if onlyOnes[node], depth[node] < 8 { bits |= Step.mayEnd }
                return Step(bits: bits | UInt32(node))
            }
        }
    }()

    /// Appends the decoded string. A code that runs on for more than seven bits, wrong padding and EOS are errors.
    package static func decode(_ string: Span<UInt8>, into bytes: inout [UInt8]) throws(HPACKError) {
        let steps = steps
        var node = 0
        var mayEnd = true
        for index in string.indices {
            let byte = string[index]
            for shift: UInt8 in stride(from: 4, through: 0, by: -4) {
                let step = steps[node * 16 + Int(byte >> shift & 15)]
                if step.fails { throw HPACKError("Huffman-coded string contains EOS") }
                if step.emits { bytes.append(step.symbol) }
                node = step.node
                mayEnd = step.mayEnd
            }
        }
        guard mayEnd else { throw HPACKError("Huffman-coded string ends inside a code") }
    }
}
