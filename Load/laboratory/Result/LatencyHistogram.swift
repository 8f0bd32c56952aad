/// Counts of times in microseconds, in HdrHistogram's geometry: 1 µs to an hour with three significant digits. A quantile is at most
/// a thousandth too high. Times beyond an hour count as an hour in the buckets; `max` is exact to a microsecond.
///
/// Merging adds counts, so percentiles of several runs come from all their values and are never averages.
package struct LatencyHistogram: Sendable, Equatable {
    /// HdrHistogram's parameters of this geometry.
    package static let lowest: Int64 = 1
    package static let highest: Int64 = 3_600_000_000
    package static let significantDigits = 3
    /// Values of an octave that are told apart: the least power of two above twice 10^3.
    static let subBucketCount = 2048
    private static let subBucketBits = 11
    /// Number of counts: one full bucket and, for each doubling up to `highest`, half a bucket.
    package static let countsLength = index(of: highest) + 1

    /// Counts by HdrHistogram's index, empty until the first value.
    package private(set) var counts: [Int64] = []
    package private(set) var count: Int64 = 0
    /// The least and the greatest value in microseconds, exactly; 0 if there is none.
    package private(set) var min: Int64 = 0
    package private(set) var max: Int64 = 0

    package init() {}

    /// - Parameter pairs: counts by HdrHistogram's index; `min` and `max` are those of the values.
    init(_ pairs: some Sequence<(index: Int, count: Int64)>, min: Int64, max: Int64) {
        for (index, times) in pairs {
            if counts.isEmpty { counts = Array(repeating: 0, count: LatencyHistogram.countsLength) }
            counts[index] += times
            count += times
        }
        if count > 0 { (self.min, self.max) = (min, max) }
    }

    /// - Parameter microseconds: a negative time, which comes from clocks read in another order, counts as 0.
    package mutating func record(_ microseconds: Int64, times: Int = 1) {
        guard times > 0 else { return }
        if counts.isEmpty { counts = Array(repeating: 0, count: LatencyHistogram.countsLength) }
        let value = Swift.max(0, microseconds)
        counts[LatencyHistogram.index(of: Swift.min(value, LatencyHistogram.highest))] += Int64(times)
        min = count == 0 ? value : Swift.min(min, value)
        count += Int64(times)
        max = Swift.max(max, value)
    }

    /// Takes the memory of all counts now, so that it does not look like growth later.
    package mutating func reserve() {
        if counts.isEmpty { counts = Array(repeating: 0, count: LatencyHistogram.countsLength) }
    }

    package mutating func record(nanoseconds: Int64, times: Int = 1) { record(nanoseconds / 1000, times: times) }

    package mutating func merge(_ other: LatencyHistogram) {
        guard other.count > 0 else { return }
        if counts.isEmpty { counts = Array(repeating: 0, count: LatencyHistogram.countsLength) }
        for index in counts.indices where other.counts[index] != 0 { counts[index] += other.counts[index] }
        min = count == 0 ? other.min : Swift.min(min, other.min)
        count += other.count
        max = Swift.max(max, other.max)
    }

    /// Returns the value in microseconds that this share of all values does not exceed, by nearest rank; `nil` if there are none.
    ///
    /// - Parameter share: 0 to 1; a number outside counts as the nearer bound, and NaN as 0.
    package func quantile(_ share: Double) -> Int64? {
        guard count > 0 else { return nil }
        let share = share > 0 ? Swift.min(share, 1) : 0
        // A product such as 0.999 × 1000 may be a little too large; its rank is nevertheless 999.
        let rank = Swift.max(1, Int64((share * Double(count) - 1e-6).rounded(.up)))
        var seen: Int64 = 0
        for (index, times) in counts.enumerated() where times > 0 {
            seen += times
            if seen >= rank { return Swift.min(max, LatencyHistogram.last(of: index)) }
        }
        return max
    }

    /// Number of values that are at most this many microseconds, to the histogram's resolution.
    package func count(through microseconds: Int64) -> Int64 {
        guard count > 0, microseconds >= 0 else { return 0 }
        let end = LatencyHistogram.index(of: Swift.min(microseconds, LatencyHistogram.highest))
        return counts[...end].reduce(0, +)
    }

    // MARK: Geometry

    /// HdrHistogram's index of the count of a value from 0 to `highest`.
    package static func index(of value: Int64) -> Int {
        let bucket = Swift.max(0, 64 - subBucketBits - value.leadingZeroBitCount)
        let subBucket = Int(value >> bucket)
        return bucket * subBucketCount / 2 + subBucket
    }

    /// The least value that is counted at an index.
    package static func first(of index: Int) -> Int64 {
        guard index >= subBucketCount else { return Int64(index) }
        let bucket = index / (subBucketCount / 2) - 1
        return Int64(index - bucket * subBucketCount / 2) << bucket
    }

    /// The greatest value that is counted at an index.
    package static func last(of index: Int) -> Int64 {
        guard index >= subBucketCount else { return Int64(index) }
        return first(of: index) + (1 << (index / (subBucketCount / 2) - 1)) - 1
    }
}

extension LatencyHistogram: Codable {
    private enum CodingKeys: String, CodingKey { case unit, min, max, counts }

    /// Writes `{"unit":"us","min":…,"max":…,"counts":[[value,count],…]}`: each non-zero count with the least value that it counts.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("us", forKey: .unit)
        try container.encode(min, forKey: .min)
        try container.encode(max, forKey: .max)
        let pairs = counts.enumerated().filter { $0.element != 0 }.map {
            [LatencyHistogram.first(of: $0.offset), $0.element]
        }
        try container.encode(pairs, forKey: .counts)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func corrupt(_ key: CodingKeys, _ text: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: text)
        }
        guard try container.decode(String.self, forKey: .unit) == "us" else {
            throw corrupt(.unit, "the unit of a histogram is \"us\"")
        }
        let least = try container.decode(Int64.self, forKey: .min)
        let greatest = try container.decode(Int64.self, forKey: .max)
        self.init()
        for pair in try container.decode([[Int64]].self, forKey: .counts) {
            guard pair.count == 2, 0...LatencyHistogram.highest ~= pair[0], 1...(1 << 48) ~= pair[1] else {
                throw corrupt(.counts, "a count is a pair [microseconds, count] within the histogram's range")
            }
            record(pair[0], times: Int(pair[1]))
        }
        guard count == 0 || 0...greatest ~= least else { throw corrupt(.max, "max is at least min") }
        (min, max) = count == 0 ? (0, 0) : (least, greatest)
    }
}
