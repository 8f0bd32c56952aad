import FanfareModel

extension Shard {
    /// Moves an activity to another audience.
    ///
    /// - Parameter key: a key that `refusal(of:)` does not refuse.
    func move(_ slot: ActivitySlot, to key: AudienceKey, at moment: Moment) {
        guard !store[slot].flags.contains(.leaving) else { return }
        // Nothing follows an end in flight. But if a successor's card may exist, the name is about to mean that one.
        let isEnding = store[slot].flags.contains(.ending) || awaitsEnd(slot, of: key)
        let successor = successor(of: slot).flatMap { successor in
            awaitsEnd(successor, of: key) || isEnding && starts[successor]?.phase != .sent ? nil : successor
        }
        if isEnding, successor == nil { return }
        let index = audienceIndex(key, at: moment)
        if let successor { moveStart(successor, to: index, at: moment) }
        if isEnding { return }
        guard !store[slot].flags.contains(.tokenless) else {
            moveStart(slot, to: index, at: moment)
            return
        }
        guard store[slot].audience != UInt32(index) else { return }
        // The topics of an audience without a version are over or were never published: it waits for a first publication.
        let shown = awake(index).target > 0 ? Set(awake(index).topics.map { topics[$0].id }) : []
        let missed = alertsMissed(by: slot, at: moment).filter { shown.contains($0.topic) && $0.isCarried(at: moment) }
        leaveAudience(slot, at: moment)
        join(slot, index)
        if carriedAlerts.carry(missed, by: slot, at: store[slot].alerted) { comeAgain(slot) }
    }

    /// Makes this member's next push carry the alerts that another card has missed.
    func carry(_ missed: CarriedAlerts.Entry, by slot: ActivitySlot) {
        guard carriedAlerts.carry(missed, by: slot, at: store[slot].alerted) else { return }
        let audience = awake(Int(store[slot].audience))
        count(store[slot], -1, in: audience)
        store[slot].flags.insert(.owedFirst)
        count(store[slot], 1, in: audience)
        comeAgain(slot)
    }

    func alertsMissed(by slot: ActivitySlot, at moment: Moment) -> CarriedAlerts.Entry {
        let activity = store[slot]
        var missed = carriedAlerts[slot] ?? CarriedAlerts.Entry()
        guard activity.audience != ActivityStore.noAudience else { return missed }
        bringUpToDate(awake(Int(activity.audience)), at: moment)
        let own = awake(Int(activity.audience)).alerts.missed(after: activity.alerted)
        if activity.flags.contains(.inFlight), activity.sending != 0 {
            let sent = own.prefix { $0.version <= activity.sending }
            missed.inFlight += missed.pending + sent
            missed.pending = Array(own.dropFirst(sent.count))
        } else {
            missed.pending += own
        }
        let kept = Array(missed.pending.kept)
        counts.alerts.superseded += missed.pending.count - kept.count
        missed.pending = kept
        return missed
    }

    /// Returns the alerts that the activity's next push may carry: those carried along, and those missed in its audience since, limited like
    /// an audience's, because otherwise an older one would outlive a newer one.
    func pending(_ slot: ActivitySlot, of audience: Audience) -> ArraySlice<PendingAlert> {
        ((carriedAlerts[slot]?.pending ?? []) + audience.alerts.missed(after: store[slot].alerted)).kept
    }

    /// Settles the alerts that an activity carries along after a push was answered: either the one with these alerts, or one that left before
    /// the move and was the chance for some of them.
    func answer(
        _ outcome: DeliveryOutcome, carryingAlerts slot: ActivitySlot, as activity: Activity, at moment: Moment
    ) {
        switch outcome {
        case .accepted, .refused, .unknown:
            if activity.sending != 0 {
                if outcome != .unknown {
                    let settled = pending(slot, of: awake(Int(activity.audience)))
                        .prefix { $0.version <= activity.sending }
                    let lead = activity.sendingAlert.isNone ? nil : settled.told(at: moment)?.lead
                    let silenced = activity.sendingAlert.silence.map(AlertOutcome.silenced)
                    let told = silenced ?? (outcome == .accepted ? .accepted : .refused)
                    let classifier = AlertClassifier(settled, led: lead, at: moment)
                    classifier.count(told: told, activities: 1, in: &counts.alerts)
                    classifier.note(told: told, of: CollectionOfOne(slot), in: &store.alertMemory)
                }
                carriedAlerts.remove(slot)
            } else {
                let settled = carriedAlerts.takeInFlight(of: slot)[...]
                if outcome != .unknown {
                    AlertClassifier(settled, led: settled.told(at: moment)?.lead, at: moment)
                        .count(
                            told: outcome == .accepted ? .accepted : .refused, activities: 1, in: &counts.alerts)
                } else if outcome == .unknown, !settled.isEmpty {
                    counts.alerts.uncertain += 1
                }
            }
        case .throttled, .serviceError, .notProcessed, .deadToken: carriedAlerts.returnInFlight(of: slot)
        }
    }
}
