import FanfareModel

/// What is known, while an engine starts, of what its activities had from an earlier process.
struct EarlierDeliveries {
    /// Log times through which alerts do not concern an activity any more, by slot: they may have left for it, or it joined after them.
    private var settled: [ActivitySlot: FeedTime] = [:]
    /// A bit for each slot: whether the activity has the newest version.
    private var holders: [UInt64] = []

    mutating func note(_ slot: ActivitySlot, _ earlier: EarlierDelivery) {
        if let time = earlier.settledThrough { settled[slot] = max(settled[slot] ?? time, time) }
        let (word, bit) = (Int(slot.rawValue >> 6), UInt64(1) << UInt64(slot.rawValue & 63))
        if word >= holders.count {
            guard earlier.hasNewest else { return }
            holders.append(contentsOf: repeatElement(0, count: word + 1 - holders.count))
        }
        // An activity that is loaded twice counts as it was loaded last.
        holders[word] = earlier.hasNewest ? holders[word] | bit : holders[word] & ~bit
    }

    /// Returns the number of the first of the alerts, the oldest first, that do not concern the activity.
    func settled(_ alerts: [UnfinishedAlert], for slot: ActivitySlot) -> Int {
        guard let time = settled[slot] else { return 0 }
        return alerts.count { $0.alert.grantedAt <= time }
    }

    var hasHolders: Bool { !holders.isEmpty }

    func hasNewest(_ slot: ActivitySlot) -> Bool {
        let word = Int(slot.rawValue >> 6)
        return word < holders.count && holders[word] & 1 << UInt64(slot.rawValue & 63) != 0
    }

    /// Forgets everything, once everything of the earlier process has been published.
    mutating func end() { (settled, holders) = ([:], []) }
}
