import FanfareModel
import Foundation
import Laboratory
import Testing

@Suite struct LatencyHistogramTests {
    @Test func `A histogram at rest comes back as it was`() throws {
        var histogram = LatencyHistogram()
        #expect(SparseHistogram(histogram).histogram == histogram)
        for value in [0, 1, 127, 128, 5000, 5000, 1_234_567, LatencyHistogram.highest + 5] as [Int64] {
            histogram.record(value, times: Int(value) + 1)
        }
        let atRest = SparseHistogram(histogram)
        #expect(atRest.histogram == histogram)
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        #expect(try encoder.encode(atRest).count == encoder.encode(histogram).count)
        #expect(try decoder.decode(SparseHistogram.self, from: encoder.encode(histogram)) == atRest)
    }

    @Test func `Each value lies in the range of its count, and ranges follow each other without gaps`() {
        let gaps = (0..<LatencyHistogram.countsLength - 1).filter {
            LatencyHistogram.last(of: $0) + 1 != LatencyHistogram.first(of: $0 + 1)
        }
        #expect(gaps.isEmpty)
        var value: Int64 = 1
        while value <= LatencyHistogram.highest {
            let index = LatencyHistogram.index(of: value)
            #expect(LatencyHistogram.first(of: index) <= value && value <= LatencyHistogram.last(of: index))
            // Three significant digits.
            #expect(LatencyHistogram.last(of: index) - LatencyHistogram.first(of: index) <= value / 1000)
            value = value * 3 / 2 + 1
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Quantiles are those of the sorted values, at most a thousandth too high`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var histogram = LatencyHistogram()
        let values = (0..<10_000).map { _ in
            Int64(random.next() >> (32 + random.next() % 30)) % LatencyHistogram.highest
        }
        for value in values { histogram.record(value) }
        let sorted = values.sorted()
        for share in [0, 0.001, 0.5, 0.9, 0.99, 0.999, 0.9999, 1] {
            let exact = sorted[max(0, Int((share * 10_000).rounded(.up)) - 1)]
            let quantile = histogram.quantile(share) ?? -1
            #expect(exact <= quantile && quantile <= exact + exact / 1000, "share \(share)")
        }
        #expect(histogram.max == sorted.last && histogram.min == sorted.first && histogram.count == 10_000)
    }

    @Test func `Percentiles of merged histograms are those of all values`() {
        var (a, b, all) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
        for value in 0..<1000 as Range<Int64> {
            value % 3 == 0 ? a.record(value * value) : b.record(value * value, times: 2)
            all.record(value * value, times: value % 3 == 0 ? 1 : 2)
        }
        a.merge(b)
        #expect(a == all)
    }

    @Test func `A histogram survives JSON`() throws {
        var histogram = LatencyHistogram()
        for value in [0, 17, 2047, 2048, 123_457, 3_600_000_001] as [Int64] { histogram.record(value, times: 3) }
        let data = try JSONEncoder().encode(histogram)
        #expect(try JSONDecoder().decode(LatencyHistogram.self, from: data) == histogram)
        #expect(
            try JSONDecoder().decode(LatencyHistogram.self, from: JSONEncoder().encode(LatencyHistogram()))
                == LatencyHistogram())
    }

    @Test(arguments: [
        #"{"unit":"ns","min":1,"max":1,"counts":[[1,1]]}"#, #"{"unit":"us","min":1,"max":1,"counts":[[-1,1]]}"#,
        #"{"unit":"us","min":1,"max":1,"counts":[[1,0]]}"#, #"{"unit":"us","min":1,"max":1,"counts":[[1]]}"#,
        #"{"unit":"us","min":9,"max":1,"counts":[[9,1]]}"#, #"{"unit":"us","min":1,"max":1,"counts":[[9000000000,1]]}"#,
    ])
    func `A damaged histogram is refused`(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(LatencyHistogram.self, from: Data(text.utf8)) }
    }

    @Test func `Negative and endless times count at the ends, and an empty histogram has no quantile`() {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil)
        histogram.record(-5)
        histogram.record(.max)
        #expect(histogram.min == 0 && histogram.max == .max && histogram.count == 2)
        #expect(histogram.count(through: 0) == 1)
    }
}
