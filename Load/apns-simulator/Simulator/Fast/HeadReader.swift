internal import FanfareHTTP2

/// Reads the heads of a connection's requests. Every header block is decoded, or is known to differ in nothing but its path from one that was.
struct HeadReader {
    /// A head: the fingerprint of its token, and its fault, if any.
    struct Head {
        /// 0 for a head without a token.
        let token: UInt64
        let refusal: Answer?
    }

    /// SETTINGS_MAX_HEADER_LIST_SIZE.
    static let listMax = 8000
    /// Number of header blocks remembered; the oldest is evicted.
    private static let knownMax = 8

    private var decoder = HeaderDecoder(tableCapacity: HPACK.defaultTableSize, listLimit: HeadReader.listMax)
    /// Generation of the decoder's table, copied because reading it copies the decoder.
    private var tableGeneration: UInt64 = 0
    private var known: [KnownHeaders] = []
    /// Index of the block that matched last, which is tried first.
    private var lastKnown = 0
    private var path: [UInt8] = []
    private var token = [UInt8](repeating: 0, count: DevicePath.tokenBytesMax)

    /// Returns the head in a block; `nil` if the block is not a request.
    mutating func read(_ block: Span<UInt8>) throws(ConnectionError) -> Head? {
        guard let (path, refusal) = try find(block) else { return nil }
        switch path {
        case .device(let count):
            let fingerprint = token.withUnsafeBytes { Fingerprint(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            return Head(token: fingerprint.low, refusal: refusal)
        case .foreign: return Head(token: 0, refusal: refusal ?? .badPath)
        case .withoutToken: return Head(token: 0, refusal: refusal ?? .missingDeviceToken)
        case .badToken: return Head(token: 0, refusal: refusal ?? .badDeviceToken)
        }
    }

    /// Returns the path of a head and its other fault, if any; `nil` if the block is not a request.
    private mutating func find(_ block: Span<UInt8>) throws(ConnectionError) -> (DevicePath, refusal: Answer?)? {
        for attempt in 0..<known.count {
            let index = attempt == 0 ? lastKnown : attempt <= lastKnown ? attempt - 1 : attempt
            guard let literal = known[index].path(in: block, generation: tableGeneration) else { continue }
            lastKnown = index
            return try (readPath(block.extracting(literal.range), literal.isHuffman), known[index].refusal)
        }
        let before = tableGeneration
        try decode(block)
        guard let (path, refusal) = readFields() else { return nil }
        if tableGeneration == before, let headers = KnownHeaders(block, generation: before, refusal: refusal) {
            if known.count == HeadReader.knownMax { known.removeFirst() }
            known.append(headers)
            lastKnown = known.count - 1
        }
        return (path, refusal)
    }

    /// Decodes a block for the sake of the dynamic table.
    mutating func decode(_ block: Span<UInt8>) throws(ConnectionError) {
        do throws(HPACKError) { try decoder.decode(block) } catch {
            throw ConnectionError(code: .compressionError, text: error.text)
        }
        tableGeneration = decoder.generation
    }

    private mutating func readPath(_ literal: Span<UInt8>, _ isHuffman: Bool) throws(ConnectionError) -> DevicePath {
        guard isHuffman else { return literal.withUnsafeBytes { DevicePath.read($0, into: &token) } }
        path.removeAll(keepingCapacity: true)
        do throws(HPACKError) { try Huffman.decode(literal, into: &path) } catch {
            throw ConnectionError(code: .compressionError, text: error.text)
        }
        return path.withUnsafeBytes { DevicePath.read($0, into: &token) }
    }

    /// Reads path and fault from the decoded list.
    private mutating func readFields() -> (DevicePath, refusal: Answer?)? {
        guard !decoder.list.isOverLimit else { return nil }
        var found: DevicePath?
        var isPost: Bool?
        for field in decoder.list.fields {
            let name = decoder.list.name(field)
            if name.elementsEqual(":path".utf8) {
                guard found == nil else { return nil }
                found = Array(decoder.list.value(field)).withUnsafeBytes { DevicePath.read($0, into: &token) }
            } else if name.elementsEqual(":method".utf8) {
                guard isPost == nil else { return nil }
                isPost = decoder.list.value(field).elementsEqual("POST".utf8)
            }
        }
        guard let found, let isPost else { return nil }
        return (found, isPost ? nil : .methodNotAllowed)
    }
}
