/// A set of activities: a bit for each, in words of sixty-four neighbouring slots.
///
/// It grows with the words that are in use. A million activities have 16,000 words, so no insertion copies more than these, and a few activities among
/// a million have a few words.
struct SlotSet {
    private var words: [UInt32: UInt64] = [:]
    private(set) var count = 0

    private static func bit(of slot: ActivitySlot) -> UInt64 { 1 &<< UInt64(slot.rawValue & 63) }

    func contains(_ slot: ActivitySlot) -> Bool {
        (words[slot.rawValue >> 6] ?? 0) & SlotSet.bit(of: slot) != 0
    }

    /// - Returns: `false` if the set has the activity already.
    @discardableResult mutating func insert(_ slot: ActivitySlot) -> Bool {
        guard !contains(slot) else { return false }
        words[slot.rawValue >> 6, default: 0] |= SlotSet.bit(of: slot)
        count += 1
        return true
    }

    /// - Returns: `false` if the set does not have the activity.
    @discardableResult mutating func remove(_ slot: ActivitySlot) -> Bool {
        guard contains(slot) else { return false }
        words[slot.rawValue >> 6, default: 0] &= ~SlotSet.bit(of: slot)
        count -= 1
        return true
    }

    /// Describes a count that differs from the bits; `nil` if they agree.
    func violation() -> String? {
        let bits = words.values.reduce(0) { $0 + $1.nonzeroBitCount }
        return bits == count ? nil : "a set counts \(count) activities, and has \(bits)"
    }
}
