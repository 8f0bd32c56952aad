/// Fault of bytes that are not the serial form of a value.
@usableFromInline package enum SerialError: Error, Equatable, CustomStringConvertible {
    case truncated
    case checksum
    /// Form of a newer release, by its number.
    case newerForm(UInt8, known: UInt8)
    case malformed(String)

    @usableFromInline package var description: String {
        switch self {
        case .truncated: "its bytes end too early"
        case .checksum: "its checksum is wrong, so it was damaged after it was written"
        case .newerForm(let form, let known):
            "it has form \(form), which a newer release wrote; this one reads forms up to \(known)"
        case .malformed(let part): "its \(part) cannot be read"
        }
    }

    package var isOfNewerRelease: Bool { if case .newerForm = self { true } else { false } }

    /// Advice for people.
    package var remedy: String { isOfNewerRelease ? "use that release" : "restore the folder from a backup" }
}

/// Appends values in the store's serial form: integers as LEB128 (signed ones in zigzag order), texts and lists behind their count.
@usableFromInline package struct SerialWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    @usableFromInline package mutating func write(byte: UInt8) { bytes.append(byte) }

    @usableFromInline package mutating func write(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    package mutating func write(signed value: Int64) { write(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    package mutating func write(_ text: String) {
        write(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func write(_ text: String?) { write(text) { $0.write($1) } }

    /// Writes whether there is a value, and the value.
    @inlinable package mutating func write<Value>(_ value: Value?, _ body: (inout SerialWriter, Value) -> Void) {
        write(byte: value == nil ? 0 : 1)
        if let value { body(&self, value) }
    }

    /// Writes the elements behind their number.
    @inlinable package mutating func write<Elements: Collection>(
        all elements: Elements, _ body: (inout SerialWriter, Elements.Element) -> Void
    ) {
        write(UInt64(elements.count))
        for element in elements { body(&self, element) }
    }

    package mutating func write(_ value: Bool) { write(byte: value ? 1 : 0) }

    package mutating func write(bytes new: [UInt8]) {
        write(UInt64(new.count))
        bytes += new
    }

    /// Appends bytes of a fixed length, the lowest first.
    package mutating func write(fixed value: UInt64) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    package mutating func write(fixed value: UInt32) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    /// Appends a list of values of four bytes, as `write(all:)` and `write(fixed:)` would, at the price of a copy.
    package mutating func write(all values: [UInt32]) {
        write(UInt64(values.count))
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: 4 * values.count))
        unsafe bytes.withUnsafeMutableBytes { room in
            for (index, value) in values.enumerated() {
                unsafe room.storeBytes(of: value.littleEndian, toByteOffset: start + 4 * index, as: UInt32.self)
            }
        }
    }
}

/// Reads values back from their serial form. Takes any bytes: it never reads beyond them, and allocates no more than in proportion
/// to their number.
@usableFromInline package struct SerialReader {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    package var isAtEnd: Bool { rest.isEmpty }

    @usableFromInline package mutating func byte() throws(SerialError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .truncated }
        return byte
    }

    package mutating func unsigned() throws(SerialError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try byte()
            let part = UInt64(byte & 0x7F)
            guard shift < 63 || part <= 1 else { break }
            value |= part << shift
            if byte & 0x80 == 0 { return value }
        }
        throw .malformed("number")
    }

    package mutating func signed() throws(SerialError) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Reads the count of elements that take at least one byte each.
    @usableFromInline package mutating func count() throws(SerialError) -> Int {
        let count = try unsigned()
        guard count <= UInt64(rest.count) else { throw .truncated }
        return Int(count)
    }

    package mutating func bytes() throws(SerialError) -> [UInt8] {
        let count = try count()
        defer { rest.removeFirst(count) }
        return Array(rest.prefix(count))
    }

    package mutating func text() throws(SerialError) -> String {
        let count = try count()
        guard let text = String(validating: rest.prefix(count), as: UTF8.self) else { throw .malformed("text") }
        rest.removeFirst(count)
        return text
    }

    package mutating func fixed64() throws(SerialError) -> UInt64 { try fixed(bytes: 8) }
    package mutating func fixed32() throws(SerialError) -> UInt32 { UInt32(truncatingIfNeeded: try fixed(bytes: 4)) }

    private mutating func fixed(bytes count: Int) throws(SerialError) -> UInt64 {
        guard rest.count >= count else { throw .truncated }
        defer { rest.removeFirst(count) }
        var value: UInt64 = 0
        for byte in rest.prefix(count).reversed() { value = value << 8 | UInt64(byte) }
        return value
    }

    @inlinable package mutating func optional<Value>(
        _ body: (inout SerialReader) throws(SerialError) -> Value
    ) throws(SerialError) -> Value? {
        switch try byte() {
        case 0: nil
        case 1: try body(&self)
        default: throw .malformed("optional value")
        }
    }
    /// Reads elements back. Each takes at least one byte.
    @inlinable package mutating func all<Element>(
        _ body: (inout SerialReader) throws(SerialError) -> Element
    ) throws(SerialError) -> [Element] {
        var elements: [Element] = []
        for _ in 0..<(try count()) { elements.append(try body(&self)) }
        return elements
    }

    package mutating func flag(_ name: String) throws(SerialError) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw .malformed(name)
        }
    }

    package mutating func optionalText() throws(SerialError) -> String? {
        try optional { (reader) throws(SerialError) in try reader.text() }
    }
}
