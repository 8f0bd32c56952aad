/// An activity lasts eight hours at most; then the system ends it, whatever it shows (rule L1, spec §3.4, documented). So it is
/// ended before, with its newest state, or renewed where the topic's rules say so: another one is started, and the old one
/// ends when the new one's token has registered, because an accepted start is not yet a card.
///
/// A hand goes round over the activities, some at a time, and sleeps while none is old enough: nothing is kept for it but
/// the second at which each began.
extension Shard {
    /// How long before the limit a renewal starts, and an end leaves, as parts of an activity's life: 30 and 10 minutes. A person
    /// may take a while to allow the new card its updates; and an end may have to wait for the network.
    private static let renewsAhead: Int64 = 16
    private static let endsAhead: Int64 = 48
    /// A lap of the hand: 5 minutes, in steps of a second.
    private static let lap: Int64 = 96
    private static let steps: Int64 = 300

    /// An activity that is new here. On its phone it may be older, up to eight hours.
    func insert(_ id: ActivityID, token: [UInt8], age: Duration = .zero, at moment: Moment) -> ActivitySlot {
        let slot = store.insert(id, token: token)
        let seconds = min(max(0, age.components.seconds), lifetime / 1_000_000_000)
        store[slot].startedAt = moment.monotonicSeconds &- UInt32(seconds)
        let due = moment.monotonicNanoseconds + max(0, renewAge - seconds * 1_000_000_000)
        // The hand may have passed its place in this lap.
        lapDue = min(lapDue, due)
        moveHand(at: due)
        return slot
    }

    private var renewAge: Int64 { lifetime - lifetime / Shard.renewsAhead }
    private var endAge: Int64 { lifetime - lifetime / Shard.endsAhead }

    /// The hand goes on then, or before.
    func moveHand(at due: Int64) {
        if let handTimer {
            guard due < handTimer.due else { return }
            timers.cancel(handTimer.entry)
        }
        handTimer = (due, timers.insert(.hand, due: due))
    }

    /// Time has come for the hand.
    func turnHand(at moment: Moment) {
        let now = moment.monotonicNanoseconds
        guard let due = handTimer.take()?.due else { return }
        let step = max(1, lifetime / Shard.lap / Shard.steps)
        // After a long pause it makes up for what it has missed: one lap at most, wherever that begins.
        let steps = Int(min(Shard.steps, (now - due) / step + 1))
        var visits = min(store.activities.count, steps * (store.activities.count / Int(Shard.steps) + 1))
        while visits > 0 {
            // Whoever comes while the lap lasts is due no sooner.
            if hand == 0 { lapDue = now + renewAge }
            let slot = ActivitySlot(UInt32(hand))
            hand += 1
            visits -= 1
            if let due = attend(to: slot, at: moment) { lapDue = min(lapDue, due) }
            guard hand >= store.activities.count else { continue }
            hand = 0
            if lapDue > now { break }
        }
        if hand > 0 {
            moveHand(at: now + step)
        } else if store.count > 0 {
            moveHand(at: max(now + step, lapDue))
        }
    }

    /// Does what an activity's age asks for.
    ///
    /// - Returns: when it will ask for something next, monotonic nanoseconds; `nil`: never.
    private func attend(to slot: ActivitySlot, at moment: Moment) -> Int64? {
        let activity = store[slot]
        let age = age(of: slot, at: moment)
        func due(at wanted: Int64) -> Int64 { moment.monotonicNanoseconds + wanted - age }
        // There is no card before its start has left.
        if activity.flags.contains(.tokenless), starting[slot]?.phase != .sent {
            guard age >= Starting.patience else { return due(at: Starting.patience) }
            fail(slot, .waitedTooLong, at: moment)
            return nil
        }
        guard age >= renewAge else { return due(at: renewAge) }
        // Of whoever cannot be told of its end nothing stays, once the system has ended the card.
        guard activity.flags.isDisjoint(with: [.tokenless, .leaving, .ending]) else {
            return expire(slot, at: moment) ? nil : due(at: lifetime)
        }
        guard activity.audience != ActivityStore.noAudience else { return nil }  // the slot is free
        let audience = audiences[Int(activity.audience)]
        if let renewal = renewals[slot], !renewal.hasFailed,
            renewal.successor != nil || audience.latest?.expiry.renews == true
        {
            if renewal.successor == nil { renew(slot, renewal, at: moment) }
            // With the new card on its way the old one stays until the system ends it.
            return expire(slot, at: moment) ? nil : due(at: lifetime)
        }
        guard age >= endAge else { return due(at: endAge) }
        report(.expired, of: activity.id)
        lastStates[slot] = Int(activity.audience)
        expect(in: Int(activity.audience))
        depart(slot, at: moment)
        return due(at: lifetime)
    }

