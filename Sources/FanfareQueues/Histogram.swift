/// Counts of durations in logarithmic buckets: each octave is divided into 32 of the same width, so a quantile is never too low and
/// at most 1/32 too high. Durations below 64 ns are exact.
///
/// A histogram has a fixed size, 9.5 KB from the first duration on; merging adds. It is a value: each shard keeps its own and passes
/// copies on, so no lock and no shared memory is needed. The buckets end at 73 minutes; longer durations
/// count in the last bucket, and `max` is exact whatever its size.
public struct Histogram: Sendable, Equatable {
    private static let bucketsPerOctave = 32
    /// Number of buckets for values of 42 bits; the first two octaves' worth of buckets hold 0–63.
    private static let bucketCount = (42 - 5 + 1) * bucketsPerOctave

    /// The counts; empty until the first value.
    private var buckets: [UInt64] = []
    /// Number of recorded durations.
    public private(set) var count: UInt64 = 0
    /// The greatest value, exactly; 0 if there is none.
    package private(set) var maxNanoseconds: Int64 = 0
    /// The longest duration, exactly; zero if there is none.
    public var max: Duration { .nanoseconds(maxNanoseconds) }

    /// Creates an empty histogram.
    public init() {}

    /// - Parameter value: the duration in nanoseconds; a negative one, which comes from a clock read in another order, counts as 0.
    package mutating func record(_ value: Int64, times: Int = 1) {
        if buckets.isEmpty { buckets = Array(repeating: 0, count: Histogram.bucketCount) }
        let value = Swift.max(0, value)
        buckets[Histogram.bucket(of: value)] += UInt64(times)
        count += UInt64(times)
        maxNanoseconds = Swift.max(maxNanoseconds, value)
    }

    package mutating func add(_ other: Histogram) {
        guard other.count > 0 else { return }
        if buckets.isEmpty { buckets = Array(repeating: 0, count: Histogram.bucketCount) }
        for bucket in buckets.indices { buckets[bucket] += other.buckets[bucket] }
        count += other.count
        maxNanoseconds = Swift.max(maxNanoseconds, other.maxNanoseconds)
    }

    /// Returns the duration that this share of all durations does not exceed, by nearest rank; `nil` if there are none.
    ///
    /// - Parameter share: 0 to 1; a number outside counts as the nearer bound, and NaN as 0.
    /// - Complexity: O(1): one look at each of at most 1,216 buckets, whatever the number of durations.
    public func quantile(_ share: Double) -> Duration? { nanoseconds(at: share).map { .nanoseconds($0) } }

    /// Returns the nanoseconds of a quantile.
    package func nanoseconds(at share: Double) -> Int64? {
        guard count > 0 else { return nil }
        let share = share > 0 ? Swift.min(share, 1) : 0
        let rank = Swift.max(1, UInt64((share * Double(count)).rounded(.up)))
        var seen: UInt64 = 0
        for bucket in buckets.indices {
            seen += buckets[bucket]
            if seen >= rank { return Swift.min(maxNanoseconds, Histogram.last(of: bucket)) }
        }
        return maxNanoseconds
    }

    private static func bucket(of value: Int64) -> Int {
        guard value >= bucketsPerOctave else { return Int(value) }
        // The five bits after the leading one select the bucket in the octave.
        let octave = 63 - value.leadingZeroBitCount - 5
        let bucket = (octave + 1) * bucketsPerOctave + Int(value >> octave) & (bucketsPerOctave - 1)
        return Swift.min(bucket, bucketCount - 1)
    }

    /// The greatest value of a bucket.
    private static func last(of bucket: Int) -> Int64 {
        guard bucket >= bucketsPerOctave else { return Int64(bucket) }
        guard bucket < bucketCount - 1 else { return .max }
        let octave = bucket / bucketsPerOctave - 1
        let first = Int64(bucketsPerOctave + bucket % bucketsPerOctave) << octave
        return first + (1 << octave) - 1
    }
}
