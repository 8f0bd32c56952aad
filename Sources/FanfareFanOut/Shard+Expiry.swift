import FanfareModel

/// An activity lasts eight hours at most; then the system ends it, whatever it shows (rule L1, spec §3.4, documented). So the shard ends it
/// earlier, with its newest state, or renews it if the topic's rules allow: another activity is started, and the old one ends when the new
/// one's token has registered, because an accepted start is not yet a card.
extension Shard {
    /// Inserts an activity that is new to the shard.
    ///
    /// - Parameter age: age of the card on its phone; more than the lifetime counts as the lifetime.
    func insert(_ id: ActivityID, token: [UInt8], age: Duration = .zero, at moment: Moment) -> ActivitySlot {
        let slot = store.insert(id, token: token)
        let seconds = min(max(0, age.components.seconds), ageScanner.lifetime / 1_000_000_000)
        store[slot].startedAt = moment.monotonicSeconds &- UInt32(seconds)
        let due = moment.monotonicNanoseconds + max(0, ageScanner.renewAge - seconds * 1_000_000_000)
        ageScanner.expect(due)
        scheduleAgeScan(at: due)
        return slot
    }

    /// Ensures that the scan goes on at `due` or earlier.
    private func scheduleAgeScan(at due: Int64) {
        guard ageScanner.needsTimer(at: due) else { return }
        if let timer = ageScanner.timer { timers.cancel(timer.entry) }
        ageScanner.set(AgeScanner.Timer(due: due, entry: timers.insert(.ageScan, due: due)))
    }

    /// Runs a pass of the scan for old activities.
    func scanAges(at moment: Moment) {
        let now = moment.monotonicNanoseconds
        for _ in 0..<ageScanner.beginPass(over: store.activities.count, at: now) {
            let due = checkAge(of: ageScanner.nextVisit(at: now), at: moment)
            guard ageScanner.endVisit(due: due, slots: store.activities.count, at: now) else { break }
        }
        if let due = ageScanner.nextPass(hasActivities: store.count > 0, at: now) { scheduleAgeScan(at: due) }
    }

    /// Ends, renews or removes an activity if its age requires that.
    ///
    /// - Returns: the time of the next check, monotonic nanoseconds; `nil` if none is needed.
    private func checkAge(of slot: ActivitySlot, at moment: Moment) -> Int64? {
        let activity = store[slot]
        let age = age(of: slot, at: moment)
        func due(at wanted: Int64) -> Int64 { moment.monotonicNanoseconds + wanted - age }
        // There is no card before its start has left.
        if activity.flags.contains(.tokenless), starts[slot]?.phase != .sent {
            guard age >= PendingStart.patience else { return due(at: PendingStart.patience) }
            fail(slot, .waitedTooLong, at: moment)
            return nil
        }
        guard age >= ageScanner.renewAge else { return due(at: ageScanner.renewAge) }
        // An activity that cannot be sent an end now is removed after the system has ended its card.
        guard activity.flags.isDisjoint(with: [.tokenless, .leaving, .ending]) else {
            return expire(slot, at: moment) ? nil : due(at: ageScanner.lifetime)
        }
        guard activity.audience != ActivityStore.noAudience else { return nil }  // the slot is free
        let audience = awake(Int(activity.audience))
        bringUpToDate(audience, at: moment)
        if let renewal = renewals[slot], !renewal.hasFailed,
            renewal.successor != nil || audience.newest.publication?.expiry.renews == true
        {
            if renewal.successor == nil { renew(slot, renewal, at: moment) }
            // While the new card is being started, the old one stays until the system ends it.
            return expire(slot, at: moment) ? nil : due(at: ageScanner.lifetime)
        }
        guard age >= ageScanner.endAge else { return due(at: ageScanner.endAge) }
        report(.expired, of: activity.id)
        lastStates[slot] = Int(activity.audience)
        expect(in: Int(activity.audience))
        let missed = alertsMissed(by: slot, at: moment)
        depart(slot, at: moment)
        // The end carries these alerts, and those published until it leaves.
        store[slot].alerted = audience.target
        _ = carriedAlerts.carry(missed, by: slot, at: audience.target)
        return due(at: ageScanner.lifetime)
    }

    /// Makes the pending end of an activity a silent one without new content, because the person does not want the activity any more. Does
    /// nothing unless it is being ended for its age.
    func endSilently(_ slot: ActivitySlot, at moment: Moment) {
        guard let audience = lastStates.removeValue(forKey: slot) else { return }
        carriedAlerts.remove(slot)
        expectNoMore(in: audience, at: moment)
    }

    private func age(of slot: ActivitySlot, at moment: Moment) -> Int64 {
        Int64(moment.monotonicSeconds &- store[slot].startedAt) * 1_000_000_000
    }

    /// Takes the alerts for the end of an old activity; all alerts that it has missed are in flight with that end. An activity whose name means
    /// another one gets none.
    func takeMissed(
        byEndOf slot: ActivitySlot, of audience: Audience, stamp: Int64, at moment: Moment
    ) -> (alerts: ArraySlice<PendingAlert>, told: Told?) {
        guard !nameless.contains(store[slot].id) else { return ([], nil) }
        let missed = pending(slot, of: audience)
        let told = missed.told(at: moment)
        let wish = SubscriberGovernor.Wish(
            alert: told.map { missed[$0.lead].alert.class }, priority: .immediate, isEnd: true)
        let grant = governor.grant(
            wish, to: store[slot].spent, store.effect(of: Int(slot.rawValue), atMinute: moment.minuteOfDay),
            after: UInt32(clamping: stamp) - store[slot].stamp)
        guard let told, grant.silence == nil else {
            passOver(
                missed, led: told?.lead, told: grant.silence.map(AlertOutcome.silenced) ?? .stale, for: slot,
                of: audience, at: moment)
            store[slot].alerted = audience.target
            carriedAlerts.remove(slot)
            return ([], nil)
        }
        store[slot].alerted = audience.target
        _ = carriedAlerts.carry(CarriedAlerts.Entry(inFlight: Array(missed)), by: slot, at: audience.target)
        return (missed, told)
    }

