/// Name of one Live Activity: the id that the app has for it.
///
/// Two ids are equal if their texts are, and a string literal can stand for one: `ActivityID("anna-card")`, `activity: "anna-card"`. The
/// engine keeps eight bytes of the text, hashed under a key that the process draws when it starts, and its answers have these. A program
/// that needs the text keeps a table, `[ActivityID: String]`, and rebuilds it in each process. Among ten million activities, two ids
/// collide with a chance of 1 in 370,000, even if an attacker chooses them.
public struct ActivityID: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The 64 bits. They mean nothing outside the process that made them.
    @usableFromInline package let rawValue: UInt64
    /// Creates an id from the bits of another `ActivityID` of this process.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates an id from any text.
    public init(_ id: String) { self.init(hashing: id) }
    /// Creates an id from any text.
    public init(stringLiteral id: String) { self.init(hashing: id) }

    package init(hashing id: some StringProtocol) { self.init(id.utf8.keyedHash) }
}
