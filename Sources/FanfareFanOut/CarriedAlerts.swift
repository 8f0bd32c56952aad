import FanfareModel

/// Alerts that activities carry along when they change what they show, so that nobody loses one by a move: those that an activity has
/// missed in the audience it leaves, of topics that its next audience shows too. An activity that is ended for its age carries them to
/// its end.
struct CarriedAlerts {
    /// Of one activity, the oldest first.
    struct Entry {
        /// Still to be told, by the first push in the new audience.
        var pending: [PendingAlert] = []
        /// Those whose chance is a push that left before the move: its answer tells.
        var inFlight: [PendingAlert] = []

        var isEmpty: Bool { pending.isEmpty && inFlight.isEmpty }

        func filter(_ isWanted: (PendingAlert) -> Bool) -> Entry {
            Entry(pending: pending.filter(isWanted), inFlight: inFlight.filter(isWanted))
        }
    }

    private var entries: [ActivitySlot: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }
    /// The activities that carry any.
    var slots: some Sequence<ActivitySlot> { entries.keys }

    func contains(_ slot: ActivitySlot) -> Bool { !entries.isEmpty && entries[slot] != nil }

    subscript(slot: ActivitySlot) -> Entry? { entries[slot] }

    /// These, and no others, are carried from now on.
    ///
    /// - Parameter version: of the new audience: the alerts count as its last ones before the activity came.
    /// - Returns: whether there are any.
    mutating func carry(_ alerts: Entry, by slot: ActivitySlot, at version: UInt32) -> Bool {
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
        entries[slot] = Entry(pending: alerts.pending.map(renumbered), inFlight: alerts.inFlight.map(renumbered))
        return true
    }

    mutating func remove(_ slot: ActivitySlot) {
        if !entries.isEmpty { entries[slot] = nil }
    }

    /// The push that left before the move has been answered: it was the chance of those in flight.
    mutating func takeInFlight(of slot: ActivitySlot) -> [PendingAlert] {
        guard var entry = entries[slot] else { return [] }
        let taken = entry.inFlight
        entry.inFlight = []
        entries[slot] = entry.isEmpty ? nil : entry
        return taken
    }

    /// The push that left before the move was no chance: those in flight are still to be told.
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
        for (slot, entry) in entries {
            guard !entry.isEmpty else { return "slot \(slot.rawValue) carries no alert and is listed" }
            guard (entry.pending + entry.inFlight).allSatisfy({ $0.number == 0 }) else {
                return "slot \(slot.rawValue) carries an alert with a number of the audience it has left"
            }
        }
        return nil
    }
}