    /// Removes the activity if the system has ended its card and no push is in flight.
    ///
    /// - Returns: whether the activity was removed.
    private func expire(_ slot: ActivitySlot, at moment: Moment) -> Bool {
        let flags = store[slot].flags
        guard age(of: slot, at: moment) >= ageScanner.lifetime, !flags.contains(.inFlight) else { return false }
        if !flags.contains(.leaving), successor(of: slot) == nil { report(.expired, of: store[slot].id) }
        // Without a token there may never have been a card.
        if flags.contains(.leaving), !flags.contains(.tokenless) {
            if let count = lostEnds.next() {
                report("\(count) ends have not arrived by now: the system has ended such cards after eight hours")
            }
            abandonDeparture(slot)
        }
        remove(slot, at: moment)
        return true
    }

    /// Makes the scan check an old activity again, after a change that affects its end or renewal.
    func lookAgain(at slot: ActivitySlot, at moment: Moment) {
        guard age(of: slot, at: moment) >= ageScanner.renewAge else { return }
        ageScanner.revisit(at: moment.monotonicNanoseconds)
        scheduleAgeScan(at: moment.monotonicNanoseconds)
    }

    private func renew(_ slot: ActivitySlot, _ renewal: Renewal, at moment: Moment) {
        let edition = renewal.edition + 1
        let successor = ActivityID(hashing: renewal.request.name(edition: edition))
        guard store.slot(of: successor) == nil else {
            renewals.fail(slot)
            return
        }
        renewals.begin(slot, successor: successor)
        start(
            successor, renewal.request, edition: edition, renewing: store[slot].id, in: Int(store[slot].audience),
            at: moment)
    }

    /// Returns the activity that is to take this one's place, while its token is not known.
    func successor(of slot: ActivitySlot) -> ActivitySlot? {
        renewals.successor(of: slot).flatMap { store.slot(of: $0) }
    }

    /// Ends the old activity, if it still exists, because the new card does.
    ///
    /// - Parameter start: the record of the new activity's start.
    /// - Returns: alerts that the old activity has missed, from before the new one's start, which the new one does not get otherwise.
    func replace(
        _ old: ActivityID, by slot: ActivitySlot, _ start: PendingStart, at moment: Moment
    ) -> CarriedAlerts.Entry {
        var missed = CarriedAlerts.Entry()
        guard let card = store.slot(of: old) else {
            report(.renewed(as: store[slot].id), of: old)
            return missed
        }
        renewals.handOver(card, to: slot)
        guard store[card].flags.isDisjoint(with: [.leaving, .ending]) else { return missed }
        report(.renewed(as: store[slot].id), of: old)
        if store[card].audience == UInt32(start.audience) {
            let through = start.shown?.alerted ?? 0
            missed.pending = alertsMissed(by: card, at: moment).pending.filter {
                $0.version <= through && $0.isCarried(at: moment)
            }
        }
        depart(card, at: moment)
        return missed
    }

    /// Notes the alerts that the old card has had, or that are in flight to it, so that the new card does not repeat them.
    func noteAlerts(toldBy old: ActivitySlot, to slot: ActivitySlot) {
        let card = store[old]
        guard let start = starts[slot], card.audience == UInt32(start.audience) else { return }
        let sending = card.flags.contains(.inFlight) ? card.sending : 0
        starts.noteAlerts(through: max(card.alerted, sending), of: slot)
    }

    /// Reports the renewal by an activity, once: as far as is known, the new card exists and the old one does not.
    func tellOfRenewal(by slot: ActivitySlot) {
        if let old = starts.takeRenewed(by: slot) { report(.renewed(as: store[slot].id), of: old) }
    }

    /// Returns the activity with a name, or the one that has taken its place.
    func slot(of id: ActivityID) -> ActivitySlot? { store.slot(of: renewals.card(of: id)) }

    /// Removes the renewal record of an activity that is being removed, and hands its name over or cancels its successor.
    func forgetRenewal(_ slot: ActivitySlot, at moment: Moment) {
        if let audience = lastStates.removeValue(forKey: slot) { expectNoMore(in: audience, at: moment) }
        if let successor = successor(of: slot) {
            // The system ended the old card, not the person: the new one is started, however long that takes.
            let isOutlived = age(of: slot, at: moment) >= ageScanner.lifetime
            starts.setOutlivesOld(successor, isOutlived)
            // A person who has ended the old card wants no new one; but that may already be on the phone.
            if isOutlived || starts[successor]?.phase == .sent {
                renewals.handOver(slot, to: successor)
                noteAlerts(toldBy: slot, to: successor)
                if mayBeThere(successor) { tellOfRenewal(by: successor) }
            } else {
                fail(successor, .over, at: moment)
            }
        }
        renewals.remove(slot)
        renewals.removeNames(of: slot)
    }
}

extension Moment {
    /// Seconds of the monotonic clock, which wrap around after 136 years.
    var monotonicSeconds: UInt32 { UInt32(truncatingIfNeeded: monotonicNanoseconds / 1_000_000_000) }
}
