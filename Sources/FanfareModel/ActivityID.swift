/// Names one Live Activity by the id that the app has for it.
///
/// Two are equal when their texts are, and a text can stand where one is expected: `ActivityID("anna-card")`, `activity: "anna-card"`. The
/// engine keeps eight bytes of it, made from the text and a key that the process draws when it starts, and answers with these: a program that
/// wants the text back keeps a table, `[ActivityID: String]`, and makes it anew in each process. With ten million activities two ids meet
/// with a chance of 1 in 370,000, whoever has chosen them.
public struct ActivityID: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The 64 bits. They mean nothing outside the process that made them.
    @usableFromInline package let rawValue: UInt64
    /// From bits that another `ActivityID` of this process had.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Any text will do.
    public init(_ id: String) { self.init(hashing: id) }
    /// Any text will do.
    public init(stringLiteral id: String) { self.init(hashing: id) }

    package init(hashing id: some StringProtocol) { self.init(id.utf8.keyedHash) }
}
