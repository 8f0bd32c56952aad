/// Name of one Live Activity: the id that the app gives it.
///
/// Two ids are equal if their texts are, and a string literal can stand for one: `ActivityID("anna-card")`, `activity: "anna-card"`. The engine
/// compares 64 bits of the text, hashed under a key that the process draws when it starts: among ten million activities, two ids collide with a
/// chance of 1 in 370,000, even if an attacker chooses them. The engine keeps the text beside the activity's token, in the text's length and at most
/// 8 bytes more, and its answers contain the text.
public struct ActivityID: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The 64 bits. They mean nothing outside the process that made them.
    @usableFromInline package let rawValue: UInt64
    /// Text of the id. Comparisons leave it out.
    ///
    /// The engine's answers contain the text, with three exceptions, for which it is `nil`: an activity that is named by its token because it has no
    /// id, an activity from a subscriber file, and a text of more than 256 bytes.
    public let text: String?
    /// The text's name in claims, also of an id that does not keep its text; `nil` for one that was made from bits.
    package let mark: ActivityMark?

    /// Creates an id from the bits of another `ActivityID` of this process.
    package init(_ rawValue: UInt64) { (self.rawValue, text, mark) = (rawValue, nil, nil) }

    /// Creates an id from any text.
    ///
    /// - Complexity: O(n), n being the size of the text.
    public init(_ id: String) { (rawValue, text, mark) = (id.utf8.keyedHash, id, ActivityMark(of: id.utf8)) }
    /// Creates an id from any text.
    public init(stringLiteral id: String) { self.init(id) }

    /// Creates an id that another one is without its text.
    package init(_ id: ActivityID, text: String?) { (rawValue, self.text, mark) = (id.rawValue, text, id.mark) }

    /// Returns `true` if the texts are equal.
    ///
    /// - Complexity: O(1).
    public static func == (a: ActivityID, b: ActivityID) -> Bool { a.rawValue == b.rawValue }

    /// Hashes the 64 bits.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// Creates an id that does not keep its text.
    package init(hashing id: some StringProtocol) {
        (rawValue, text, mark) = (id.utf8.keyedHash, nil, ActivityMark(of: id.utf8))
    }
}

extension ActivityMark {
    /// - Parameter token: names an activity whose id was made from bits.
    package init(_ id: ActivityID, token: [UInt8]) { self = id.mark ?? ActivityMark(of: token) }
}
