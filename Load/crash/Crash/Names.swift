import FanfareLoop

/// Names that harness, program and judge have for the same things.
enum Names {
    static let bundleID = "com.example.scores"
    static let keyID = "ABC123DEFG"
    static let teamID = "DEF123GHIJ"

    /// Generation of a card's start token.
    static let startGeneration = 0xFFFF
    private static let tokenBytes = 32

    /// Returns the token of a card: its number, the token's generation, and bytes that look like a token's.
    static func token(card: Int, generation: Int) -> [UInt8] {
        let head: [UInt8] = (0..<4).map { UInt8(truncatingIfNeeded: card >> ($0 * 8)) }
        let tail: [UInt8] = (0..<2).map { UInt8(truncatingIfNeeded: generation >> ($0 * 8)) }
        return head + tail + (0..<tokenBytes - 6).map { UInt8(truncatingIfNeeded: (card + 1) * 31 + $0 * 7) }
    }

    static func card(of token: ArraySlice<UInt8>) -> Int {
        token.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns a token's name in the simulator's dump.
    static func hash(of token: [UInt8]) -> String {
        sha256(token).prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    static func activity(_ card: Int) -> String { "card/\(card)" }
    static func card(named activity: some StringProtocol) -> Int? {
        activity.hasPrefix("card/") ? Int(activity.dropFirst("card/".count)) : nil
    }
    /// Each subscriber has two cards.
    static func subscriber(of card: Int) -> String { "person/\(card / 2)" }

    /// Returns the id of an event, which its alert names: one word, so that a text of several alerts tells them apart.
    static func event(_ topic: String, _ number: Int) -> String { "\(topic)#\(number)" }

    /// Returns the text that a topic's state has beside its number: most of the largest state that is allowed for some numbers, nothing for the
    /// others. It differs from number to number, so a state that mixes two of them is seen.
    static func note(_ topic: some StringProtocol, _ number: Int) -> String {
        // A lineup has room for the short rows of several topics.
        guard number % noteInterval == 1, !topic.hasPrefix("favourite/") else { return "" }
        let word = "\(topic)#\(number) "
        return String(repeating: word, count: noteBytes / word.utf8.count)
    }
    private static let noteInterval = 8
    /// State, alert and fields of a start fit into a push beside it.
    private static let noteBytes = 2600

    /// Is `true` for topics whose followers are so many that a sweep takes a while.
    static func isCrowd(_ topic: some StringProtocol) -> Bool { topic.hasPrefix("crowd/") }
}
