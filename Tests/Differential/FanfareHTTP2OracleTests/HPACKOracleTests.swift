import CFanfareNghttp2
import FanfareModel
import Testing

@testable import FanfareHTTP2

/// Random header lists, ours against nghttp2's HPACK, in both directions, while table sizes change.
@Suite struct HPACKOracleTests {
    static let seeds: [UInt64] = Array(1...4)

    /// Names that come back, so that tables are used; values short and long, text and bytes.
    private static func list(_ random: inout SplitMix64) -> [HeaderField] {
        (0..<Int.random(in: 0...12, using: &random)).map { _ in
            let name: [UInt8]
            switch random.next() % 3 {
            case 0: name = StaticTable[Int.random(in: 1...StaticTable.count, using: &random)].name
            case 1: name = Array("x-\(random.next() % 8)".utf8)
            default:
                name = (0..<Int.random(in: 1...30, using: &random)).map { _ in
                    UInt8.random(in: 0x61...0x7a, using: &random)
                }
            }
            let value: [UInt8]
            switch random.next() % 4 {
            case 0: value = StaticTable[Int.random(in: 1...StaticTable.count, using: &random)].value
            case 1: value = Array("\(random.next() % 5)".utf8)
            case 2: value = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8(random.next() % 256) }
            default:
                value = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                    UInt8.random(in: 0x20...0x7e, using: &random)
                }
            }
            return HeaderField(name: name, value: value)
        }
    }

    @Test(arguments: seeds) func nghttp2ReadsWhatWeWrite(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var inflater: OpaquePointer?
        nghttp2_hd_inflate_new(&inflater)
        defer { nghttp2_hd_inflate_del(inflater) }
        var encoder = HeaderEncoder(tableCapacity: [0, 100, 4096, 10_000][Int(seed % 4)])
        for step in 0..<1000 {
            for _ in 0..<Int.random(in: 0...3, using: &random) where random.next() % 20 == 0 {
                let size = Int.random(in: 0...12_000, using: &random)
                encoder.setTableLimit(size)
                nghttp2_hd_inflate_change_table_size(inflater, size)
            }
            let fields = HPACKOracleTests.list(&random)
            var block: [UInt8] = []
            encoder.beginBlock(into: &block)
            for field in fields {
                let indexing = [HeaderEncoder.Indexing.incremental, .incremental, .without, .never][
                    Int(random.next() % 4)]
                encoder.encode(field, indexing, into: &block)
            }
            let read = HPACKOracleTests.inflate(block, inflater)
            #expect(read == fields, "seed \(seed), step \(step)")
            #expect(nghttp2_hd_inflate_get_dynamic_table_size(inflater) == encoder.table.size)
            guard read == fields else { return }
        }
    }

    private static func inflate(_ block: [UInt8], _ inflater: OpaquePointer?) -> [HeaderField]? {
        var fields: [HeaderField] = []
        var rest = block[...]
        while true {
            var entry = nghttp2_nv()
            var flags: Int32 = 0
            let taken = Array(rest).withUnsafeBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &entry, &flags, $0.baseAddress, $0.count, 1)
            }
            guard taken >= 0 else { return nil }
            rest = rest.dropFirst(taken)
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                fields.append(
                    HeaderField(
                        name: Array(UnsafeBufferPointer(start: entry.name, count: entry.namelen)),
                        value: Array(UnsafeBufferPointer(start: entry.value, count: entry.valuelen))))
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                nghttp2_hd_inflate_end_headers(inflater)
                return rest.isEmpty ? fields : nil
            }
        }
    }

    @Test(arguments: seeds) func weReadWhatNghttp2Writes(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed &+ 100)
        let capacity = [100, 4096, 10_000, 65_536][Int(seed % 4)]
        var deflater: OpaquePointer?
        nghttp2_hd_deflate_new(&deflater, capacity)
        defer { nghttp2_hd_deflate_del(deflater) }
        var decoder = HeaderDecoder(tableCapacity: capacity, listLimit: 1 << 20)
        // As after the acknowledgement of our SETTINGS.
        decoder.setTableLimit(capacity)
        nghttp2_hd_deflate_change_table_size(deflater, capacity)
        for step in 0..<1000 {
            if random.next() % 20 == 0 {
                let size = Int.random(in: 0...capacity, using: &random)
                decoder.setTableLimit(size)
                nghttp2_hd_deflate_change_table_size(deflater, size)
            }
            let fields = HPACKOracleTests.list(&random)
            let noIndex = fields.map { _ in random.next() % 4 == 0 }
            let block = withNameValues(fields.map { ($0.name, $0.value) }, noIndex: noIndex) { entries in
                var buffer = [UInt8](
                    repeating: 0,
                    count: nghttp2_hd_deflate_bound(deflater, entries.baseAddress, entries.count))
                let count = nghttp2_hd_deflate_hd(
                    deflater, &buffer, buffer.count, entries.baseAddress, entries.count)
                return Array(buffer.prefix(max(0, count)))
            }
            try decoder.decode(block.span)
            let read = decoder.list.fields.map {
                HeaderField(name: Array(decoder.list.name($0)), value: Array(decoder.list.value($0)))
            }
            #expect(read == fields, "seed \(seed), step \(step)")
            #expect(nghttp2_hd_deflate_get_dynamic_table_size(deflater) == decoder.table.size)
            guard read == fields else { return }
        }
    }

    /// Damaged blocks: both refuse, or both read the same.
    @Test(arguments: seeds) func decoderAndNghttp2RefuseTheSameDamage(_ seed: UInt64) {
        var random = SplitMix64(seed: seed &+ 200)
        var refused = 0
        for step in 0..<2500 {
            var inflater: OpaquePointer?
            nghttp2_hd_inflate_new(&inflater)
            defer { nghttp2_hd_inflate_del(inflater) }
            var encoder = HeaderEncoder(tableCapacity: 4096)
            var block: [UInt8] = []
            for field in HPACKOracleTests.list(&random) { encoder.encode(field, .incremental, into: &block) }
            for _ in 0..<Int.random(in: 0...2, using: &random) where !block.isEmpty {
                block[Int.random(in: 0..<block.count, using: &random)] = UInt8(random.next() % 256)
            }
            let theirs = HPACKOracleTests.inflate(block, inflater)
            var decoder = HeaderDecoder(tableCapacity: 4096, listLimit: 1 << 20)
            var ours: [HeaderField]?
            do {
                try decoder.decode(block.span)
                ours = decoder.list.fields.map {
                    HeaderField(name: Array(decoder.list.name($0)), value: Array(decoder.list.value($0)))
                }
            } catch { refused += 1 }
            #expect(ours == theirs, "seed \(seed), step \(step): \(block)")
        }
        #expect(refused > 50)
    }
}
