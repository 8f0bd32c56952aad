/// Tags of JSON values. A number never changes its meaning, because logs of earlier releases contain it.
private enum ValueTag: UInt8 { case null, no, yes, int, double, string, array, object }

extension SerialWriter {
    /// Writes the value exactly: `3` and `3.0` stay different, as they are for patches.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: write(byte: ValueTag.null.rawValue)
        case .bool(let value): write(byte: (value ? ValueTag.yes : .no).rawValue)
        case .int(let value):
            write(byte: ValueTag.int.rawValue)
            write(signed: value)
        case .double(let value):
            write(byte: ValueTag.double.rawValue)
            write(fixed: value.bitPattern)
        case .string(let value):
            write(byte: ValueTag.string.rawValue)
            write(value)
        case .array(let values):
            write(byte: ValueTag.array.rawValue)
            write(UInt64(values.count))
            for value in values { write(value) }
        case .object(let object):
            write(byte: ValueTag.object.rawValue)
            write(object)
        }
    }

    package mutating func write(_ object: JSONObject) {
        write(UInt64(object.members.count))
        for member in object.members {
            write(member.key)
            write(member.value)
        }
    }
}

extension SerialReader {
    /// Greatest nesting that is read. The decision core accepts 64; the log keeps what it rejects as well.
    package static let depthMax = 512

    package mutating func value(depth: Int = 0) throws(SerialError) -> JSONValue {
        guard depth <= SerialReader.depthMax, let tag = ValueTag(rawValue: try byte()) else {
            throw .malformed("JSON value")
        }
        switch tag {
        case .null: return .null
        case .no: return .bool(false)
        case .yes: return .bool(true)
        case .int: return .int(try signed())
        case .double: return .double(Double(bitPattern: try fixed64()))
        case .string: return .string(try text())
        case .array:
            var values: [JSONValue] = []
            for _ in 0..<(try count()) { values.append(try value(depth: depth + 1)) }
            return .array(values)
        case .object: return .object(try object(depth: depth + 1))
        }
    }

    package mutating func object(depth: Int = 0) throws(SerialError) -> JSONObject {
        var members: [(key: String, value: JSONValue)] = []
        for _ in 0..<(try count()) { members.append((try text(), try value(depth: depth))) }
        return JSONObject(unordered: members)
    }
}
