/// A JSON value as the load tools see it: parsed strictly, compared and written in one canonical form.
///
/// It deliberately shares no code with the engine's JSON, because the tools judge the engine's output.
package enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without a fraction that fits into 64 bits. `3.0` is also read as an integer, because it has the same value.
    case int(Int64)
    case double(Double)
    case string(String)
    case array([JSON])
    case object(Object)

    /// Members in the order of their keys' UTF-8 bytes; keys are unique.
    package struct Object: Hashable, Sendable {
        package struct Member: Hashable, Sendable {
            package let key: String
            package let value: JSON

            package init(key: String, value: JSON) {
                self.key = key
                self.value = value
            }
        }

        package let members: [Member]

        /// Makes the object; `nil` if a key occurs twice.
        package init?(_ members: [Member]) {
            var sorted = members
            sorted.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for index in sorted.indices.dropFirst() where sorted[index].key == sorted[index - 1].key { return nil }
            self.members = sorted
        }

        private init(sorted: [Member]) { members = sorted }

        package subscript(key: String) -> JSON? { members.first { $0.key == key }?.value }

        package func removing(_ key: String) -> Object { Object(sorted: members.filter { $0.key != key }) }
    }

    package var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    package var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var intValue: Int64? { if case .int(let value) = self { value } else { nil } }
    package var doubleValue: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
    package var arrayValue: [JSON]? { if case .array(let value) = self { value } else { nil } }
    package var objectValue: Object? { if case .object(let value) = self { value } else { nil } }

    package subscript(key: String) -> JSON? { objectValue?[key] }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .int(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) {
        guard let object = Object(elements.map { Object.Member(key: $0.0, value: $0.1) }) else {
            preconditionFailure("a literal's keys are written by hand, each once")
        }
        self = .object(object)
    }
}

extension JSON {
    /// Appends the canonical form: members in key order, no spaces, shortest numbers, and only mandatory escapes.
    package func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .int(let value): bytes.append(contentsOf: String(value).utf8)
        case .double(let value): bytes.append(contentsOf: String(value).utf8)
        case .string(let value): JSON.write(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSON.write(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    package static func write(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(hexDigit(byte >> 4))
                bytes.append(hexDigit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Returns the hex digit in lower case.
    package static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }

    package var canonicalText: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
