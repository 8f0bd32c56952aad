/// HPACK encoder (RFC 7541): writes fields and keeps the dynamic table that belongs to them.
struct HeaderEncoder {
    /// A field's treatment of the dynamic table.
    enum Indexing {
        /// An index if a table contains the field; otherwise a literal that is added to the dynamic table.
        case incremental
        /// A literal that leaves the table unchanged.
        case without
        /// A literal that no intermediary may index either: for secrets (§7.1.3).
        case never
    }

    private(set) var table: DynamicTable
    /// Smallest and last table size that this encoder has not yet announced to the peer (§4.2).
    private var owedSizeUpdate: (smallest: Int, last: Int)?

    /// - Parameter tableCapacity: the largest table that this encoder uses, even if the peer allows more.
    init(tableCapacity: Int) {
        table = DynamicTable(capacity: tableCapacity, limit: HPACK.defaultTableSize)
        // The peer assumes the default size until the first size update.
        if tableCapacity < HPACK.defaultTableSize { owedSizeUpdate = (tableCapacity, tableCapacity) }
    }

    /// Applies the peer's SETTINGS_HEADER_TABLE_SIZE.
    mutating func setTableLimit(_ peerLimit: Int) {
        let limit = min(peerLimit, table.capacity)
        guard limit != table.limit else { return }
        table.setLimit(limit)
        owedSizeUpdate = (min(limit, owedSizeUpdate?.smallest ?? limit), limit)
    }

    /// Writes pending size updates. It must be called at the start of every block.
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
        // A field larger than the table would only empty it.
        case .incremental where field.size <= table.limit:
            HeaderEncoder.writeLiteral(field, nameIndex: nameIndex, prefix: 6, pattern: 0x40, into: &bytes)
            table.insert(name: field.name.span, value: field.value.span)
        case .incremental, .without:
            HeaderEncoder.writeLiteral(field, nameIndex: nameIndex, prefix: 4, pattern: 0x00, into: &bytes)
        case .never:
            HeaderEncoder.writeLiteral(field, nameIndex: nameIndex, prefix: 4, pattern: 0x10, into: &bytes)
        }
    }

    /// Writes a literal field, with the name in full if `nameIndex` is nil.
    static func writeLiteral(
        _ field: HeaderField, nameIndex: Int?, prefix: Int, pattern: UInt8, into bytes: inout [UInt8]
    ) {
        PrefixInteger.write(nameIndex ?? 0, prefix: prefix, pattern: pattern, into: &bytes)
        if nameIndex == nil { writeString(field.name, into: &bytes) }
        writeString(field.value, into: &bytes)
    }

    /// Writes a string, Huffman-coded if that is shorter.
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

/// Header fields as final bytes, equal on every connection: literals that refer to no dynamic entry and leave no trace in a
/// table. They are encoded once (a provider token once per refresh, an expiration once per payload) and copied into each request.
package struct LiteralFields: Sendable, Hashable {
    var bytes: [UInt8] = []

    package init() {}

    /// - Parameter secret: forbids intermediaries to index the value. APNs requires that clients never index `authorization` (spec §2.3).
    package mutating func append(_ field: HeaderField, secret: Bool = false) {
        HeaderEncoder.writeLiteral(
            field, nameIndex: StaticTable.find(field).name, prefix: 4, pattern: secret ? 0x10 : 0x00, into: &bytes)
    }
}
