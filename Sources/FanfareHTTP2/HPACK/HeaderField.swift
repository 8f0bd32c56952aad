/// One header field. Names are lower case, as HTTP/2 demands; values are bytes, usually ASCII.
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

    /// What the field costs in a dynamic table or a header list (RFC 7541 §4.1).
    var size: Int { name.count + value.count + HPACK.entryOverhead }
}

/// Numbers of RFC 7541 that several files need.
package enum HPACK {
    /// Added to name and value when a field's size is counted (§4.1).
    static let entryOverhead = 32
    /// The dynamic table's size before any SETTINGS (RFC 9113 §6.5.2).
    package static let defaultTableSize = 4096
}

/// A header block that cannot be decoded. The compression state is lost with it, and so is the connection.
package struct HPACKError: Error, Equatable {
    package let text: String
    init(_ text: String) { self.text = text }
}

/// Decoded fields, back to back in storage that is reused from block to block.
package struct HeaderList {
    package struct Field {
        let start: Int32
        let nameCount: Int32
        let valueCount: Int32

        /// Where in the list's `bytes` they stand.
        var name: Range<Int> { Int(start)..<Int(start + nameCount) }
        var value: Range<Int> { Int(start + nameCount)..<Int(start + nameCount + valueCount) }
    }

    /// The decoder appends a literal's name and value as it reads them, and then says `close`.
    var bytes: [UInt8] = []
    package private(set) var fields: [Field] = []
    /// Sum of the fields' sizes, those that were left out included.
    private(set) var size = 0
    /// More than the limit arrived. Fields beyond it are not kept, but the dynamic table has seen them all, so the
    /// connection may go on.
    package private(set) var isOverLimit = false

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
        size = 0
        isOverLimit = false
    }

    package func name(_ field: Field) -> ArraySlice<UInt8> { bytes[field.name] }
    package func value(_ field: Field) -> ArraySlice<UInt8> { bytes[field.value] }

    /// Counts a field towards the limit; `false` when it must not be stored.
    private mutating func admit(nameCount: Int, valueCount: Int, limit: Int) -> Bool {
        size += nameCount + valueCount + HPACK.entryOverhead
        if size > limit { isOverLimit = true }
        return !isOverLimit
    }

    /// The bytes from `start` on are a field, its value from `valueStart` on. They are dropped when the list is too long.
    mutating func close(from start: Int, valueStart: Int, limit: Int) {
        let nameCount = valueStart - start
        let valueCount = bytes.count - valueStart
        guard admit(nameCount: nameCount, valueCount: valueCount, limit: limit) else {
            return bytes.removeLast(bytes.count - start)
        }
        fields.append(Field(start: Int32(start), nameCount: Int32(nameCount), valueCount: Int32(valueCount)))
    }

    /// A field that stands in a table, its value right behind its name.
    mutating func append(_ field: Span<UInt8>, nameCount: Int, limit: Int) {
        let valueCount = field.count - nameCount
        // Asked first: an index of one byte may stand for a long field, again and again.
        guard admit(nameCount: nameCount, valueCount: valueCount, limit: limit) else { return }
        fields.append(Field(start: Int32(bytes.count), nameCount: Int32(nameCount), valueCount: Int32(valueCount)))
        bytes.append(field)
    }
}

extension [UInt8] {
    mutating func append(_ span: Span<UInt8>) {
        span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
