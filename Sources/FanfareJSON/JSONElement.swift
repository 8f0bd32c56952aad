package import FanfareModel
import Glibc

/// A value in a parsed document: a position on simdjson's tape. Valid until the parser's next document.
///
/// The tape (simdjson, doc/tape.md) has one word per value, its type in the top eight bits. Objects and arrays store their end, so
/// skipping a value costs the same whatever it contains. Numbers take a second word. Strings are offsets into a buffer that holds a
/// 32-bit length and then the unescaped UTF-8.
@safe @usableFromInline package struct JSONElement {
    @usableFromInline let words: UnsafePointer<UInt64>
    @usableFromInline let strings: UnsafePointer<UInt8>
    @usableFromInline let index: Int

    @inlinable init(words: UnsafePointer<UInt64>, strings: UnsafePointer<UInt8>, index: Int) {
        unsafe self.words = words
        unsafe self.strings = strings
        self.index = index
    }

    @inlinable var type: UInt8 { unsafe UInt8(truncatingIfNeeded: words[index] >> 56) }
    @inlinable var payload: Int { unsafe Int(words[index] & 0x00FF_FFFF_FFFF_FFFF) }

    /// Index of the value after this one.
    @inlinable var end: Int {
        switch type {
        case UInt8(ascii: "{"), UInt8(ascii: "["): unsafe Int(words[index] & 0xFFFF_FFFF)
        case UInt8(ascii: "l"), UInt8(ascii: "u"), UInt8(ascii: "d"): index + 2
        default: index + 1
        }
    }

    @inlinable func at(_ index: Int) -> JSONElement {
        unsafe JSONElement(words: words, strings: strings, index: index)
    }

    @inlinable package var isObject: Bool { type == UInt8(ascii: "{") }
    @inlinable package var isArray: Bool { type == UInt8(ascii: "[") }
    @inlinable package var isString: Bool { type == UInt8(ascii: "\"") }
    @inlinable package var isNull: Bool { type == UInt8(ascii: "n") }

    /// Bytes of a string; empty for any other value.
    @inlinable package var utf8: UnsafeBufferPointer<UInt8> {
        guard isString else { return unsafe UnsafeBufferPointer(start: nil, count: 0) }
        let start = unsafe strings + payload
        let count = unsafe UnsafeRawPointer(start).loadUnaligned(as: UInt32.self)
        return unsafe UnsafeBufferPointer(start: start + 4, count: Int(count))
    }

    /// Time of an RFC 3339 string; `nil` for any other value.
    package var time: FeedTime? { unsafe isString ? FeedTime(rfc3339: utf8) : nil }

    @inlinable package var string: String? { isString ? text : nil }

    /// Text of a string. A `String` stores up to 15 bytes inline, which is the fastest kind to create.
    @inlinable var text: String {
        let bytes = unsafe utf8
        guard bytes.count <= 15 else { return unsafe String(decoding: bytes, as: UTF8.self) }
        return unsafe String(unsafeUninitializedCapacity: bytes.count) { unsafe $0.initialize(fromContentsOf: bytes) }
    }

    /// Number of bytes that `equals` compares.
    @inlinable package var byteCount: Int { unsafe utf8.count }

    @inlinable @inline(__always)
    package func equals(_ text: StaticString) -> Bool {
        let bytes = unsafe utf8
        guard let start = bytes.baseAddress, bytes.count == text.utf8CodeUnitCount else { return false }
        return unsafe JSONElement.areEqual(start, text.utf8Start, bytes.count)
    }

    @inlinable package func equals(_ text: [UInt8]) -> Bool {
        let bytes = unsafe utf8
        guard let start = bytes.baseAddress, bytes.count == text.count else { return false }
        return unsafe JSONElement.areEqual(start, text, text.count)
    }

    @usableFromInline
    static func areEqual(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        unsafe memcmp(one, other, count) == 0
    }

    /// A whole number; `nil` for any other value, or if it does not fit.
    @inlinable package var integer: Int64? {
        switch type {
        case UInt8(ascii: "l"): unsafe Int64(bitPattern: words[index + 1])
        case UInt8(ascii: "u"): unsafe Int64(exactly: words[index + 1])
        case UInt8(ascii: "d"): unsafe Int64(exactly: Double(bitPattern: words[index + 1]))
        default: nil
        }
    }

    /// A whole number as text, up to 2^64 - 1; `nil` for any other value.
    package var digits: String? {
        unsafe type == UInt8(ascii: "u") ? String(words[index + 1]) : integer.map(String.init)
    }

    @inlinable package var number: Double? {
        switch type {
        case UInt8(ascii: "l"): unsafe Double(Int64(bitPattern: words[index + 1]))
        case UInt8(ascii: "u"): unsafe Double(words[index + 1])
        case UInt8(ascii: "d"): unsafe Double(bitPattern: words[index + 1])
        default: nil
        }
    }

    /// Value of the first member with this name, or `nil` if there is none or this is no object.
    @inlinable package subscript(name: StaticString) -> JSONElement? {
        for (key, value) in members where key.equals(name) { return value }
        return nil
    }

    @inlinable package var members: Members { Members(self) }
    @inlinable package var elements: Elements { Elements(self) }

    /// Returns the members of the object under this name; none if it is absent. (The tape's root word, at 0, is neither object nor array.)
    @inlinable package func members(of name: StaticString) -> Members { Members(self[name] ?? at(0)) }
    @inlinable package func elements(of name: StaticString) -> Elements { Elements(self[name] ?? at(0)) }

    /// A copy that may outlive the parser's next document. Its depth is bounded by `JSONParser.depthMax`.
    package var value: JSONValue {
        switch type {
        case UInt8(ascii: "{"): .object(object)
        case UInt8(ascii: "["): .array(elements.map(\.value))
        case UInt8(ascii: "\""): .string(text)
        case UInt8(ascii: "l"): unsafe .int(Int64(bitPattern: words[index + 1]))
        case UInt8(ascii: "u"): unsafe integer.map(JSONValue.int) ?? .double(Double(words[index + 1]))
        case UInt8(ascii: "d"): unsafe .double(Double(bitPattern: words[index + 1]))
        case UInt8(ascii: "t"): .bool(true)
        case UInt8(ascii: "f"): .bool(false)
        default: .null
        }
    }

    /// Number of members up to which inserting them one by one is fastest.
    private static let fewMembers = 64

    /// Members of an object, the last value of a repeated name; empty for any other value.
    package var object: JSONObject {
        // The tape counts up to 2^24 - 1 members, in the bits above the end.
        let count = unsafe isObject ? Int(words[index] >> 32 & 0xFF_FFFF) : 0
        guard count <= JSONElement.fewMembers else {
            return JSONObject(unordered: members.map { (key: $0.name.string ?? "", value: $0.value.value) })
        }
        var object = JSONObject(minimumCapacity: count)
        for (key, value) in members { object[key.string ?? ""] = value.value }
        return object
    }
}

extension JSONElement {
    /// Names and values of an object, in the document's order; nothing for any other value.
    @usableFromInline package struct Members: Sequence, IteratorProtocol {
        @usableFromInline let object: JSONElement
        @usableFromInline var position: Int
        @usableFromInline let limit: Int

        @inlinable init(_ element: JSONElement) {
            object = element
            position = element.index + 1
            limit = element.isObject ? element.end - 1 : 0
        }

        @inlinable package mutating func next() -> (name: JSONElement, value: JSONElement)? {
            guard position < limit else { return nil }
            let name = object.at(position)
            let value = object.at(position + 1)
            position = value.end
            return (name, value)
        }
    }

    /// Values of an array, in order; nothing for any other value.
    @usableFromInline package struct Elements: Sequence, IteratorProtocol {
        @usableFromInline let array: JSONElement
        @usableFromInline var position: Int
        @usableFromInline let limit: Int

        @inlinable init(_ element: JSONElement) {
            array = element
            position = element.index + 1
            limit = element.isArray ? element.end - 1 : 0
        }

        @inlinable package mutating func next() -> JSONElement? {
            guard position < limit else { return nil }
            let element = array.at(position)
            position = element.end
            return element
        }
    }
}
