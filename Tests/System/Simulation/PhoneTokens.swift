import FanfareModel

/// The tokens that a phone has had: the oracle of where pushes go.
struct PhoneTokens {
    /// Token of the app.
    private(set) var current: [UInt8]
    /// Token that the shard knows.
    private(set) var served: [UInt8]
    /// Target of later starts of its card and of the successor, as the shard knows it.
    var start: [UInt8]
    /// Is `true` if the shard has had another one before.
    private(set) var isNew = false
    private var all: [[UInt8]]
    /// First token that it had: the target of the starts of this card and of those that renew it.
    var first: [UInt8] { all[0] }

    init(_ token: [UInt8]) { (current, served, start, all) = (token, token, token, [token]) }

    static func make(using random: inout SplitMix64) -> [UInt8] {
        (0..<[54, 80].randomElement(using: &random)!).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    mutating func renew(using random: inout SplitMix64) {
        current = PhoneTokens.make(using: &random)
        all.append(current)
    }

    /// Notes that the shard has this token.
    ///
    /// - Returns: `true` if it had another one.
    mutating func serve(_ token: [UInt8]) -> Bool {
        guard token != served else { return false }
        served = token
        isNew = true
        return true
    }

    func hasUsed(_ token: [UInt8]) -> Bool { all.contains(token) }
}
