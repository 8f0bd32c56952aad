/// Names what a fact, its withdrawal, or a change of the state amounts to for people: `goal`, `goalCancelled`, `arriving`.
/// A reducer tells which of facts, the rules of states; and they say what it is worth.
public struct OccasionKind: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }
}
