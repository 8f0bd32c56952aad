/// A header block that arrives in several frames: HEADERS, then CONTINUATION (RFC 9113 §4.3).
struct HeaderBlock {
    /// Stream of the incomplete block; 0 when there is none.
    private(set) var stream: UInt32 = 0
    /// `true` if the stream ends with this block.
    private(set) var endsStream = false
    private var bytes: [UInt8] = []
    private var continuations = 0

    /// Maximum number of CONTINUATION frames in one block. A block of `SessionConfiguration.headerListMax` needs two.
    static let continuationsMax = 32

    /// Takes the content of a HEADERS frame that does not end the block.
    mutating func begin(_ content: Span<UInt8>, stream: UInt32, endsStream: Bool) {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(content)
        self.stream = stream
        self.endsStream = endsStream
        continuations = 0
    }

    /// Takes a CONTINUATION frame of the block's stream.
    /// - Parameter bytesMax: largest block that the session accepts.
    mutating func append(_ content: Span<UInt8>, bytesMax: Int) throws(ConnectionError) {
        guard stream != 0 else {
            throw ConnectionError(code: .protocolError, text: "CONTINUATION without HEADERS before it")
        }
        continuations += 1
        guard continuations <= HeaderBlock.continuationsMax, bytes.count + content.count <= bytesMax else {
            throw ConnectionError(
                code: .enhanceYourCalm,
                text: "header block of \(bytes.count + content.count) bytes in \(continuations + 1) frames")
        }
        bytes.append(content)
    }

    /// Ends the block and lends its bytes, whose storage `giveBack` returns.
    mutating func take() -> [UInt8] {
        stream = 0
        var block: [UInt8] = []
        swap(&block, &bytes)
        return block
    }

    mutating func giveBack(_ block: consuming [UInt8]) { bytes = block }
}
