extension Shard {
    public func complete(_ completions: [Completion], at moment: Moment) {
        var position = 0
        while position < completions.count {
            position += complete(completions, from: position, at: moment)
        }
        reportIfQuiet()
    }

    /// Takes note of `completions[start]`, and of those after it that mean the same.
    ///
    /// - Returns: how many.
    private func complete(_ completions: [Completion], from start: Int, at moment: Moment) -> Int {
        let completion = completions[start]
        let slot = completion.slot
        guard Int(slot.rawValue) < store.activities.count else { return 1 }
        let activity = store[slot]
        guard activity.generation == completion.generation, activity.flags.contains(.inFlight) else { return 1 }
        if completion.outcome == .accepted, let audience = broughtUp(activity) {
            let count = store.settle(completions, from: start, like: activity)
            inFlight -= count
            counts.pushes.accepted += count
            noteAnswers(count, dead: 0)
            settleAlerts(of: activity, .accepted, completions[start..<start + count], at: moment)
            serve(count, having: activity.delivered, with: audience.target, of: audience, at: moment)
            audience.ledger.land(count, audience.target)
            return count
        }
        store[slot].flags.subtract([.inFlight, .ending, .rotated])
        inFlight -= 1
        if activity.flags.contains(.tokenless) {
            completeStart(slot, as: activity, completion.outcome, at: moment)
            return 1
        }
        // The last member takes its lineup's audience with it.
        let audience = activity.sending == 0 ? nil : audiences[Int(activity.audience)]
        if brings(slot) {
            answer(completion.outcome, bringing: slot, as: activity, at: moment)
        } else {
            settleAlerts(of: activity, completion.outcome, completions[start...start], at: moment)
        }
        complete(slot, as: activity, completion.outcome, at: moment)
        if let audience {
            audience.ledger.land(1, activity.sending)
            reportCompleted(audience, at: moment)
        }
        return 1
    }

    /// The audience of an activity that owes nothing more to anybody once the push in flight is accepted: what a sweep is made
    /// of. Everything rarer is `nil` here.
    private func broughtUp(_ activity: Activity) -> Audience? {
        guard activity.flags.subtracting(.owedFirst) == .inFlight, activity.sending != 0 else { return nil }
        if activity.flags.contains(.owedFirst), !brought.isEmpty { return nil }  // it may have brought alerts along
        let audience = audiences[Int(activity.audience)]
        return activity.sending == audience.target ? audience : nil
    }

