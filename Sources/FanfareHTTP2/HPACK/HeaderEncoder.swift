/// HPACK's encoding side (RFC 7541): how each field is written, and the dynamic table that goes with it.
struct HeaderEncoder {
    /// How a field treats the dynamic table.
    enum Indexing {
        /// Indexed if it stands in a table; otherwise literal, and remembered for the next time.
        case incremental
        /// Literal, and the table stays as it is.
        case without
        /// Literal, and nobody on the way may remember it either: for secrets (§7.1.3).
        case never
    }

    private(set) var table: DynamicTable
    /// Smallest and last table size that the peer has not been told of (§4.2).
    private var owedSizeUpdate: (smallest: Int, last: Int)?

    /// - Parameter tableCapacity: the greatest table we want, whatever the peer allows.
    init(tableCapacity: Int) {
        table = DynamicTable(capacity: tableCapacity, limit: HPACK.defaultTableSize)
        // The peer assumes the default until told otherwise.
        if tableCapacity < HPACK.defaultTableSize { owedSizeUpdate = (tableCapacity, tableCapacity) }
    }

    /// The peer's SETTINGS_HEADER_TABLE_SIZE.
    mutating func setTableLimit(_ peerLimit: Int) {
        let limit = min(peerLimit, table.capacity)
        guard limit != table.limit else { return }
        table.setLimit(limit)
        owedSizeUpdate = (min(limit, owedSizeUpdate?.smallest ?? limit), limit)
    }

    /// Must be called at the start of every block.
    mutating func beginBlock(into bytes: inout [UInt8]) {
        guard let (smallest, last) = owedSizeUpdate else { return }
        owedSizeUpdate = nil
        PrefixInteger.write(smallest, prefix: 5, pattern: 0x20, into: &bytes)
        if last != smallest { PrefixInteger.write(last, prefix: 5, pattern: 0x20, into: &bytes) }
    }

    var owesSizeUpdate: Bool { owedSizeUpdate != nil }

    mutating func encode(_ field: HeaderField, _ indexing: Indexing, into bytes: inout [UInt8]) {
        let inStatic = StaticTable.find(field)
        let inDynamic = table.find(field)
        let dynamicBase = StaticTable.count + 1
        if indexing == .incremental, let index = inStatic.exact ?? inDynamic.exact.map({ $0 + dynamicBase }) {
            return PrefixInteger.write(index, prefix: 7, pattern: 0x80, into: &bytes)
        }
        let nameIndex = inStatic.name ?? inDynamic.name.map { $0 + dynamicBase }
        switch indexing {
        // What does not fit the table would only empty it.
        case .incremental where field.size <= table.limit:
            HeaderEncoder.writeLiteral(field, nameIndex: nameIndex, prefix: 6, pattern: 0x40, into: &bytes)
            table.insert(name: field.name.span, value: field.value.span)
        case .incremental, .without:
            HeaderEncoder.writeLiteral(field, nameIndex: nameIndex, prefix: 4, pattern: 0x00, into: &bytes)
        case .never:
            HeaderEncoder.writeLiteral(field, nameIndex: nameIndex, prefix: 4, pattern: 0x10, into: &bytes)
        }
    }

    /// `nameIndex` nil: the name is written out.
    static func writeLiteral(
        _ field: HeaderField, nameIndex: Int?, prefix: Int, pattern: UInt8, into bytes: inout [UInt8]
    ) {
        PrefixInteger.write(nameIndex ?? 0, prefix: prefix, pattern: pattern, into: &bytes)
        if nameIndex == nil { writeString(field.name, into: &bytes) }
        writeString(field.value, into: &bytes)
    }

    /// Huffman-coded where that is shorter.
    static func writeString(_ string: [UInt8], into bytes: inout [UInt8]) {
        let huffmanCount = Huffman.encodedCount(string)
        if huffmanCount < string.count {
            PrefixInteger.write(huffmanCount, prefix: 7, pattern: 0x80, into: &bytes)
            Huffman.encode(string, into: &bytes)
        } else {
            PrefixInteger.write(string.count, prefix: 7, pattern: 0x00, into: &bytes)
            bytes.append(contentsOf: string)
        }
    }
}

/// Header fields in their final bytes, the same on every connection: literals that name no dynamic entry and leave no
/// trace in a table. Made once (a token once per refresh, an expiration once per payload) and appended to each request
/// as they are.
package struct LiteralFields: Sendable, Hashable {
    var bytes: [UInt8] = []

    package init() {}

    /// - Parameter secret: forbids everybody on the way to remember the value. APNs asks never to index
    ///   `authorization` (spec §2.3).
    package mutating func append(_ field: HeaderField, secret: Bool = false) {
        HeaderEncoder.writeLiteral(
            field, nameIndex: StaticTable.find(field).name, prefix: 4, pattern: secret ? 0x10 : 0x00, into: &bytes)
    }
}
