/// One header field. Its name is lower case, as HTTP/2 requires; its value is bytes, usually ASCII.
package struct HeaderField: Sendable, Hashable {
    package let name: [UInt8]
    package let value: [UInt8]

    package init(name: [UInt8], value: [UInt8]) {
        self.name = name
        self.value = value
    }

    package init(_ name: String, _ value: String) {
        self.init(name: Array(name.utf8), value: Array(value.utf8))
    }

    /// Size of the field in a dynamic table or a header list (RFC 7541 §4.1).
    var size: Int { name.count + value.count + HPACK.entryOverhead }
}

/// Constants of RFC 7541 that several files use.
package enum HPACK {
    /// Overhead in bytes that a field's size includes beside its name and value (§4.1).
    static let entryOverhead = 32
    /// Size of the dynamic table before any SETTINGS (RFC 9113 §6.5.2).
    package static let defaultTableSize = 4096
}

/// A header block that cannot be decoded. It leaves the compression state undefined, so the connection must be closed.
package struct HPACKError: Error, Equatable {
    package let text: String
    init(_ text: String) { self.text = text }
}

/// Decoded fields, back to back, in storage that every block reuses.
package struct HeaderList {
    package struct Field {
        let start: Int32
        let nameCount: Int32
        let valueCount: Int32

        /// Ranges of the name and the value in the list's `bytes`.
        var name: Range<Int> { Int(start)..<Int(start + nameCount) }
        var value: Range<Int> { Int(start + nameCount)..<Int(start + nameCount + valueCount) }
    }

    /// Bytes of all fields. The decoder appends a literal's name and value while it reads them, and then calls `close`.
    var bytes: [UInt8] = []
    package private(set) var fields: [Field] = []
    /// Sum of the fields' sizes, including discarded fields.
    private(set) var size = 0
    /// `true` when the list exceeded the limit. Fields beyond the limit are discarded, but the dynamic table has seen them
    /// all, so the connection can go on.
    package private(set) var isOverLimit = false

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
        size = 0
        isOverLimit = false
    }

    package func name(_ field: Field) -> ArraySlice<UInt8> { bytes[field.name] }
    package func value(_ field: Field) -> ArraySlice<UInt8> { bytes[field.value] }

    /// Counts a field towards the limit; returns `false` when the list must not store it.
    private mutating func admit(nameCount: Int, valueCount: Int, limit: Int) -> Bool {
        size += nameCount + valueCount + HPACK.entryOverhead
        if size > limit { isOverLimit = true }
        return !isOverLimit
    }

    /// Adds the bytes from `start` on as a field whose value begins at `valueStart`, or discards them when the list is too long.
    mutating func close(from start: Int, valueStart: Int, limit: Int) {
        let nameCount = valueStart - start
        let valueCount = bytes.count - valueStart
        guard admit(nameCount: nameCount, valueCount: valueCount, limit: limit) else {
            return bytes.removeLast(bytes.count - start)
        }
        fields.append(Field(start: Int32(start), nameCount: Int32(nameCount), valueCount: Int32(valueCount)))
    }

    /// Appends a field from a table, where its value directly follows its name.
    mutating func append(_ field: Span<UInt8>, nameCount: Int, limit: Int) {
        let valueCount = field.count - nameCount
        // The limit is checked before the copy, because a one-byte index can name a long field again and again.
        guard admit(nameCount: nameCount, valueCount: valueCount, limit: limit) else { return }
        fields.append(Field(start: Int32(bytes.count), nameCount: Int32(nameCount), valueCount: Int32(valueCount)))
        bytes.append(field)
    }
}
