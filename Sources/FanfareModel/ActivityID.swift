/// Name of one Live Activity: the id that the app has for it.
///
/// Two ids are equal if their texts are, and a string literal can stand for one: `ActivityID("anna-card")`, `activity: "anna-card"`. The
/// engine keeps eight bytes of the text in memory, hashed under a key that the process draws when it starts, and its answers have these; a
/// store keeps the text. A program that needs the text keeps a table, `[ActivityID: String]`, and rebuilds it in each process. Among ten
/// million activities, two ids collide with a chance of 1 in 370,000, even if an attacker chooses them.
public struct ActivityID: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The 64 bits. They mean nothing outside the process that made them.
    @usableFromInline package let rawValue: UInt64
    /// Text from which the id was made, for a store; `nil` for one that was made from bits. It takes no part in comparisons.
    package let text: String?
    /// The text's name in claims, also of an id that does not keep its text; `nil` for one that was made from bits.
    package let mark: ActivityMark?

    /// Creates an id from the bits of another `ActivityID` of this process.
    package init(_ rawValue: UInt64) { (self.rawValue, text, mark) = (rawValue, nil, nil) }

    /// Creates an id from any text.
    public init(_ id: String) { (rawValue, text, mark) = (id.utf8.keyedHash, id, ActivityMark(of: id.utf8)) }
    /// Creates an id from any text.
    public init(stringLiteral id: String) { self.init(id) }

    /// Returns `true` if the texts are equal.
    public static func == (a: ActivityID, b: ActivityID) -> Bool { a.rawValue == b.rawValue }

    /// Hashes the 64 bits.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// Creates an id that does not keep its text.
    package init(hashing id: some StringProtocol) {
        (rawValue, text, mark) = (id.utf8.keyedHash, nil, ActivityMark(of: id.utf8))
    }
}
