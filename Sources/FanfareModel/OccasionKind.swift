/// Names what a fact, its withdrawal, or a change of the state amounts to for people: `goal`, `goalCancelled`, `arriving`.
/// A reducer tells which of facts, the rules of states; and they say what it is worth.
public struct OccasionKind: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// As rules files and decision records spell it. Two occasions are of one kind when their texts are equal.
    public let rawValue: String
    /// Any text will do: an occasion whose kind the topic's rules do not name is an ordinary change.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// Lets rules that are written in Swift name a kind by its text: `occasions: ["arriving": …]`.
    public init(stringLiteral rawValue: String) { self.rawValue = rawValue }
    /// The `rawValue`.
    public var description: String { rawValue }
}
