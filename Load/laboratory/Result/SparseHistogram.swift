/// A histogram at rest. A second's times fall into some hundred of the 23,000 counts of a `LatencyHistogram`, and a soak has thousands
/// of seconds: each count that is not zero takes some three bytes here.
package struct SparseHistogram: Sendable, Equatable {
    /// Pairs of the distance from the index before and the count, both in LEB128: seven bits a byte, the least significant first.
    private var bytes: [UInt8] = []
    private var least: Int64 = 0
    private var greatest: Int64 = 0

    /// Bytes beside the struct itself.
    package var size: Int { bytes.capacity }

    package init() {}

    package init(_ histogram: LatencyHistogram) {
        var previous = 0
        for (index, count) in histogram.counts.enumerated() where count != 0 {
            append(UInt64(index - previous))
            append(UInt64(count))
            previous = index
        }
        least = histogram.min
        greatest = histogram.max
    }

    private mutating func append(_ number: UInt64) {
        var rest = number
        while rest > 0x7f {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// The whole histogram.
    package var histogram: LatencyHistogram {
        var numbers: [UInt64] = []
        var (number, shift) = (UInt64(0), UInt64(0))
        for byte in bytes {
            number |= UInt64(byte & 0x7f) << shift
            shift += 7
            guard byte < 0x80 else { continue }
            numbers.append(number)
            (number, shift) = (0, 0)
        }
        var index = 0
        let pairs = stride(from: 0, to: numbers.count, by: 2).map { place in
            index += Int(numbers[place])
            return (index: index, count: Int64(numbers[place + 1]))
        }
        return LatencyHistogram(pairs, min: least, max: greatest)
    }
}

/// Written and read as the histogram that it stands for.
extension SparseHistogram: Codable {
    package func encode(to encoder: any Encoder) throws { try histogram.encode(to: encoder) }
    package init(from decoder: any Decoder) throws { self.init(try LatencyHistogram(from: decoder)) }
}
