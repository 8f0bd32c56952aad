/// A JSON value. The core has no Foundation, and it needs three things of JSON only: to hold a content state, to merge a
/// patch into it, and to write it in one canonical form.
public enum JSONValue: Hashable, Sendable {
    /// JSON's `null`. In a patch it removes the member.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case int(Int64)
    /// Any other number. JSON has no NaN and no infinity: they are written as `null`.
    case double(Double)
    /// A text, without JSON's quotes and escapes.
    case string(String)
    /// Values in their order.
    case array([JSONValue])
    /// Members, sorted by key.
    case object(JSONObject)

    /// The text; `nil` when the value is none. Numbers are not turned into texts.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The truth value; `nil` when the value is none. Numbers and texts are not turned into one.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number when it is whole and fits 64 bits, however it was spelt (`2`, `2.0`, `2e0`); else `nil`.
    public var intValue: Int64? {
        switch self {
        case .int(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }
    /// The number, rounded to the nearest double where it is a large integer; `nil` when the value is no number.
    public var doubleValue: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
    /// The values; `nil` when the value is no array.
    public var arrayValue: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    /// The members; `nil` when the value is no object.
    public var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    /// A text in a Swift literal is a `string`.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number in a Swift literal is an `int`.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// `true` and `false` in a Swift literal are a `bool`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A number with a point in a Swift literal is a `double`.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A dictionary in a Swift literal is an `object`; of a repeated key the last value counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
    /// An array in a Swift literal is an `array`.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

/// A JSON object whose members stand in one order, that of their keys, so that equal objects have equal bytes.
public struct JSONObject: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// A key with its value.
    public struct Member: Hashable, Sendable {
        /// Unique within its object.
        public let key: String
        /// What stands under the key.
        public var value: JSONValue
    }

    /// Sorted by key, each key once.
    public private(set) var members: [Member] = []

    /// An object without members.
    public init() {}
    /// Empty, with room for so many.
    package init(minimumCapacity: Int) { members.reserveCapacity(minimumCapacity) }
    /// Members of a Swift literal, in any order; of a repeated key the last value counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { self[key] = value }
    }

    /// Of members in any order; of a repeated key the last one counts. One after the other, each would move those that belong behind
    /// it: with keys in falling order the work would grow with their square.
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

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }
    package mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

    /// `nil` removes the member. Objects are small (a content state fits 4 KB), so a sorted array is the whole index.
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
        // Whoever builds an object mostly goes through it in order.
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

    /// A patch's one member.
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

    /// Whole numbers lose their `.0`: a feed that says `3` and one that says `3.0` mean the same state. JSON has no word
    /// for NaN and infinity, and no decoder of ours produces them.
    static func write(_ value: Double, to bytes: inout [UInt8]) {
        if let whole = Int64(exactly: value) {
            bytes.append(contentsOf: String(whole).utf8)
        } else {
            writeShortest(value.isFinite ? "\(value)" : "null", to: &bytes)
        }
    }

    /// Swift's description has no digit too many, but writes `1e-05` and `1e+20`.
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

    /// Appends a quoted string. Only what RFC 8259 demands is escaped.
    public static func write(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        var string = string
        string.withUTF8 { text in
            let isPlain = text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            if isPlain { bytes.append(contentsOf: text) } else { escape(text, to: &bytes) }
        }
    }

    private static func escape(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        for byte in text {
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
    /// Whether it is nested no deeper than that. What a program has built may be as deep as it likes; whoever goes through it recurses,
    /// so nothing deeper is let in.
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
    /// About as many bytes as its canonical form has, or some more, where few characters of its texts have to be escaped.
    var bytesUsual: Int { members.reduce(2) { $0 + $1.key.utf8.count + 4 + $1.value.bytesUsual } }

    /// No less than the bytes of its canonical form, and found without making it: each byte of a string may be six when escaped, and
    /// no number has more than 24.
    package var bytesBound: Int {
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
