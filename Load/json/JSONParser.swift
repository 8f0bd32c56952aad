/// Reason why a text is not JSON, and its position.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    package let offset: Int
    package let reason: String
    package var description: String { "byte \(offset): \(reason)" }
}

extension JSON {
    /// Deepest nesting that is accepted: no content state needs more, and the parser recurses.
    package static let depthMax = 64

    /// Reads one value strictly by RFC 8259: valid UTF-8, no duplicate keys, no lone surrogates, nothing after the value.
    package init(parsing bytes: [UInt8]) throws(JSONError) {
        var parser = JSONParser(bytes: bytes)
        self = try parser.document()
    }
}

private struct JSONParser {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSON {
        skipSpace()
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw error("more text after the value") }
        return value
    }

    private func error(_ reason: String) -> JSONError { JSONError(offset: position, reason: reason) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        guard let byte = next else { throw error("a value is missing") }
        switch byte {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ text: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let end = position + text.utf8CodeUnitCount
        guard end <= bytes.count, bytes[position..<end].elementsEqual("\(text)".utf8) else {
            throw error("neither true, false nor null")
        }
        position = end
        return value
    }

    private mutating func array(depth: Int) throws(JSONError) -> [JSON] {
        guard depth < JSON.depthMax else { throw error("nested deeper than \(JSON.depthMax)") }
        position += 1
        skipSpace()
        var values: [JSON] = []
        if take(UInt8(ascii: "]")) { return values }
        while true {
            skipSpace()
            values.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return values }
            guard take(UInt8(ascii: ",")) else { throw error("an array goes on with , or ]") }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON.Object {
        guard depth < JSON.depthMax else { throw error("nested deeper than \(JSON.depthMax)") }
        position += 1
        skipSpace()
        var members: [JSON.Object.Member] = []
        if !take(UInt8(ascii: "}")) {
            while true {
                skipSpace()
                guard next == UInt8(ascii: "\"") else { throw error("a key is missing") }
                let key = try string()
                skipSpace()
                guard take(UInt8(ascii: ":")) else { throw error("no : after the key") }
                skipSpace()
                members.append(JSON.Object.Member(key: key, value: try value(depth: depth + 1)))
                skipSpace()
                if take(UInt8(ascii: "}")) { break }
                guard take(UInt8(ascii: ",")) else { throw error("an object goes on with , or }") }
            }
        }
        guard let object = JSON.Object(members) else { throw error("a key comes twice") }
        return object
    }

    private mutating func number() throws(JSONError) -> JSON {
        let start = position
        func digits(_ parser: inout JSONParser) -> Int {
            let first = parser.position
            while let byte = parser.next, byte >= 48, byte <= 57 { parser.position += 1 }
            return parser.position - first
        }
        _ = take(UInt8(ascii: "-"))
        let leading = position
        let count = digits(&self)
        guard count > 0, count == 1 || bytes[leading] != 48 else { throw error("no value of JSON starts like this") }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            guard digits(&self) > 0 else { throw error("no digit after the point") }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits(&self) > 0 else { throw error("no digit in the exponent") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let whole = Int64(text) { return .int(whole) }
        guard let value = Double(text), value.isFinite else { throw error("the number is too large") }
        if let whole = Int64(exactly: value) { return .int(whole) }
        return .double(value)
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        if next == UInt8(ascii: "\"") {
            let content = bytes[start..<position]
            guard let text = String(validating: content, as: UTF8.self) else { throw error("not UTF-8") }
            position += 1
            return text
        }
        var content = Array(bytes[start..<position])
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else { throw error("not UTF-8") }
                return text
            case UInt8(ascii: "\\"): try escape(into: &content)
            case 0..<0x20: throw error("a control character in a string")
            default: content.append(byte)
            }
        }
        throw error("the string does not end")
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw error("the string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hex4()
            if (0xD800..<0xDC00).contains(code), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
                let low = try hex4()
                guard (0xDC00..<0xE000).contains(low) else { throw error("half a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw error("half a surrogate pair") }
            content.append(contentsOf: Character(scalar).utf8)
        default: throw error("no such escape")
        }
    }

    private mutating func hex4() throws(JSONError) -> UInt32 {
        guard position + 4 <= bytes.count else { throw error("the string does not end") }
        var code: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw error("not four hex digits") }
            code = code << 4 | UInt32(digit)
        }
        position += 4
        return code
    }
}
