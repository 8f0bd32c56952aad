/// Header fields that all requests of one kind share. One shape per kind serves every request and connection: a session
/// recognises a shape by its identity, encodes it once, and copies the bytes from then on.
package final class RequestShape: Sendable {
    /// `:method`, `:scheme` and `:authority`. Each request writes its own `:path`.
    let pseudoFields: [HeaderField]
    let fields: [HeaderField]
    /// Prefix of a path that ends in a token.
    let pathPrefix: [UInt8]

    /// - Parameter fields: fields that are equal for many requests (`apns-topic`, `apns-push-type`, `apns-priority`). They
    ///   go into the peer's dynamic table. Fields that change from request to request belong in `LiteralFields`.
    package init(
        method: String = "POST", authority: String, pathPrefix: String = "/3/device/", fields: [HeaderField]
    ) {
        pseudoFields = [
            HeaderField(":method", method), HeaderField(":scheme", "https"), HeaderField(":authority", authority),
        ]
        self.fields = fields
        self.pathPrefix = Array(pathPrefix.utf8)
    }
}

/// A connection's encoder, and the shapes that it has encoded.
struct ShapeCache {
    struct Encoded {
        let shape: RequestShape
        /// Encoded pseudo-fields. They begin with the pending table size updates, if any; such bytes are used once.
        fileprivate(set) var pseudoFields: [UInt8] = []
        fileprivate(set) var fields: [UInt8] = []
        /// Generation of the dynamic table for which the bytes can be reused. Nil while the bytes themselves add to the
        /// table: such bytes are used once.
        fileprivate var generation: UInt64?
    }

    private var encoder: HeaderEncoder
    private(set) var entries: [Encoded] = []
    /// Maximum number of encoded shapes. Kinds of requests are few; beyond it the oldest is discarded, and encoded again on its next use.
    private static let entriesMax = 16
    private var oldest = 0
    /// Index of the most recently used shape: a sweep uses one shape again and again.
    private var latest = 0

    init(encoder: HeaderEncoder) { self.encoder = encoder }

    /// Takes the peer's SETTINGS_HEADER_TABLE_SIZE.
    mutating func setTableLimit(_ limit: Int) { encoder.setTableLimit(limit) }

    /// Returns the index of the shape's bytes, after encoding them if necessary. They must go out before the next call.
    @inline(__always)
    mutating func prepare(_ shape: RequestShape) -> Int {
        if latest < entries.count, entries[latest].shape === shape,
            entries[latest].generation == encoder.table.generation, !encoder.owesSizeUpdate
        {
            return latest
        }
        latest = find(shape)
        encode(latest)
        return latest
    }

    private mutating func find(_ shape: RequestShape) -> Int {
        if let index = entries.firstIndex(where: { $0.shape === shape }) { return index }
        if entries.count < ShapeCache.entriesMax {
            entries.append(Encoded(shape: shape))
            return entries.count - 1
        }
        defer { oldest = (oldest + 1) % entries.count }
        entries[oldest] = Encoded(shape: shape)
        return oldest
    }

    private mutating func encode(_ index: Int) {
        guard entries[index].generation != encoder.table.generation || encoder.owesSizeUpdate else { return }
        let before = encoder.table.generation
        let isOwing = encoder.owesSizeUpdate
        let shape = entries[index].shape
        entries[index].pseudoFields.removeAll(keepingCapacity: true)
        encoder.beginBlock(into: &entries[index].pseudoFields)
        for field in shape.pseudoFields { encoder.encode(field, .incremental, into: &entries[index].pseudoFields) }
        entries[index].fields.removeAll(keepingCapacity: true)
        for field in shape.fields { encoder.encode(field, .incremental, into: &entries[index].fields) }
        entries[index].generation = !isOwing && encoder.table.generation == before ? before : nil
    }
}
