extension Shard {
    public func complete(_ completions: [Completion], at moment: Moment) {
        for completion in completions { complete(completion, at: moment) }
        reportIfQuiet()
    }

    private func complete(_ completion: Completion, at moment: Moment) {
        let slot = completion.slot
        guard Int(slot.rawValue) < store.activities.count else { return }
        let activity = store[slot]
        guard activity.generation == completion.generation, activity.flags.contains(.inFlight) else { return }
        store[slot].flags.subtract([.inFlight, .ending, .rotated])
        inFlight -= 1
        switch completion.outcome {
        case .accepted:
            counts.pushes.accepted += 1
            store[slot].strikes = 0
            countAlerts(of: activity)
            settle(slot, as: activity, at: moment)
        case .refused:
            counts.pushes.failed += 1
            settle(slot, as: activity, at: moment)
        case .deadToken where activity.flags.contains(.rotated):
            // The dead token was replaced while this push was on its way: the activity lives on under the new one.
            counts.pushes.notProcessed += 1
            sendAgain(slot, as: activity)
        case .deadToken:
            counts.pushes.dead += 1
            reportDead(activity.id)
            remove(slot, at: moment)
        case .throttled:
            counts.pushes.throttled += 1
            restoreAlerts(slot, as: activity)
            wait(slot, at: moment)
        case .notProcessed:
            counts.pushes.notProcessed += 1
            sendAgain(slot, as: activity)
        case .unknown:
            counts.pushes.uncertain += 1
            if activity.sendingAlert != 0 { counts.alerts.uncertain += 1 }
            // It may have arrived: the state goes again, the alert does not (`alerted` stays where the sending put it).
            if activity.audience != ActivityStore.noAudience, activity.sending != 0 {
                store[slot].flags.insert(.owedFirst)
            }
            requeue(slot)
        }
    }

    /// The push is settled: accepted, or refused in a way that repeating does not mend.
    private func settle(_ slot: ActivitySlot, as activity: Activity, at moment: Moment) {
        // Nothing follows an end. A push that was on its way when the person left or moved settles nothing.
        if activity.flags.contains(.ending) {
            remove(slot, at: moment)
            return
        }
        if activity.audience != ActivityStore.noAudience, activity.sending != 0 {
            serve(slot, with: activity.sending, of: audiences[Int(activity.audience)], at: moment)
        }
        requeue(slot)
    }

    /// The activity, which was owed a push, has this version now.
    func serve(_ slot: ActivitySlot, with version: UInt32, of audience: Audience, at moment: Moment) {
        let delivered = store[slot].delivered
        if version != delivered {
            audience.ledger.advance(from: delivered, to: version)
            store[slot].delivered = version
        }
        store[slot].flags.remove(.owedFirst)
        if version == audience.target {
            audience.owed -= 1
            counts.owed -= 1
        }
        reportCompleted(audience, at: moment)
    }

    private func sendAgain(_ slot: ActivitySlot, as activity: Activity) {
        restoreAlerts(slot, as: activity)
        requeue(slot)
    }

    /// The push was not processed, so what it carried has not had its chance yet.
    private func restoreAlerts(_ slot: ActivitySlot, as activity: Activity) {
        if activity.sending != 0 { store[slot].alerted = activity.alertedBefore }
    }

    /// Sees to it that whatever the activity is still owed reaches it.
    private func requeue(_ slot: ActivitySlot) {
        let activity = store[slot]
        if activity.flags.contains(.leaving) {
            departing.append(slot)
        } else if activity.audience != ActivityStore.noAudience,
            isOwed(activity, audiences[Int(activity.audience)])
        {
            comeAgain(slot)
        }
    }

    /// 429 is this token's own: it alone waits, 1 s at first, doubling to about a minute, and then gets the newest state.
    private func wait(_ slot: ActivitySlot, at moment: Moment) {
        let strikes = min(store[slot].strikes, 6)
        store[slot].strikes = strikes + 1
        store[slot].flags.insert(.waiting)
        // Spread over half the delay by the activity's name, so that tokens throttled together do not return together.
        let delay = Int64(1_000_000_000) << Int64(strikes)
        let spread = Int64(store[slot].id.rawValue.mixed % UInt64(delay / 2))
        retries.insert(
            .activity(slot, generation: store[slot].generation), due: moment.monotonicNanoseconds + delay + spread)
    }

    private func remove(_ slot: ActivitySlot, at moment: Moment) {
        if store[slot].flags.contains(.leaving) { leaving -= 1 }
        leaveAudience(slot, at: moment)
        store.remove(slot)
    }

    /// What became of the alerts this activity had missed, decided when the push that was their chance has been accepted.
    private func countAlerts(of activity: Activity) {
        guard activity.audience != ActivityStore.noAudience, activity.sending != 0 else { return }
        let audience = audiences[Int(activity.audience)]
        guard audience.newestAlert > activity.alertedBefore else { return }
        let alerts = audience.alerts
        let carried = alerts.first { $0.version == activity.sendingAlert }
        for missed in alerts where missed.version > activity.alertedBefore && missed.version <= activity.sending {
            if missed.version == activity.sendingAlert {
                counts.alerts.accepted += 1
            } else if missed.isRevoked {
                counts.alerts.revoked += 1
            } else if let carried, (missed.alert.class, missed.version) < (carried.alert.class, carried.version) {
                counts.alerts.superseded += 1
            } else {
                counts.alerts.stale += 1
            }
        }
    }
}
