/// A histogram that keeps only the counts that are not zero: a second's times have some hundred of them, beside the 23,000 of a
/// `LatencyHistogram`, and a soak has thousands of seconds.
struct SparseHistogram: Sendable {
    private var counts: [(index: Int32, count: Int64)] = []
    private var least: Int64 = 0
    private var greatest: Int64 = 0

    init(_ histogram: LatencyHistogram) {
        for (index, count) in histogram.counts.enumerated() where count != 0 { counts.append((Int32(index), count)) }
        least = histogram.min
        greatest = histogram.max
    }

    /// The whole histogram.
    var histogram: LatencyHistogram {
        LatencyHistogram(counts.lazy.map { (Int($0.index), $0.count) }, min: least, max: greatest)
    }
}
