/// Name that a backend gives to one of its calls, so that it may repeat the call without knowing whether the first one has arrived: the engine
/// carries out one call with a name within 24 hours.
///
/// A text of the backend's own that is never used for another call: the id of a job, a row or a webhook, or a UUID.
public struct IdempotencyKey: Sendable, Hashable, CustomStringConvertible {
    /// Allowed sizes in UTF-8.
    public static let sizes: ClosedRange<ByteCount> = .bytes(1) ... .bytes(64)

    // Bytes, because texts of different bytes may be equal.
    private let utf8: [UInt8]

    /// Creates a key.
    ///
    /// - Parameter text: 1 to 64 bytes of UTF-8; two keys are equal if their bytes are.
    /// - Throws: `Fault`, with the size of the text.
    public init(_ text: String) throws(Fault) {
        let utf8 = Array(text.utf8)
        let size = ByteCount.bytes(utf8.count)
        guard IdempotencyKey.sizes.contains(size) else { throw Fault(size: size) }
        self.utf8 = utf8
    }

    /// Text of the key.
    public var description: String { String(decoding: utf8, as: UTF8.self) }

    /// Reason why a text is not a key.
    public struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// Size of the text in UTF-8.
        public let size: ByteCount

        /// Text for people in one line: the bounds and the number of bytes.
        public var description: String {
            let (least, most) = (IdempotencyKey.sizes.lowerBound.bytes, IdempotencyKey.sizes.upperBound)
            return "an idempotency key has \(least) to \(most) of UTF-8; this one has \(size.bytes)"
        }
    }
}

/// Key of a call, and hash of the call's content.
package struct CallKey: Sendable, Hashable {
    package let key: IdempotencyKey
    /// Hash of the caller's arguments, the same in every process: a call with the same key and another content is a mistake.
    package let content: UInt64

    package init(_ key: IdempotencyKey, content: UInt64) {
        self.key = key
        self.content = content
    }
}

extension SerialWriter {
    package mutating func write(_ call: CallKey) {
        write(call.key.description)
        write(fixed: call.content)
    }
}

extension SerialReader {
    package mutating func callKey() throws(SerialError) -> CallKey {
        let key: IdempotencyKey
        let text = try text()
        do throws(IdempotencyKey.Fault) { key = try IdempotencyKey(text) } catch { throw .malformed("key") }
        return CallKey(key, content: try fixed64())
    }
}
