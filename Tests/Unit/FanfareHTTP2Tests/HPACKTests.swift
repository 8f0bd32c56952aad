import FanfareModel
import Testing

@testable import FanfareHTTP2

@Suite struct HPACKTests {
    /// RFC 7541 Appendix C.2 to C.6: block, fields, and the table's size afterwards. A sequence shares one table.
    struct Vector: Sendable {
        let name: String
        let tableSize: Int
        let steps: [Step]

        struct Step: Sendable {
            let block: String
            let fields: [HeaderField]
            let size: Int
        }
    }

    static let requests: [[HeaderField]] = [
        [
            HeaderField(":method", "GET"), HeaderField(":scheme", "http"), HeaderField(":path", "/"),
            HeaderField(":authority", "www.example.com"),
        ],
        [
            HeaderField(":method", "GET"), HeaderField(":scheme", "http"), HeaderField(":path", "/"),
            HeaderField(":authority", "www.example.com"), HeaderField("cache-control", "no-cache"),
        ],
        [
            HeaderField(":method", "GET"), HeaderField(":scheme", "https"), HeaderField(":path", "/index.html"),
            HeaderField(":authority", "www.example.com"), HeaderField("custom-key", "custom-value"),
        ],
    ]

    static let responses: [[HeaderField]] = [
        [
            HeaderField(":status", "302"), HeaderField("cache-control", "private"),
            HeaderField("date", "Mon, 21 Oct 2013 20:13:21 GMT"), HeaderField("location", "https://www.example.com"),
        ],
        [
            HeaderField(":status", "307"), HeaderField("cache-control", "private"),
            HeaderField("date", "Mon, 21 Oct 2013 20:13:21 GMT"), HeaderField("location", "https://www.example.com"),
        ],
        [
            HeaderField(":status", "200"), HeaderField("cache-control", "private"),
            HeaderField("date", "Mon, 21 Oct 2013 20:13:22 GMT"), HeaderField("location", "https://www.example.com"),
            HeaderField("content-encoding", "gzip"),
            HeaderField("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"),
        ],
    ]

    static let vectors: [Vector] = [
        Vector(
            name: "C.2.1", tableSize: 4096,
            steps: [
                .init(
                    block: "400a637573746f6d2d6b65790d637573746f6d2d686561646572",
                    fields: [HeaderField("custom-key", "custom-header")], size: 55)
            ]),
        Vector(
            name: "C.2.2", tableSize: 4096,
            steps: [
                .init(
                    block: "040c2f73616d706c652f70617468", fields: [HeaderField(":path", "/sample/path")], size: 0)
            ]),
        Vector(
            name: "C.2.3", tableSize: 4096,
            steps: [
                .init(
                    block: "100870617373776f726406736563726574", fields: [HeaderField("password", "secret")], size: 0)
            ]),
        Vector(
            name: "C.2.4", tableSize: 4096,
            steps: [.init(block: "82", fields: [HeaderField(":method", "GET")], size: 0)]),
        Vector(
            name: "C.3", tableSize: 4096,
            steps: [
                .init(block: "828684410f7777772e6578616d706c652e636f6d", fields: requests[0], size: 57),
                .init(block: "828684be58086e6f2d6361636865", fields: requests[1], size: 110),
                .init(
                    block: "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565", fields: requests[2],
                    size: 164),
            ]),
        Vector(
            name: "C.4", tableSize: 4096,
            steps: [
                .init(block: "828684418cf1e3c2e5f23a6ba0ab90f4ff", fields: requests[0], size: 57),
                .init(block: "828684be5886a8eb10649cbf", fields: requests[1], size: 110),
                .init(block: "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", fields: requests[2], size: 164),
            ]),
        Vector(
            name: "C.5", tableSize: 256,
            steps: [
                .init(
                    block: "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a3231"
                        + "20474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d",
                    fields: responses[0], size: 222),
                .init(block: "4803333037c1c0bf", fields: responses[1], size: 222),
                .init(
                    block: "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a697077"
                        + "38666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d616765"
                        + "3d333630303b2076657273696f6e3d31",
                    fields: responses[2], size: 215),
            ]),
        Vector(
            name: "C.6", tableSize: 256,
            steps: [
                .init(
                    block: "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad17"
                        + "1863c78f0b97c8e9ae82ae43d3",
                    fields: responses[0], size: 222),
                .init(block: "4883640effc1c0bf", fields: responses[1], size: 222),
                .init(
                    block: "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6"
                        + "c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
                    fields: responses[2], size: 215),
            ]),
    ]

    // MARK: Integers and strings

