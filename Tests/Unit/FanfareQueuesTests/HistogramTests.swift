import FanfareModel
import FanfareQueues
import Testing

@Suite struct HistogramTests {
    /// Returns values of all magnitudes, each equally likely.
    private static func values(_ count: Int, seed: UInt64) -> [Int64] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in Int64(random.next() >> (22 + random.next() % 42)) }
    }

    private static let shares = [0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1]

    @Test func aQuantileOfAnyShareIsAnswered() {
        var histogram = Histogram()
        for value in Int64(1)...10 { histogram.record(value) }
        for share in [-1, -Double.infinity, .nan, 0] { #expect(histogram.nanoseconds(at: share) == 1) }
        for share in [1, 1.5, .infinity, 1e300] { #expect(histogram.nanoseconds(at: share) == 10) }
    }

    /// Quantiles by nearest rank are never too low and at most 1/32 too high.
    @Test(arguments: UInt64(1)...20) func quantilesAreAsExactAsPromised(seed: UInt64) throws {
        let values = HistogramTests.values(1 + Int(seed * seed * 7), seed: seed)
        var histogram = Histogram()
        for value in values { histogram.record(value) }
        let sorted = values.sorted()
        for share in HistogramTests.shares {
            let exact = sorted[max(1, Int((share * Double(sorted.count)).rounded(.up))) - 1]
            let told = try #require(histogram.nanoseconds(at: share))
            #expect(told >= exact && told <= exact + exact / 32, "seed \(seed), share \(share): \(told) for \(exact)")
        }
        #expect(histogram.nanoseconds(at: 1) == sorted.last)
        #expect(histogram.count == UInt64(values.count))
    }

    @Test(arguments: UInt64(1)...10) func mergedHistogramsEqualOneOfAllValues(seed: UInt64) {
        let values = HistogramTests.values(1000, seed: seed)
        var all = Histogram()
        var parts = Array(repeating: Histogram(), count: 3)
        for (index, value) in values.enumerated() {
            all.record(value)
            parts[index % 3].record(value)
        }
        var merged = Histogram()
        for part in parts { merged.add(part) }
        merged.add(Histogram())
        #expect(merged == all, "seed \(seed)")
    }

    @Test func aHistogramCountsSeveralValuesAtOnce() {
        var one = Histogram()
        var several = Histogram()
        for _ in 0..<5 { one.record(1000) }
        several.record(1000, times: 5)
        #expect(one == several)
    }

    @Test func smallValuesAreExact() {
        for value in 0..<Int64(64) {
            var histogram = Histogram()
            histogram.record(value)
            histogram.record(1000)
            #expect(histogram.nanoseconds(at: 0.5) == value)
        }
    }

    @Test func aHistogramHasAPlaceForEveryValue() {
        var histogram = Histogram()
        #expect(histogram.nanoseconds(at: 0.5) == nil)
        histogram.record(-7)
        #expect(histogram.nanoseconds(at: 1) == 0)
        histogram.record(.max)
        #expect(histogram.nanoseconds(at: 1) == .max)
        #expect(histogram.nanoseconds(at: 0.5) == 0)
        histogram.record(.min)
        #expect(histogram.count == 3)
    }

    @Test func programsReadDurations() {
        var histogram = Histogram()
        #expect(histogram.max == .zero && histogram.quantile(0.5) == nil)
        for milliseconds in Int64(1)...3 { histogram.record(milliseconds * 1_000_000) }
        #expect(histogram.max == .milliseconds(3) && histogram.quantile(1) == .milliseconds(3))
    }
}
