/// A JSON value. The core does not use Foundation, and needs only three operations on JSON: to hold a content state, to merge a patch into it, and to
/// write it in one canonical form.
public enum JSONValue: Hashable, Sendable {
    /// JSON's `null`. In a patch it removes the member.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits in 64 bits.
    case int(Int64)
    /// Any other number. JSON has neither NaN nor infinity; the canonical form writes both as `null`.
    case double(Double)
    /// A text, without JSON's quotes and escapes.
    case string(String)
    /// An array of values, in order.
    case array([JSONValue])
    /// An object, whose members are sorted by key.
    case object(JSONObject)

    /// The text, or `nil` if the value is not a string. Numbers are not converted.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The truth value, or `nil` if the value is not a Boolean. Numbers and texts are not converted.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number, or `nil` if it is not whole or does not fit in 64 bits. Its spelling does not matter (`2`, `2.0`, `2e0`).
    public var intValue: Int64? {
        switch self {
        case .int(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }
    /// The number, with large integers rounded to the nearest double; `nil` if the value is not a number.
    public var doubleValue: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
    /// The values, or `nil` if the value is not an array.
    public var arrayValue: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    /// The members, or `nil` if the value is not an object.
    public var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    /// Creates a `string` from a text literal.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an `int` from an integer literal.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// Creates a `bool` from `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a `double` from a floating-point literal.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates an `object` from a dictionary literal; the last value of a repeated key counts.
    ///
    /// - Complexity: O(n) for n members in the order of their keys, and O(n²) at most.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
    /// Creates an `array` from an array literal.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

/// A JSON object whose members are sorted by key, so that equal objects have equal bytes.
public struct JSONObject: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// A key with its value.
    public struct Member: Hashable, Sendable {
        /// Key of the member, unique within its object.
        public let key: String
        /// Any JSON value, including an object or an array.
        public var value: JSONValue
    }

    /// Members, sorted by key, each key once.
    public private(set) var members: [Member] = []

    /// Creates an object without members.
    public init() {}
    /// Creates an empty object with room for a number of members.
    package init(minimumCapacity: Int) { members.reserveCapacity(minimumCapacity) }
    /// Creates an object from a dictionary literal in any order; the last value of a repeated key counts.
    ///
    /// - Complexity: O(n) for n members in the order of their keys, and O(n²) at most.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { self[key] = value }
    }

    /// Creates an object from members in any order; the last value of a repeated key counts. Inserted one by one, each member would
    /// move those behind it, at quadratic cost for keys in descending order.
    package init(unordered elements: [(key: String, value: JSONValue)]) {
        let order = elements.indices.sorted { (elements[$0].key, $0) < (elements[$1].key, $1) }
        members.reserveCapacity(elements.count)
        for position in order {
            let (key, value) = elements[position]
            if members.last?.key == key {
                members[members.count - 1] = Member(key: key, value: value)
            } else {
                members.append(Member(key: key, value: value))
            }
        }
    }

    /// Is `true` if the object has no members.
    public var isEmpty: Bool { members.isEmpty }
    package mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

    /// Value of a key; `nil` removes the member. Objects are small (a content state fits in 4 KB), so a sorted array is enough of
    /// an index.
    ///
    /// - Complexity: O(log n) for reading, n being the members. Writing takes O(log n) for a key that is present or follows all others, and O(n) for
    ///   another key, for a removal, and for an object whose members a copy shares.
    public subscript(key: String) -> JSONValue? {
        get {
            let position = lowerBound(key)
            return position < members.count && members[position].key == key ? members[position].value : nil
        }
        set {
            let position = lowerBound(key)
            let present = position < members.count && members[position].key == key
            switch (newValue, present) {
            case (let value?, true): members[position].value = value
            case (let value?, false) where position == members.count: members.append(Member(key: key, value: value))
            case (let value?, false): members.insert(Member(key: key, value: value), at: position)
            case (nil, true): members.remove(at: position)
            case (nil, false): break
            }
        }
    }

    private func lowerBound(_ key: String) -> Int {
        var low = 0
        var high = members.count
        // Most callers build an object in key order.
        if let last = members.last, last.key < key { return high }
        while low < high {
            let middle = (low + high) / 2
            if members[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Applies a JSON Merge Patch (RFC 7396): `null` removes, objects merge, everything else replaces.
    package mutating func merge(_ patch: JSONObject) {
        for member in patch.members { merge(member.value, into: member.key) }
    }

    /// Merges one member of a patch.
    package mutating func merge(_ value: JSONValue, into key: String) {
        switch value {
        case .null: self[key] = nil
        case .object(let nested):
            var target = self[key]?.objectValue ?? JSONObject()
            target.merge(nested)
            self[key] = .object(target)
        default: self[key] = value
        }
    }
}

extension JSONValue {
    /// Appends the canonical form: members in key order, no spaces, shortest numbers.
    ///
    /// - Complexity: O(n), n being the bytes that are appended.
    public func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .int(let value): bytes.append(contentsOf: String(value).utf8)
        case .double(let value): JSONValue.write(value, to: &bytes)
        case .string(let value): JSONValue.write(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object): object.write(to: &bytes)
        }
    }

    /// Appends a number. Whole numbers lose their `.0`: `3` and `3.0` in a feed mean the same state. JSON has neither NaN nor
    /// infinity, and no decoder of the engine produces them.
    static func write(_ value: Double, to bytes: inout [UInt8]) {
        if let whole = Int64(exactly: value) {
            bytes.append(contentsOf: String(whole).utf8)
        } else {
            writeShortest(value.isFinite ? "\(value)" : "null", to: &bytes)
        }
    }

    /// Removes the `+` and the leading zeros of the exponent from Swift's description, which is shortest otherwise: `1e-05`, `1e+20`.
    private static func writeShortest(_ number: String, to bytes: inout [UInt8]) {
        var isExponentsBeginning = false
        for byte in number.utf8 {
            switch byte {
            case UInt8(ascii: "e"): isExponentsBeginning = true
            case UInt8(ascii: "-"): break
            case UInt8(ascii: "+"): continue
            case UInt8(ascii: "0") where isExponentsBeginning: continue
            default: isExponentsBeginning = false
            }
            bytes.append(byte)
        }
    }

    /// Appends a quoted string. Escapes only the characters that RFC 8259 requires.
    ///
    /// - Complexity: O(n), n being the size of the string.
    public static func write(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        var string = string
        string.withUTF8 { text in
            let isPlain = unsafe text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            if isPlain { unsafe bytes.append(contentsOf: text) } else { unsafe escape(text, to: &bytes) }
        }
    }

    private static func escape(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        for index in text.indices {
            let byte = unsafe text[index]
            switch byte {
            case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
            case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
            case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                let digits = Array("0123456789abcdef".utf8)
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
    }
}

extension JSONObject {
    package func write(to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONValue.write(member.key, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            member.value.write(to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

extension JSONValue {
    /// Returns `true` if the value is nested no deeper than `depth`. Programs may build any depth, but functions over it recurse,
    /// so the core rejects deeper values.
    package func isNested(within depth: Int) -> Bool {
        switch self {
        case .null, .bool, .int, .double, .string: true
        case .array(let values): depth > 0 && values.allSatisfy { $0.isNested(within: depth - 1) }
        case .object(let object): object.isNested(within: depth)
        }
    }
}

extension JSONObject {
    package func isNested(within depth: Int) -> Bool {
        depth > 0 && members.allSatisfy { $0.value.isNested(within: depth - 1) }
    }
}

extension JSONObject {
    /// Estimate of the canonical form's bytes: exact or somewhat high if few characters of its texts have to be escaped.
    var bytesUsual: Int { members.reduce(2) { $0 + $1.key.utf8.count + 4 + $1.value.bytesUsual } }

    /// Upper bound on the size of the canonical form, found without writing it: each byte of a string may take six when escaped,
    /// and no number takes more than 24.
    package var sizeBound: ByteCount { .bytes(bytesBound) }

    fileprivate var bytesBound: Int {
        members.reduce(2) { $0 + 6 * $1.key.utf8.count + 4 + $1.value.bytesBound }
    }
}

extension JSONValue {
    fileprivate var bytesUsual: Int {
        switch self {
        case .null, .bool: 5
        case .int(let number): 2 + (64 - number.magnitude.leadingZeroBitCount) * 5 / 16
        case .double: 12
        case .string(let text): text.utf8.count + 2
        case .array(let values): values.reduce(2) { $0 + 1 + $1.bytesUsual }
        case .object(let object): object.bytesUsual
        }
    }

    fileprivate var bytesBound: Int {
        switch self {
        case .null, .bool: 5
        case .int, .double: 24
        case .string(let text): 6 * text.utf8.count + 2
        case .array(let values): values.reduce(2) { $0 + 1 + $1.bytesBound }
        case .object(let object): object.bytesBound
        }
    }
}
