import FanfareModel

/// Alerts that activities carry along when they move to another audience, so that no alert is lost by a move. An activity carries those
/// that it has missed in the audience it leaves, of topics that its next audience shows, too. An activity that is ended for its age
/// carries them to its end.
struct CarriedAlerts {
    /// The alerts that one activity carries, the oldest first.
    struct Entry {
        /// Alerts for the first push in the new audience.
        var pending: [PendingAlert] = []
        /// Alerts whose attempt is a push that left before the move. The outcome of the push settles them, or makes them pending again.
        var inFlight: [PendingAlert] = []
        /// Is `true` if the activity is a topic's follower, and of no lineup.
        fileprivate var isFollower = false

        init(pending: [PendingAlert] = [], inFlight: [PendingAlert] = []) {
            (self.pending, self.inFlight) = (pending, inFlight)
        }

        var isEmpty: Bool { pending.isEmpty && inFlight.isEmpty }

        func filter(_ isWanted: (PendingAlert) -> Bool) -> Entry {
            Entry(pending: pending.filter(isWanted), inFlight: inFlight.filter(isWanted))
        }
    }

    private var entries: [ActivitySlot: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }
    /// Number of followers of topics that carry alerts.
    private var followers = 0
    /// Is `true` if followers of topics carry alerts. Members of lineups, very many of which carry alerts after a restart, do not count.
    var hasFollowers: Bool { followers > 0 }
    /// The activities that carry alerts.
    var slots: some Sequence<ActivitySlot> { entries.keys }

    func contains(_ slot: ActivitySlot) -> Bool { !entries.isEmpty && entries[slot] != nil }

    subscript(slot: ActivitySlot) -> Entry? { entries[slot] }

    /// Replaces the alerts that an activity carries.
    ///
    /// - Parameters:
    ///   - version: version of the new audience at which the activity joins; the alerts are renumbered to it.
    ///   - isFollower: whether the new audience is that of a topic's followers, and of no lineup.
    /// - Returns: whether the activity carries alerts.
    mutating func carry(_ alerts: Entry, by slot: ActivitySlot, at version: UInt32, isFollower: Bool) -> Bool {
        guard !alerts.isEmpty else {
            remove(slot)
            return false
        }
        func renumbered(_ alert: PendingAlert) -> PendingAlert {
            var alert = alert
            alert.version = version
            alert.number = 0
            return alert
        }
        var entry = Entry(pending: alerts.pending.map(renumbered), inFlight: alerts.inFlight.map(renumbered))
        entry.isFollower = isFollower
        set(entry, of: slot)
        return true
    }

    mutating func remove(_ slot: ActivitySlot) {
        if !entries.isEmpty { set(nil, of: slot) }
    }

    private mutating func set(_ entry: Entry?, of slot: ActivitySlot) {
        if let former = entries[slot], former.isFollower { followers -= 1 }
        entries[slot] = entry
        if entry?.isFollower == true { followers += 1 }
    }

    /// Removes and returns the alerts in flight: the push that left before the move has been answered, and was their attempt.
    mutating func takeInFlight(of slot: ActivitySlot) -> [PendingAlert] {
        guard var entry = entries[slot] else { return [] }
        let taken = entry.inFlight
        entry.inFlight = []
        set(entry.isEmpty ? nil : entry, of: slot)
        return taken
    }

    /// Makes the alerts in flight pending again: the push that left before the move was certainly not processed, so it was no attempt.
    mutating func returnInFlight(of slot: ActivitySlot) {
        guard var entry = entries[slot] else { return }
        entry.pending = entry.inFlight + entry.pending
        entry.inFlight = []
        entries[slot] = entry
    }

    mutating func revoke(cause: String, topic: TopicID) {
        for entry in entries.values {
            for alert in entry.pending + entry.inFlight where alert.alert.cause == cause && alert.topic == topic {
                alert.issue.isRevoked = true
            }
        }
    }

    func violation() -> String? {
        guard followers == entries.values.count(where: \.isFollower) else {
            return "\(followers) followers are counted that carry alerts"
        }
        for (slot, entry) in entries {
            guard !entry.isEmpty else { return "slot \(slot.rawValue) carries no alert and is listed" }
            guard (entry.pending + entry.inFlight).allSatisfy({ $0.number == 0 }) else {
                return "slot \(slot.rawValue) carries an alert with a number of the audience it has left"
            }
        }
        return nil
    }
}
