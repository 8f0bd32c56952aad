package import FanfareModel

/// JSON in the body of a failure and in the debug data of a GOAWAY: `{"reason":"…","timestamp":…}`.
package struct ErrorBody: Sendable, Equatable {
    /// Reason of the failure: printable ASCII, at most `reasonSizeMax`, because logs and counters show it and the
    /// peer is not trusted.
    package private(set) var reason: String?
    /// Time since which the token has been dead, in Unix *milliseconds*; with 410 only. A token registered later is alive.
    package private(set) var timestampMilliseconds: Int64?

    package static let reasonSizeMax = ByteCount.bytes(64)

    /// Reads members up to the first unknown element (a nested value, an escape, a syntax error) and keeps those before it.
    /// An answer in any other form has neither member, and its status alone decides.
    package init(_ bytes: [UInt8]) {
        var cursor = Cursor(bytes: bytes)
        guard cursor.skip("{") else { return }
        repeat {
            guard let key = cursor.string(), cursor.skip(":") else { return }
            if let text = cursor.string() {
                if key.elementsEqual("reason".utf8) { reason = ErrorBody.printable(text) }
            } else if let number = cursor.integer() {
                if key.elementsEqual("timestamp".utf8) { timestampMilliseconds = number }
            } else {
                return
            }
        } while cursor.skip(",")
    }

    private static func printable(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: text.filter { (0x20..<0x7f).contains($0) }.prefix(reasonSizeMax.bytes), as: UTF8.self)
    }
}

/// Reads JSON tokens from the front; a call consumes the token that it returns, and nothing if it returns none.
private struct Cursor {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Reads a string and returns it without its quotes; `nil` also for a string with escapes, which no reason has.
    mutating func string() -> ArraySlice<UInt8>? {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
        let start = position + 1
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            if bytes[end] == UInt8(ascii: "\\") { return nil }
            end += 1
        }
        guard end < bytes.count else { return nil }
        position = end + 1
        return bytes[start..<end]
    }

    mutating func integer() -> Int64? {
        skipSpace()
        let digits = bytes[position...].prefix { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }
        guard let value = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
        position += digits.count
        return value
    }
}
