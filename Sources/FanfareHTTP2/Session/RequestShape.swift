/// The header fields that all requests of one kind share. Make one per kind and use it for every request and connection:
/// a session recognises a shape by its identity, encodes it once, and copies the bytes from then on.
public final class RequestShape: Sendable {
    /// `:method`, `:scheme` and `:authority`. `:path` is written for each request.
    let pseudoFields: [HeaderField]
    let fields: [HeaderField]
    /// What a path made of a token begins with.
    let pathPrefix: [UInt8]

    /// - Parameter fields: those that are the same for many requests (`apns-topic`, `apns-push-type`, `apns-priority`).
    ///   They go into the peer's dynamic table. What changes from request to request belongs in `LiteralFields`.
    public init(
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
    private struct Encoded {
        let shape: RequestShape
        var pseudoFields: [UInt8] = []
        var fields: [UInt8] = []
        /// The table's generation that the bytes are good for, any number of times. Nil while they add to the table
        /// themselves: such bytes are used once.
        var generation: UInt64?
    }

    private var entries: [Encoded] = []
    /// Kinds of requests are few; beyond this the oldest is encoded anew when it comes back.
    private static let entriesMax = 16
    private var oldest = 0

    func pseudoFields(_ index: Int) -> [UInt8] { entries[index].pseudoFields }
    func fields(_ index: Int) -> [UInt8] { entries[index].fields }

    /// Where the shape's bytes are, made or made anew if need be. They must go out before the next call.
    mutating func prepare(_ shape: RequestShape, with encoder: inout HeaderEncoder) -> Int {
        if let index = entries.firstIndex(where: { $0.shape === shape }) {
            if entries[index].generation != encoder.table.generation { encode(index, with: &encoder) }
            return index
        }
        let index: Int
        if entries.count < ShapeCache.entriesMax {
            index = entries.count
            entries.append(Encoded(shape: shape))
        } else {
            index = oldest
            oldest = (oldest + 1) % entries.count
            entries[index] = Encoded(shape: shape)
        }
        encode(index, with: &encoder)
        return index
    }

    private mutating func encode(_ index: Int, with encoder: inout HeaderEncoder) {
        let before = encoder.table.generation
        let shape = entries[index].shape
        entries[index].pseudoFields.removeAll(keepingCapacity: true)
        for field in shape.pseudoFields { encoder.encode(field, .incremental, into: &entries[index].pseudoFields) }
        entries[index].fields.removeAll(keepingCapacity: true)
        for field in shape.fields { encoder.encode(field, .incremental, into: &entries[index].fields) }
        entries[index].generation = encoder.table.generation == before ? before : nil
    }
}