    private func complete(
        _ slot: ActivitySlot, as activity: Activity, _ outcome: DeliveryOutcome, at moment: Moment
    ) {
        switch outcome {
        case .accepted:
            counts.pushes.accepted += 1
            noteAnswers(1, dead: 0)
            store[slot].strikes = 0
            settle(slot, as: activity, at: moment)
        case .refused:
            counts.pushes.failed += 1
            settle(slot, as: activity, at: moment)
        case .deadToken where activity.flags.contains(.rotated):
            // The dead token was replaced while this push was on its way: the activity lives on under the new one.
            counts.pushes.notProcessed += 1
            requeue(slot)
        case .deadToken:
            noteAnswers(1, dead: 1)
            // Who has left may go in any case.
            if deadTokens.isShut, !activity.flags.contains(.leaving) {
                counts.pushes.held += 1
                hold(slot, at: moment)
            } else {
                counts.pushes.dead += 1
                reportDead(activity.id)
                remove(slot, at: moment)
            }
        case .throttled:
            counts.pushes.throttled += 1
            wait(slot, at: moment)
        case .notProcessed:
            counts.pushes.notProcessed += 1
            requeue(slot)
        case .unknown:
            counts.pushes.uncertain += 1
            if activity.sendingAlert.rides { counts.alerts.uncertain += 1 }
            if let silence = activity.sendingAlert.silence { counts.alerts.note(silence, 1) }
            // It may have arrived: the state goes again, the alert does not.
            if activity.sending != 0 {
                store[slot].alerted = activity.sending
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
        if activity.sending != 0 {
            serve(slot, with: activity.sending, of: audiences[Int(activity.audience)], at: moment)
        }
        requeue(slot)
    }

    /// The activity, which was owed a push, has this version now, and all alerts up to it have had their chance.
    func serve(_ slot: ActivitySlot, with version: UInt32, of audience: Audience, at moment: Moment) {
        let delivered = store[slot].delivered
        store[slot].delivered = version
        store[slot].alerted = version
        store[slot].flags.remove(.owedFirst)
        serve(1, having: delivered, with: version, of: audience, at: moment)
    }

    /// The audience's part of that, for several members that had the same version before.
    private func serve(
        _ count: Int, having delivered: UInt32, with version: UInt32, of audience: Audience, at moment: Moment
    ) {
        if version != delivered { audience.ledger.advance(count, from: delivered, to: version) }
        if version == audience.target {
            audience.owed -= count
            counts.owed -= count
        }
        reportCompleted(audience, at: moment)
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
    func wait(_ slot: ActivitySlot, at moment: Moment) {
        let strikes = min(store[slot].strikes, 6)
        store[slot].strikes = strikes + 1
        store[slot].flags.insert(.waiting)
        // Spread over half the delay by the activity's name, so that tokens throttled together do not return together.
        let delay = Int64(1_000_000_000) << Int64(strikes)
        let spread = Int64(store[slot].id.rawValue.mixed % UInt64(delay / 2))
        timers.insert(
            .activity(slot, generation: store[slot].generation), due: moment.monotonicNanoseconds + delay + spread)
    }

    func remove(_ slot: ActivitySlot, at moment: Moment) {
        if store[slot].flags.intersection([.leaving, .tokenless]) == .leaving { leaving -= 1 }
        forgetRenewal(slot, at: moment)
        forgetStart(slot, at: moment)
        forgetBrought(slot)
        leaveAudience(slot, at: moment)
        store.remove(slot)
    }

    /// What became of the alerts that this activity, and others like it, had missed: decided when the push that was their chance
    /// has been answered.
    private func settleAlerts(
        of activity: Activity, _ outcome: DeliveryOutcome, _ completions: ArraySlice<Completion>, at moment: Moment
    ) {
        let told: AlertOutcome
        switch outcome {
        case .accepted: told = activity.sendingAlert.silence.map(AlertOutcome.silenced) ?? .accepted
        case .refused: told = .refused
        case .unknown: told = activity.sendingAlert.silence.map(AlertOutcome.silenced) ?? .uncertain
        case .deadToken, .throttled, .notProcessed: return  // it was no chance
        }
        guard activity.sending != 0 else { return }
        let settled = audiences[Int(activity.audience)].alerts(after: activity.alerted)
            .prefix { $0.version <= activity.sending }
        guard !settled.isEmpty else { return }
        let chance = activity.sendingAlert
        let lead = settled.firstIndex { $0.version == chance.version }
        if outcome == .accepted {
            countAlerts(settled, led: lead, silence: chance.silence, completions.count, at: moment)
        }
        rememberAlerts(settled, led: lead, told: told, of: completions.lazy.map(\.slot), at: moment)
    }

    /// - Parameters:
    ///   - led: the alert that led, or would have; `nil` when there was none to tell of.
    ///   - silence: what kept it, and those beside it, from being told.
    func countAlerts(
        _ missed: ArraySlice<PendingAlert>, led: Int?, silence: Silence?, _ count: Int, at moment: Moment
    ) {
        let beside = led.flatMap { missed[...$0].told(at: moment)?.beside } ?? []
        for index in missed.indices {
            if index == led || beside.contains(index) {
                if let silence { counts.alerts.note(silence, count) } else { counts.alerts.accepted += count }
            } else if missed[index].isRevoked {
                counts.alerts.revoked += count
            } else if let led, (missed[index].alert.class, index) < (missed[led].alert.class, led) {
                counts.alerts.superseded += count
            } else {
                counts.alerts.stale += count
            }
        }
    }
}

extension ShardCounts.Alerts {
    fileprivate mutating func note(_ silence: Silence, _ count: Int) {
        switch silence {
        case .masked, .quietHours: silenced += count
        case .tooMany, .budget: limited += count
        }
    }
}
