import FanfareModel

/// What is known, while an engine starts, of what its activities had from an earlier process.
struct EarlierDeliveries {
    /// Alerts that do not concern activities any more. Alerts of lineups keep it until they are no more.
    private(set) var alerts = EarlierAlerts()
    /// A bit for each slot: whether the activity has the newest version.
    private var holders: [UInt64] = []

    mutating func note(_ slot: ActivitySlot, _ earlier: EarlierDelivery) {
        if let time = earlier.settledThrough { alerts.settle(slot, through: time) }
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
        alerts.count { self.alerts.isSettled($0.alert, for: slot) }
    }

    var hasHolders: Bool { !holders.isEmpty }

    func hasNewest(_ slot: ActivitySlot) -> Bool {
        let word = Int(slot.rawValue >> 6)
        return word < holders.count && holders[word] & 1 << UInt64(slot.rawValue & 63) != 0
    }

    /// Forgets everything, once everything of the earlier process has been published, but what its alerts need to know of lineups' members.
    mutating func end(isOfLineup: (ActivitySlot) -> Bool) {
        alerts.keep(isOfLineup)
        (alerts, holders) = (EarlierAlerts(), [])
    }
}

/// Log times through which alerts do not concern an activity any more: they may have left for it, or it joined after them. Confined to its
/// shard's thread.
final class EarlierAlerts {
    /// Milliseconds by slot, `none` for those without; empty once the engine has started. Nearly all activities that are loaded have such a time.
    private var loaded: [Int64] = []
    private static let none = Int64.min
    /// Those of lineups' members, from then on.
    private var kept: [ActivitySlot: Int64] = [:]

    fileprivate func settle(_ slot: ActivitySlot, through time: FeedTime) {
        let index = Int(slot.rawValue)
        if index >= loaded.count {
            loaded.append(contentsOf: repeatElement(EarlierAlerts.none, count: index + 1 - loaded.count))
        }
        loaded[index] = max(loaded[index], time.milliseconds)
    }

    fileprivate func keep(_ isWanted: (ActivitySlot) -> Bool) {
        for (index, time) in loaded.enumerated() where time != EarlierAlerts.none {
            let slot = ActivitySlot(UInt32(index))
            if isWanted(slot) { kept[slot] = time }
        }
        loaded = []
    }

    func isSettled(_ alert: Alert, for slot: ActivitySlot) -> Bool {
        let index = Int(slot.rawValue)
        let time = index < loaded.count ? loaded[index] : kept[slot] ?? EarlierAlerts.none
        return alert.grantedAt.milliseconds <= time
    }
}
