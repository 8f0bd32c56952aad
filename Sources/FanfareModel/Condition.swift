/// A condition on one field.
public struct Condition: Sendable, Hashable {
    /// Test of the field's value.
    public enum Test: Sendable, Hashable {
        /// The value is one of these; the spelling of a number does not matter.
        case oneOf([JSONValue])
        /// The value is a number not below this one.
        case atLeast(Double)
        /// The value is a number not above this one.
        case atMost(Double)
        /// The field is present, or absent for `present(false)`.
        case present(Bool)
    }

    /// Name of the field in the unredacted content state; in a `CountingReducer.Counter`, among the fact's values.
    public var key: String
    /// Test of the value. An absent field passes `present(false)` only.
    public var test: Test

    /// Creates a condition: `Condition("status", .oneOf(["delivered", "cancelled"]))` holds once the order is over.
    public init(_ key: String, _ test: Test) {
        self.key = key
        self.test = test
    }

    package func holds(in state: JSONObject) -> Bool {
        let value = state[key]
        switch test {
        case .oneOf(let values): return value.map { value in values.contains { value.looksLike($0) } } ?? false
        case .atLeast(let bound): return value?.doubleValue.map { $0 >= bound } ?? false
        case .atMost(let bound): return value?.doubleValue.map { $0 <= bound } ?? false
        case .present(let isPresent): return (value != nil) == isPresent
        }
    }
}

extension [Condition] {
    package func hold(in state: JSONObject) -> Bool { allSatisfy { $0.holds(in: state) } }
}

extension JSONValue {
    /// Returns `true` if people read the values alike: `3` equals `3.0`.
    package func looksLike(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.int, .double), (.double, .int): intValue != nil && intValue == other.intValue
        case (.array(let a), .array(let b)):
            a.count == b.count && zip(a, b).allSatisfy { $0.looksLike($1) }
        case (.object(let a), .object(let b)):
            a.members.count == b.members.count
                && zip(a.members, b.members).allSatisfy { $0.key == $1.key && $0.value.looksLike($1.value) }
        default: self == other
        }
    }
}
