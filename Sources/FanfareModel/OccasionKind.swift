/// Kind of the occasion that a fact, its withdrawal, or a change of the state is: `goal`, `goalCancelled`, `arriving`. A reducer derives it from
/// facts, and the rules derive it from states; the rules also rate it.
public struct OccasionKind: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The kind as rules files and decision records spell it. Kinds are equal if their texts are.
    public let rawValue: String
    /// Creates a kind from any text. An occasion whose kind the topic's rules do not name is an ordinary change.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// Creates a kind from a literal, for rules that are written in Swift: `occasions: ["arriving": …]`.
    public init(stringLiteral rawValue: String) { self.rawValue = rawValue }
    /// The `rawValue`.
    public var description: String { rawValue }
}
