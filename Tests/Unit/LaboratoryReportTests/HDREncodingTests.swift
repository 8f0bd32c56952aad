import Foundation
import Laboratory
import Testing

@testable import LaboratoryReport

/// Histograms that hdrhistogram 0.10.8 of PyPI has encoded, with the values and counts that it was given.
private let golden: [(values: [(Int64, Int)], text: String)] = [
    ([], "HISTFAAAABx4nJNpmSzMgADMUJoRRFybvITB/gNEAABQ2gSH"),
    ([(1, 1)], "HISTFAAAACF4nJNpmSzMwMDAxAABzFCaEURcm7yEwf4DVIAJAFoyBIw="),
    (
        [(0, 2), (2047, 1), (2048, 3), (3_599_999_999, 1)],
        "HISTFAAAACl4nJNpmSzMwMDAyQABzFCaEURcm7yEwf4DRIDltzwT29NTTEwAigoHaQ=="
    ),
    (
        [
            (4876, 64), (5271, 2), (5599, 100_000), (12139, 100_000), (12559, 1_099_511_627_776), (17146, 2),
            (21890, 1),
            (26449, 1), (32711, 63), (39520, 100_000), (39537, 63), (44040, 64), (54952, 63), (55691, 64), (69232, 2),
            (77987, 1), (81903, 2), (119_338, 1), (163_596, 2), (192_939, 63), (203_782, 1_099_511_627_776),
            (230_734, 64),
            (339_427, 63), (659_901, 63),
        ],
        "HISTFAAAAHF4nJNpmSzMwMAQxgABzFCaEURcm7yEwf4DRKDVuIHxICPLQsYDs3heCgKJ1AYQcJjJwXKehWk7C1M3W91q5n2zeaYzNTAuZ63TbmC8zs"
            + "rSz8RUztLPyfSSjeU4c91yRoiehcwNjIc56jbz1wEAGfsiiw=="
    ),
]

private func histogram(_ values: [(Int64, Int)]) -> LatencyHistogram {
    var histogram = LatencyHistogram()
    for (value, times) in values { histogram.record(value, times: times) }
    return histogram
}

@Suite("HdrHistogram's encoding")
struct HDREncodingTests {
    /// The stream inside: another zlib may compress it into other bytes.
    private func stream(_ text: String) throws -> [UInt8] {
        let bytes = try #require(Data(base64Encoded: text))
        return try #require(Zlib.uncompress(Array(bytes.dropFirst(8)), bytesMax: 1 << 20))
    }

    @Test func encodedHistogramsAreThoseOfTheLibrary() throws {
        for (values, text) in golden {
            let encoded = histogram(values).hdrEncoded()
            #expect(encoded.hasPrefix("HISTFAAA"))
            #expect(try stream(encoded) == stream(text), "\(values)")
        }
    }

    @Test func histogramsOfTheLibraryAreRead() throws {
        for (values, text) in golden {
            let ours = histogram(values)
            let read = try LatencyHistogram(hdrEncoded: text)
            #expect(read.counts == ours.counts)
            #expect(read.count == ours.count)
            // The encoding keeps buckets alone: a thousandth of the exact value at most.
            #expect((ours.max...ours.max + ours.max / 1000).contains(read.max))
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func histogramsThatAreWrittenAreReadAgain(seed: UInt64) throws {
        var draw = Draw(seed: seed)
        let values = (0..<Int.random(in: 1...200, using: &draw)).map { _ in
            (Int64(exp(Double.random(in: 0...22, using: &draw))), Int.random(in: 1...1 << 40, using: &draw))
        }
        let ours = histogram(values)
        #expect(try LatencyHistogram(hdrEncoded: ours.hdrEncoded()).counts == ours.counts)
    }

    @Test func damagedTextsAreRefused() throws {
        let good = golden[3].text
        var bytes = Array(try #require(Data(base64Encoded: good)))
        for (text, reason) in [
            ("", "not a compressed histogram"), ("HIST!", "not base64"), (String(good.prefix(40)), "cut off"),
            (String(repeating: "A", count: 2_000_000), "too long"), ("AAAAAAAAAAA=", "not a compressed histogram"),
        ] {
            let error = #expect(throws: HDRError.self, "\(reason)") { try LatencyHistogram(hdrEncoded: text) }
            #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        }
        // Each damaged byte is either refused or changes a count; none traps.
        for place in bytes.indices {
            bytes[place] ^= 0x55
            _ = try? LatencyHistogram(hdrEncoded: Data(bytes).base64EncodedString())
            bytes[place] ^= 0x55
        }
    }

    /// A stream that is packed well, but says something impossible.
    @Test(arguments: [
        (digits: 2, payload: [UInt8](), "another geometry"),
        (digits: 3, payload: [0x80], "cut off"),
        // -32,768 zeros, and a count of 2^50.
        (digits: 3, payload: [0xff, 0xff, 0x03], "too large"),
        (digits: 3, payload: [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x08], "too large"),
        // Thirty thousand zeros, of which the histogram has fewer, and a count behind them.
        (digits: 3, payload: [0xdf, 0xd4, 0x03, 0x02], "too large"),
        (digits: 3, payload: [0x9f, 0x9c, 0x01, 0x9f, 0x9c, 0x01, 0x9f, 0x9c, 0x01, 0x02], "too many counts"),
    ])
    func impossibleStreamsAreRefused(digits: Int, payload: [UInt8], reason: String) throws {
        var stream = ByteOutput()
        stream.number(Int32(0x1c84_9313))
        stream.number(Int32(payload.count))
        stream.number(Int32(0))
        stream.number(Int32(digits))
        stream.number(Int64(1))
        stream.number(LatencyHistogram.highest)
        stream.number(Int64(bitPattern: 1.0.bitPattern))
        let packed = Zlib.compress(stream.bytes + payload)
        var whole = ByteOutput()
        whole.number(Int32(0x1c84_9314))
        whole.number(Int32(packed.count))
        let text = Data(whole.bytes + packed).base64EncodedString()
        let error = #expect(throws: HDRError.self) { try LatencyHistogram(hdrEncoded: text) }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }
}