    private func age(of slot: ActivitySlot, at moment: Moment) -> Int64 {
        Int64(moment.monotonicSeconds &- store[slot].startedAt) * 1_000_000_000
    }

    /// Once the system has ended it, nothing is left to be sent.
    ///
    /// - Returns: whether it has.
    private func expire(_ slot: ActivitySlot, at moment: Moment) -> Bool {
        guard age(of: slot, at: moment) >= lifetime, !store[slot].flags.contains(.inFlight) else { return false }
        let flags = store[slot].flags
        if !flags.contains(.leaving), successor(of: slot) == nil { report(.expired, of: store[slot].id) }
        // Where no token ever came there may have been no card.
        if flags.contains(.leaving), !flags.contains(.tokenless) {
            if let count = lostEnds.next() {
                report("\(count) ends have not arrived by now: the system has ended such cards after eight hours")
            }
            abandonDeparture(slot)
        }
        remove(slot, at: moment)
        return true
    }

    /// What is to become of an old activity has changed.
    func lookAgain(at slot: ActivitySlot, at moment: Moment) {
        guard age(of: slot, at: moment) >= renewAge else { return }
        // In this lap, or right after it.
        lapDue = moment.monotonicNanoseconds
        moveHand(at: lapDue)
    }

    private func renew(_ slot: ActivitySlot, _ renewal: Renewal, at moment: Moment) {
        let edition = renewal.edition + 1
        let successor = ActivityID(hashing: renewal.request.name(edition: edition))
        guard store.slot(of: successor) == nil else {
            renewals[slot]?.hasFailed = true
            return
        }
        renewals[slot]?.successor = successor
        start(
            successor, renewal.request, edition: edition, renewing: store[slot].id, in: Int(store[slot].audience),
            at: moment)
    }

    /// The activity that is to take this one's place, while its token is not known.
    func successor(of slot: ActivitySlot) -> ActivitySlot? {
        renewals.isEmpty ? nil : renewals[slot]?.successor.flatMap { store.slot(of: $0) }
    }

    /// Whoever names the old card, or one of those before it, means the new one from now on.
    private func handOver(_ old: ActivitySlot, to slot: ActivitySlot) {
        renewals[old] = nil
        for id in predecessors[slot, default: []] { successors[id] = store[slot].id }
    }

    /// The new card exists: the old one goes, if it has not gone before.
    func replace(_ old: ActivityID, by slot: ActivitySlot, at moment: Moment) {
        guard let card = store.slot(of: old) else { return report(.renewed(as: store[slot].id), of: old) }
        handOver(card, to: slot)
        guard store[card].flags.isDisjoint(with: [.leaving, .ending]) else { return }
        report(.renewed(as: store[slot].id), of: old)
        depart(card, at: moment)
    }

    /// As far as anybody knows the new card is there, and the old one is not.
    func tellOfRenewal(by slot: ActivitySlot) {
        guard let old = starting[slot]?.renews else { return }
        starting[slot]?.renews = nil
        report(.renewed(as: store[slot].id), of: old)
    }

    /// The activity of that name, or the one that has taken its place.
    func slot(of id: ActivityID) -> ActivitySlot? { store.slot(of: successors[id] ?? id) }

    /// The activity goes.
    func forgetRenewal(_ slot: ActivitySlot, at moment: Moment) {
        if let audience = lastStates.removeValue(forKey: slot) { expectNoMore(in: audience, at: moment) }
        if let successor = successor(of: slot) {
            // The eight hours are nobody's wish: the new card is to come, however long that takes.
            let isOutlived = age(of: slot, at: moment) >= lifetime
            starting[successor]?.outlivesOld = isOutlived
            // Else whoever has ended the old card wants no new one; but that may be on the phone.
            if isOutlived || starting[successor]?.phase == .sent {
                handOver(slot, to: successor)
                if mayBeThere(successor) { tellOfRenewal(by: successor) }
            } else {
                fail(successor, .over, at: moment)
            }
        }
        renewals[slot] = nil
        forgetNames(of: slot)
    }

    /// Those of the cards before it mean it no more.
    func forgetNames(of slot: ActivitySlot) {
        guard !predecessors.isEmpty else { return }
        for id in predecessors.removeValue(forKey: slot) ?? [] where successors[id] == store[slot].id {
            successors[id] = nil
        }
    }
}

extension Moment {
    /// Goes round after 136 years.
    var monotonicSeconds: UInt32 { UInt32(truncatingIfNeeded: monotonicNanoseconds / 1_000_000_000) }
}