    @Test func theHPACKCoderWritesAndReadsIntegers() throws {
        for (value, prefix, expected) in [
            (10, 5, [0x0a]), (1337, 5, [0x1f, 0x9a, 0x0a]), (42, 8, [0x2a]),
        ] as [(Int, Int, [UInt8])] {
            var written: [UInt8] = []
            PrefixInteger.write(value, prefix: prefix, pattern: 0, into: &written)
            #expect(written == expected)
        }
        for prefix in 1...8 {
            for value in [0, 1, 30, 31, 32, 126, 127, 128, 254, 255, 256, 16_383, 16_384, 1 << 21, PrefixInteger.max] {
                var written: [UInt8] = []
                PrefixInteger.write(value, prefix: prefix, pattern: 0, into: &written)
                var cursor = BlockCursor()
                #expect(try cursor.integer(prefix: prefix, of: written.span) == value)
                #expect(cursor.position == written.count)
                var output = OutputBuffer(capacity: 1)
                var place = output.cursor(room: OutputCursor.integerBytesMax)
                place.put(integer: value, prefix: prefix, pattern: 0)
                output.commit(place)
                let direct = output.withBytes { Array($0) }
                #expect(direct == written)
            }
        }
    }

    @Test(arguments: ["1fffffffff0f", "1f808080808000", "1f80808080808080808001", "1fffffffff7f", "1fff", "1f"])
    func theHPACKCoderRefusesIntegersTooLargeTooLongOrCutShort(_ text: String) {
        #expect(throws: HPACKError.self) {
            var cursor = BlockCursor()
            _ = try cursor.integer(prefix: 5, of: bytes(hex: text).span)
        }
    }

    @Test func everySymbolSurvivesHuffman() throws {
        for first in UInt8.min...UInt8.max {
            for string in [[first], [first, first], [first, 0x61, ~first], Array(repeating: first, count: 9)] {
                var coded: [UInt8] = []
                Huffman.encode(string, into: &coded)
                #expect(coded.count == Huffman.encodedCount(string))
                var decoded: [UInt8] = []
                try Huffman.decode(coded.span, into: &decoded)
                #expect(decoded == string)
            }
        }
    }

    /// `a` is 00011, so a byte of it ends in three ones of padding.
    @Test(arguments: [
        "18",  // padding of zeros
        "1fff",  // eleven bits of padding
        "ffffffff", "fffffffc",  // EOS, whole
        "1ffffffffe",
        "ff",  // eight bits of padding and nothing else
    ])
    func theHPACKCoderRefusesHuffmanWithWrongPaddingOrEndOfString(_ text: String) {
        #expect(throws: HPACKError.self) {
            var decoded: [UInt8] = []
            try Huffman.decode(bytes(hex: text).span, into: &decoded)
        }
    }

    // MARK: Refusals

    /// A small block that stands for megabytes: one large entry, indexed again and again.
    @Test func aListOverTheLimitIsCutButTheTableGoesOn() throws {
        var decoder = HeaderDecoder(tableCapacity: 4096, listLimit: 10_000)
        var block: [UInt8] = []
        HeaderEncoder.writeLiteral(
            HeaderField(name: [0x61], value: [UInt8](repeating: 0x7e, count: 3000)), nameIndex: nil, prefix: 6,
            pattern: 0x40, into: &block)
        block += [UInt8](repeating: 0xbe, count: 16_000)
        HeaderEncoder.writeLiteral(HeaderField("b", "2"), nameIndex: nil, prefix: 6, pattern: 0x40, into: &block)
        try decoder.decode(block.span)
        #expect(decoder.list.isOverLimit)
        #expect(decoder.list.bytes.count <= 10_000)
        try decoder.decode([0xbe].span)
        #expect(decoder.list.all == [HeaderField("b", "2")])
    }

    /// Two bytes of a block have a name of 3,900 copied, once into the list and once into the table, each time.
    @Test(arguments: [(repeats: 8, isRefused: false), (repeats: 15_000, isRefused: true)])
    func namesThatALiteralRepeatsAreBounded(repeats: Int, isRefused: Bool) throws {
        var decoder = HeaderDecoder(tableCapacity: 4096, listLimit: 16_384)
        var block: [UInt8] = []
        HeaderEncoder.writeLiteral(
            HeaderField(name: [UInt8](repeating: 0x61, count: 3900), value: []), nameIndex: nil, prefix: 6,
            pattern: 0x40, into: &block)
        for _ in 0..<repeats { block += [0x7e, 0x00] }
        do {
            try decoder.decode(block.span)
            #expect(!isRefused && decoder.list.isOverLimit)
        } catch {
            #expect(isRefused && error.text == "header block repeats more than 65536 bytes of names")
        }
    }

    // MARK: Tables

}

@Suite struct HeaderEncoderTests {
    /// C.4 is also what a Huffman-coding encoder with incremental indexing writes.
    @Test func theHPACKCoderEncodesAppendixC4() {
        var encoder = HeaderEncoder(tableCapacity: 4096)
        for (fields, step) in zip(HPACKTests.requests, HPACKTests.vectors.first { $0.name == "C.4" }?.steps ?? []) {
            var block: [UInt8] = []
            for field in fields { encoder.encode(field, .incremental, into: &block) }
            #expect(block == bytes(hex: step.block))
        }
    }

    @Test func encoderAnnouncesSmallestAndLastTableSize() {
        var encoder = HeaderEncoder(tableCapacity: 4096)
        encoder.setTableLimit(10_000)
        #expect(!encoder.owesSizeUpdate)
        encoder.setTableLimit(0)
        encoder.setTableLimit(200)
        var block: [UInt8] = []
        encoder.beginBlock(into: &block)
        #expect(block == [0x20] + sizeUpdate(200))
        #expect(!encoder.owesSizeUpdate)
    }

