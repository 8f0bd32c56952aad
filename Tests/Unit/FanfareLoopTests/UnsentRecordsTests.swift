import Testing

@testable import FanfareLoop

@Suite struct UnsentRecordsTests {
    @Test func aRecordOfWhichAByteIsMissingHasNotLeft() {
        var records = UnsentRecords()
        for _ in 0..<3 { records.append(plain: 100, recordBytes: 122, unsent: 366) }
        for (unsent, plain) in [(0, 0), (1, 100), (122, 100), (123, 200), (365, 300), (366, 300), (1000, 300)] {
            #expect(records.plain(unsent: unsent) == plain, "\(unsent)")
        }
    }

    /// Records of any size, of which bytes leave in pieces of any size, against a list of all.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func unsentRecordsTellWhatAListOfAllTells(_ seed: UInt64) {
        var state = seed
        func draw(_ range: ClosedRange<Int>) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return range.lowerBound + Int(state >> 33) % range.count
        }
        var records = UnsentRecords()
        var all: [(plain: Int, end: Int)] = []
        var (written, left) = (0, 0)
        for _ in 0..<300 {
            let plain = draw(0...16_384)
            written += plain + draw(1...60)
            all.append((plain, written))
            records.append(plain: plain, recordBytes: written - (all.dropLast().last?.end ?? 0), unsent: written - left)
            left += draw(0...min(written - left, 20_000))
            let unsent = all.reduce(0) { $1.end > left ? $0 + $1.plain : $0 }
            #expect(records.plain(unsent: written - left) == unsent, "seed \(seed)")
        }
    }
}
