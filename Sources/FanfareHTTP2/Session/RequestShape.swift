/// The header fields that all requests of one kind share. Make one per kind and use it for every request and connection:
/// a session recognises a shape by its identity, encodes it once, and copies the bytes from then on.
package final class RequestShape: Sendable {
    /// `:method`, `:scheme` and `:authority`. `:path` is written for each request.
    let pseudoFields: [HeaderField]
    let fields: [HeaderField]
    /// What a path made of a token begins with.
    let pathPrefix: [UInt8]

    /// - Parameter fields: those that are the same for many requests (`apns-topic`, `apns-push-type`, `apns-priority`).
    ///   They go into the peer's dynamic table. What changes from request to request belongs in `LiteralFields`.
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

/// A connection's shapes in the bytes that its encoder gives them.
struct ShapeCache {
    struct Encoded {
        let shape: RequestShape
        /// Begin with the table size updates that the peer is owed, if any; such bytes are used once.
        fileprivate(set) var pseudoFields: [UInt8] = []
        fileprivate(set) var fields: [UInt8] = []
        /// The table's generation that the bytes are good for, any number of times. Nil while they add to the table
        /// themselves: such bytes are used once.
        fileprivate var generation: UInt64?
    }

    private(set) var entries: [Encoded] = []
    /// Kinds of requests are few; beyond this the oldest is encoded anew when it comes back.
    private static let entriesMax = 16
    private var oldest = 0
    /// The one asked for last: a sweep asks for one again and again.
    private var latest = 0

    /// Where the shape's bytes are, made or made anew if need be. They must go out before the next call.
    @inline(__always)
    mutating func prepare(_ shape: RequestShape, with encoder: inout HeaderEncoder) -> Int {
        if latest < entries.count, entries[latest].shape === shape,
            entries[latest].generation == encoder.table.generation, !encoder.owesSizeUpdate
        {
            return latest
        }
        latest = find(shape)
        encode(latest, with: &encoder)
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

    private mutating func encode(_ index: Int, with encoder: inout HeaderEncoder) {
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
