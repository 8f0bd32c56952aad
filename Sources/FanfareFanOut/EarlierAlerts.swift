import FanfareModel

/// What is known, while an engine starts, of the alerts that its activities had from an earlier process.
struct EarlierAlerts {
    /// Log times through which alerts do not concern an activity any more, by slot: they may have left for it, or it joined after them.
    private var settled: [ActivitySlot: FeedTime] = [:]

    mutating func note(_ slot: ActivitySlot, settledThrough time: FeedTime) {
        settled[slot] = max(settled[slot] ?? time, time)
    }

    /// Returns the number of the first of the alerts, the oldest first, that do not concern the activity.
    func settled(_ alerts: [UnfinishedAlert], for slot: ActivitySlot) -> Int {
        guard let time = settled[slot] else { return 0 }
        return alerts.count { $0.alert.grantedAt <= time }
    }

    /// Forgets everything, once the alerts of the earlier process have been published.
    mutating func end() { settled = [:] }
}
