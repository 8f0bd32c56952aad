/// The complete HPACK decoder (RFC 7541): all representations, size updates, eviction, and every limit.
///
/// One per connection, as its dynamic table must see every block in order, including those of streams that are gone.
package struct HeaderDecoder {
    private(set) var table: DynamicTable
    package private(set) var list = HeaderList()
    /// Of a decoded list, by RFC 7541's count: what we announced as SETTINGS_MAX_HEADER_LIST_SIZE.
    private let listLimit: Int
    /// What a size update may ask for: our SETTINGS_HEADER_TABLE_SIZE, once the peer has acknowledged it.
    private var tableLimit: Int
    /// Bytes of names that literals of this block have had copied from the dynamic table. Two bytes of a block may ask for four
    /// kilobytes each time, so it is bounded: by four times as much as the longest list that we accept could hold.
    private var copiedNameBytes = 0
    /// Our limit fell below what the peer's encoder used: its next block must begin with a size update (§4.2).
    private var owesSizeUpdate = false

    /// - Parameters:
    ///   - tableCapacity: the greatest table size we shall ever allow.
    ///   - listLimit: greatest size of one decoded header list.
    package init(tableCapacity: Int, listLimit: Int) {
        // Until the peer knows better it uses the default, so there must be room for that.
        let capacity = max(tableCapacity, HPACK.defaultTableSize)
        table = DynamicTable(capacity: capacity, limit: HPACK.defaultTableSize)
        tableLimit = HPACK.defaultTableSize
        self.listLimit = listLimit
    }

    /// As long as it stays the same, equal blocks mean equal fields.
    package var generation: UInt64 { table.generation }

    /// The peer has acknowledged our table size.
    mutating func setTableLimit(_ limit: Int) {
        tableLimit = min(limit, table.capacity)
        owesSizeUpdate = table.limit > tableLimit
    }

    /// Decodes one whole block into `list`. A list over the limit is cut short and marked, and is no error here: the table
    /// has still seen every field.
    package mutating func decode(_ block: Span<UInt8>) throws(HPACKError) {
        list.removeAll()
        copiedNameBytes = 0
        var cursor = BlockCursor()
        var sizeUpdates = 0
        var fieldsSeen = false
        while cursor.position < block.count {
            let first = block[cursor.position]
            if first & 0xe0 == 0x20 {
                let size = try cursor.integer(prefix: 5, of: block)
                // Two suffice: the smallest size in between and the last one (§4.2).
                sizeUpdates += 1
                guard !fieldsSeen, sizeUpdates <= 2 else {
                    throw HPACKError("dynamic table size update in the middle of a header block")
                }
                guard size <= tableLimit else {
                    throw HPACKError("dynamic table size update to \(size), over the limit of \(tableLimit)")
                }
                owesSizeUpdate = false
                table.setLimit(size)
                continue
            }
            guard !owesSizeUpdate else {
                throw HPACKError("header block lacks the size update that our new table size demands")
            }
            fieldsSeen = true
            if first & 0x80 != 0 {
                try appendIndexed(cursor.integer(prefix: 7, of: block))
            } else if first & 0x40 != 0 {
                try readLiteral(prefix: 6, of: block, at: &cursor, isRemembered: true)
            } else {
                // Without indexing, and never indexed: the difference matters to intermediaries only.
                try readLiteral(prefix: 4, of: block, at: &cursor, isRemembered: false)
            }
        }
    }

    private mutating func appendIndexed(_ index: Int) throws(HPACKError) {
        if 1...StaticTable.count ~= index {
            let (name, value) = StaticTable.places[index - 1]
            let storage = StaticTable.bytes
            list.append(
                storage.span.extracting(name.lowerBound..<value.upperBound), nameCount: name.count, limit: listLimit)
        } else if index > 0, let (name, value) = table.field(index - StaticTable.count - 1) {
            let storage = table.storage
            list.append(
                storage.span.extracting(name.lowerBound..<value.upperBound), nameCount: name.count, limit: listLimit)
        } else {
            throw HPACKError("field index \(index) of \(StaticTable.count + table.count)")
        }
    }

    /// Name and value go straight to the end of the list, from where the table takes its copy.
    private mutating func readLiteral(
        prefix: Int, of block: Span<UInt8>, at cursor: inout BlockCursor, isRemembered: Bool
    ) throws(HPACKError) {
        let index = try cursor.integer(prefix: prefix, of: block)
        let start = list.bytes.count
        if index == 0 {
            try HeaderDecoder.readString(of: block, at: &cursor, into: &list.bytes)
        } else if index <= StaticTable.count {
            list.bytes.append(contentsOf: StaticTable.bytes[StaticTable.places[index - 1].name])
        } else if let (range, _) = table.field(index - StaticTable.count - 1) {
            copiedNameBytes += range.count
            guard copiedNameBytes <= 4 * listLimit else {
                throw HPACKError("header block repeats more than \(4 * listLimit) bytes of names")
            }
            list.bytes.append(contentsOf: table.storage[range])
        } else {
            throw HPACKError("name index \(index) of \(StaticTable.count + table.count)")
        }
        let valueStart = list.bytes.count
        try HeaderDecoder.readString(of: block, at: &cursor, into: &list.bytes)
        if isRemembered {
            let bytes = list.bytes
            table.insert(
                name: bytes.span.extracting(start..<valueStart), value: bytes.span.extracting(valueStart...))
        }
        list.close(from: start, valueStart: valueStart, limit: listLimit)
    }

    /// Bounded by the block, which the session bounds; Huffman's shortest code makes a string at most 8/5 of it.
    private static func readString(
        of block: Span<UInt8>, at cursor: inout BlockCursor, into bytes: inout [UInt8]
    ) throws(HPACKError) {
        guard cursor.position < block.count else { throw HPACKError("header block ends before a string") }
        let isHuffman = block[cursor.position] & 0x80 != 0
        let count = try cursor.integer(prefix: 7, of: block)
        let range = try cursor.skip(count, of: block)
        let string = block.extracting(range)
        if isHuffman {
            try Huffman.decode(string, into: &bytes)
        } else {
            bytes.append(string)
        }
    }
}