    @Test func secretsAreNeverIndexed() {
        var fields = LiteralFields()
        fields.append(HeaderField("authorization", "bearer x"), secret: true)
        fields.append(HeaderField("apns-expiration", "0"))
        // 0x1f 0x08: never indexed, name 23. 0x00: without indexing, name in full.
        #expect(fields.bytes.prefix(2) == [0x1f, 0x08])
        var encoder = HeaderEncoder(tableCapacity: 4096)
        var block: [UInt8] = []
        encoder.encode(HeaderField("authorization", "bearer x"), .never, into: &block)
        #expect(block == Array(fields.bytes.prefix(block.count)))
        #expect(fields.bytes[block.count] == 0x00)
        #expect(encoder.table.count == 0)
    }
}

@Suite struct DynamicTableTests {
    /// Small tables, all sizes: contents against a plain array that follows RFC 7541 §4.
    @Test(arguments: [0, 31, 32, 33, 64, 70, 100, 257, 1000, 4096]) func tableFollowsItsModel(capacity: Int) {
        var random = SplitMix64(seed: UInt64(capacity) &+ 1)
        var table = DynamicTable(capacity: capacity, limit: capacity)
        var model: [HeaderField] = []
        var limit = capacity
        for step in 0..<2000 {
            if step % 97 == 96 {
                limit = Int(random.next() % UInt64(capacity + 1))
                table.setLimit(limit)
            } else {
                let field = random.field(longest: 40)
                table.insert(name: field.name.span, value: field.value.span)
                model.insert(field, at: 0)
            }
            while model.reduce(0, { $0 + $1.size }) > limit { model.removeLast() }
            #expect(table.size == model.reduce(0) { $0 + $1.size })
            #expect(table.all == model && table.violation() == nil)
        }
    }
}

@Suite struct HeaderDecoderTests {
    @Test(arguments: HPACKTests.vectors) func theHPACKCoderDecodesAppendixC(_ vector: HPACKTests.Vector) throws {
        var decoder = HeaderDecoder(tableCapacity: 4096, listLimit: 16_384)
        if vector.tableSize != 4096 { try decoder.decode(sizeUpdate(vector.tableSize).span) }
        for step in vector.steps {
            try decoder.decode(bytes(hex: step.block).span)
            #expect(decoder.list.all == step.fields)
            #expect(decoder.table.size == step.size)
        }
    }

    @Test(arguments: [
        ("80", "index 0"), ("be", "index beyond the tables"), ("ff80808001", "index far beyond"),
        ("7f40", "literal whose name is beyond the tables"), ("40", "ends before the name"),
        ("4001", "ends in the name"),
        ("400161", "ends before the value"), ("40016102", "ends before the value's bytes"),
        ("823f00", "size update after a field"), ("20202082", "three size updates"),
        ("3fe21f", "size update above the limit of 4,096"),
    ])
    func theHPACKCoderRefusesBrokenBlocks(_ block: String, _ why: String) {
        #expect(throws: HPACKError.self, "\(why)") {
            var decoder = HeaderDecoder(tableCapacity: 4096, listLimit: 16_384)
            try decoder.decode(bytes(hex: block).span)
        }
    }

    @Test func theHPACKCoderAcceptsTwoSizeUpdatesAndDropsWhatNoLongerFits() throws {
        var decoder = HeaderDecoder(tableCapacity: 4096, listLimit: 16_384)
        try decoder.decode(bytes(hex: "400a637573746f6d2d6b65790d637573746f6d2d686561646572").span)
        #expect(decoder.table.count == 1)
        try decoder.decode((bytes(hex: "20") + sizeUpdate(4096) + [0x82]).span)
        #expect(decoder.table.count == 0)
        #expect(decoder.table.limit == 4096)
    }

    @Test func aSmallerTableOfOursMustBeConfirmed() throws {
        var decoder = HeaderDecoder(tableCapacity: 4096, listLimit: 16_384)
        decoder.setTableLimit(100)
        var confirming = decoder
        #expect(throws: HPACKError.self) { try decoder.decode([0x82].span) }
        try confirming.decode((sizeUpdate(100) + [0x82]).span)
        #expect(throws: HPACKError.self) { try confirming.decode((sizeUpdate(101)).span) }
        #expect(decoder.violation() == nil && confirming.violation() == nil)
    }

    @Test(arguments: UInt64(1)...10) func theLimitsOfTheTableAgreeWhateverBlocksSay(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var decoder = HeaderDecoder(tableCapacity: 4096, listLimit: 16_384)
        for _ in 0..<2000 {
            if random.next() % 4 == 0 { decoder.setTableLimit(Int.random(in: 0...5000, using: &random)) }
            let confirming = sizeUpdate(Int.random(in: 0...5000, using: &random)) + [0x82]
            let block = random.next() % 2 == 0 ? confirming : random.bytes(20)
            try? decoder.decode(block.span)
            let violation = decoder.violation()
            #expect(violation == nil, "seed \(seed)")
        }
    }
}
