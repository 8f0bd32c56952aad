internal import FanfareHTTP2

#if canImport(Glibc)
internal import Glibc
#endif

/// A header block that was fully decoded once. A client's requests differ in little but their path: a block that is equal byte for byte
/// before and after the path's string, with the same dynamic table, has the same fields.
struct KnownHeaders {
    /// Position of a string in a block.
    struct Literal {
        let range: Range<Int>
        let isHuffman: Bool
    }

    private let before: [UInt8]
    private let behind: [UInt8]
    private let generation: UInt64
    /// Fault of the fields apart from the path.
    let refusal: Answer?

    /// - Parameters:
    ///   - block: a block that was just decoded without an error and without a change to the dynamic table.
    ///   - generation: generation of the dynamic table.
    /// - Returns: `nil` for a block that adds to the table or whose path is in it; such a block is decoded each time.
    init?(_ block: Span<UInt8>, generation: UInt64, refusal: Answer?) {
        guard let path = try? KnownHeaders.findPath(in: block) else { return nil }
        before = KnownHeaders.bytes(block.extracting(..<path.lengthAt))
        behind = KnownHeaders.bytes(block.extracting(path.end...))
        self.generation = generation
        self.refusal = refusal
    }

    /// Returns the position of the path in a block whose other fields are equal; `nil` if they differ.
    func path(in block: Span<UInt8>, generation: UInt64) -> Literal? {
        guard generation == self.generation, block.count > before.count + behind.count,
            KnownHeaders.areEqual(block.extracting(..<before.count), before)
        else { return nil }
        var cursor = BlockCursor(position: before.count)
        let isHuffman = block[before.count] & 0x80 != 0
        guard let count = try? cursor.integer(prefix: 7, of: block),
            let range = try? cursor.skip(count, of: block), block.count - range.upperBound == behind.count,
            KnownHeaders.areEqual(block.extracting(range.upperBound...), behind)
        else { return nil }
        return Literal(range: range, isHuffman: isHuffman)
    }

    /// Walks over the representations (RFC 7541 §6) to find the length field of the path's string and the string's end.
    private static func findPath(in block: Span<UInt8>) throws(HPACKError) -> (lengthAt: Int, end: Int)? {
        var cursor = BlockCursor()
        var found: (lengthAt: Int, end: Int)?
        while cursor.position < block.count {
            let first = block[cursor.position]
            if first & 0x80 != 0 {
                _ = try cursor.integer(prefix: 7, of: block)
                continue
            }
            // Literals with incremental indexing and size updates are not supported.
            guard first & 0x60 == 0 else { return nil }
            let name = try cursor.integer(prefix: 4, of: block)
            if name == 0 { _ = try cursor.skip(cursor.integer(prefix: 7, of: block), of: block) }
            let lengthAt = cursor.position
            _ = try cursor.skip(cursor.integer(prefix: 7, of: block), of: block)
            // Indexes 4 and 5 are `:path` in the static table (RFC 7541 Appendix A).
            if name == 4 || name == 5 {
                guard found == nil else { return nil }
                found = (lengthAt, cursor.position)
            }
        }
        return found
    }

    private static func bytes(_ span: Span<UInt8>) -> [UInt8] { span.withUnsafeBufferPointer { Array($0) } }

    private static func areEqual(_ span: Span<UInt8>, _ bytes: [UInt8]) -> Bool {
        span.withUnsafeBytes { $0.equals(bytes) }
    }
}
