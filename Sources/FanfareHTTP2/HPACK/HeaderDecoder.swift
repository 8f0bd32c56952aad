/// Complete HPACK decoder (RFC 7541): all representations, size updates, eviction, and every limit.
///
/// A connection has one decoder, because the dynamic table must see every block in order, including blocks of closed streams.
package struct HeaderDecoder {
    private(set) var table: DynamicTable
    package private(set) var list = HeaderList()
    /// Largest decoded list, in RFC 7541's count; sent to the peer as SETTINGS_MAX_HEADER_LIST_SIZE.
    private let listLimit: Int
    /// Largest size that a size update may set: our SETTINGS_HEADER_TABLE_SIZE, once the peer has acknowledged it.
    private var tableLimit: Int
    /// Bytes of names that literals of this block have copied from the dynamic table. Two bytes of a block can demand a copy
    /// of four kilobytes, so the sum is limited to four times the longest list that this decoder accepts.
    private var copiedNameBytes = 0
    /// `true` while the peer's next block must begin with a size update, because our limit fell below the size that its
    /// encoder used (§4.2).
    private var owesSizeUpdate = false

    /// - Parameters:
    ///   - tableCapacity: the largest table size that this side ever allows.
    ///   - listLimit: the largest size of one decoded header list.
    package init(tableCapacity: Int, listLimit: Int) {
        // The peer uses the default size until it receives our SETTINGS, so the table must have room for it.
        let capacity = max(tableCapacity, HPACK.defaultTableSize)
        table = DynamicTable(capacity: capacity, limit: HPACK.defaultTableSize)
        tableLimit = HPACK.defaultTableSize
        self.listLimit = listLimit
    }

    /// Equal blocks decode to equal fields while this number is unchanged.
    package var generation: UInt64 { table.generation }

    /// Applies our table size, which the peer has acknowledged.
    mutating func setTableLimit(_ limit: Int) {
        tableLimit = min(limit, table.capacity)
        owesSizeUpdate = table.limit > tableLimit
    }

    /// Describes a table that is larger than allowed and owes no size update, or a violated invariant of the table; `nil` if there is none.
    func violation() -> String? {
        guard tableLimit <= table.capacity, owesSizeUpdate == (table.limit > tableLimit) else {
            return "a table of \(table.limit) bytes, \(tableLimit) allowed, owes a size update: \(owesSizeUpdate)"
        }
        return table.violation()
    }

    /// Decodes one whole block into `list`. A list over the limit is cut short and marked; it is no error here, because the
    /// table has still seen every field.
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
                // Two updates are enough: the smallest size in between and the last one (§4.2).
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
                // Literals "without indexing" and "never indexed" differ for intermediaries only.
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

    /// Reads the name and value directly to the end of the list; the table copies them from there.
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

    /// Reads one string. The block bounds it, and the session bounds the block; Huffman's shortest code expands a string to 8/5 at most.
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
