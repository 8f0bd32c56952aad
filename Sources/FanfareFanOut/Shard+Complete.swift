package import FanfareModel

extension Shard {
    package func complete(_ completions: [Completion], at moment: Moment) {
        let accepted = counts.pushes.accepted
        var position = 0
        while position < completions.count {
            position += complete(completions, from: position, at: moment)
        }
        if counts.pushes.accepted > accepted { freshness.noteAccepted(at: moment.monotonicNanoseconds) }
        reportIfQuiet()
    }

    /// Applies `completions[start]`, and those after it that have the same effect.
    ///
    /// - Returns: the number of completions applied.
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
            if audience.lineup != nil { rest(Int(activity.audience)) }
            return count
        }
        store[slot].flags.subtract([.inFlight, .ending, .rotated])
        inFlight -= 1
        if activity.flags.contains(.tokenless) {
            completeStart(slot, as: activity, completion.outcome, at: moment)
            return 1
        }
        if completion.outcome.isUnprocessed {
            store[slot].spent = governor.returned(
                activity.sendingAlert, activity.spent,
                store.effect(of: Int(slot.rawValue), atMinute: moment.minuteOfDay))
        }
        // Fetched first, because the audience of a lineup is removed with its last member.
        let audience = activity.sending == 0 ? nil : awake(Int(activity.audience))
        if carriedAlerts.contains(slot) {
            answer(completion.outcome, carryingAlerts: slot, as: activity, at: moment)
        } else {
            settleAlerts(of: activity, completion.outcome, completions[start...start], at: moment)
        }
        complete(slot, as: activity, completion.outcome, at: moment)
        if let audience {
            audience.ledger.land(1, activity.sending)
            reportCompleted(audience, at: moment)
            if audience.lineup != nil { rest(Int(activity.audience)) }
        }
        return 1
    }

    /// Returns the audience of an activity that is up to date once its push in flight is accepted, the common case of a sweep; `nil` in rarer
    /// cases.
    private func broughtUp(_ activity: Activity) -> Audience? {
        guard activity.flags.subtracting(.owedFirst) == .inFlight, activity.sending != 0 else { return nil }
        if activity.flags.contains(.owedFirst), !carriedAlerts.isEmpty { return nil }  // it may carry alerts
        let audience = awake(Int(activity.audience))
        return activity.sending == audience.target ? audience : nil
    }

    private func complete(
        _ slot: ActivitySlot, as activity: Activity, _ outcome: DeliveryOutcome, at moment: Moment
    ) {
        switch outcome {
        case .accepted:
            counts.pushes.accepted += 1
            noteAnswers(1, dead: 0)
            store[slot].strikes = Strikes()
            settle(slot, as: activity, at: moment)
        case .refused:
            counts.pushes.failed += 1
            refuse(slot, as: activity, at: moment)
        case .deadToken where activity.flags.contains(.rotated), .throttled where activity.flags.contains(.rotated),
            .serviceError where activity.flags.contains(.rotated):
            // The token was replaced while this push was in flight: the activity goes on under the new one.
            counts.pushes.notProcessed += 1
            requeue(slot)
        case .deadToken:
            noteAnswers(1, dead: 1)
            // An activity that is leaving may be removed in any case.
            if quarantine.isShut, !activity.flags.contains(.leaving) {
                counts.pushes.held += 1
                hold(slot, at: moment)
            } else {
                counts.pushes.dead += 1
                reportDead(activity.id)
                remove(slot, at: moment)
            }
        case .throttled:
            counts.pushes.throttled += 1
            wait(slot, isOwn: true, at: moment)
        case .notProcessed:
            counts.pushes.notProcessed += 1
            requeue(slot)
        case .serviceError:
            counts.pushes.notProcessed += 1
            service.noteTrouble()
            wait(slot, at: moment)
        case .unknown:
            counts.pushes.uncertain += 1
            if activity.sendingAlert.rides { counts.alerts.uncertain += 1 }
            if let silence = activity.sendingAlert.silence { counts.alerts.add(.silenced(silence), 1) }
            // The push may have arrived: the state is sent again, the alert is not.
            if activity.sending != 0 {
                store[slot].alerted = activity.sending
                store[slot].flags.insert(.owedFirst)
            }
            service.noteTrouble()
            // The cause was probably the connection, so the first failure is retried at once; a second one may be the activity's own.
            if store[slot].strikes.count > 0 {
                wait(slot, at: moment)
            } else {
                _ = store[slot].strikes.add(in: service.number)
                requeue(slot)
            }
        }
    }

    /// Gives up this version for an activity after a refusal, because a repeat would be refused, too. The activity still lacks the version, so
    /// the publication is complete only after it has a newer version, or is removed.
    private func refuse(_ slot: ActivitySlot, as activity: Activity, at moment: Moment) {
        if activity.flags.contains(.ending) {
            if let count = refusedEnds.next() {
                report("\(count) ends have been refused by now: such cards stay until the system ends them")
            }
            report(.notEnded, of: activity.id)
            if activity.flags.contains(.leaving) {
                remove(slot, at: moment)
                return
            }
        }
        if activity.sending != 0 {
            let audience = awake(Int(activity.audience))
            count(activity, -1, in: audience)
            store[slot].alerted = activity.sending
            store[slot].sendingAlert = .refused
            count(store[slot], 1, in: audience)
        }
        requeue(slot)
    }

    /// Applies an accepted push.
    private func settle(_ slot: ActivitySlot, as activity: Activity, at moment: Moment) {
        // Nothing follows an end. A push that was in flight when the activity left or moved settles nothing.
        if activity.flags.contains(.ending) {
            // The successor's card does not repeat the alerts of the end.
            if activity.sending != 0 { store[slot].alerted = activity.sending }
            remove(slot, at: moment)
            return
        }
        if activity.sending != 0 {
            serve(slot, with: activity.sending, of: awake(Int(activity.audience)), at: moment)
        }
        requeue(slot)
    }

    /// Notes that an activity with a pending push has this version now, and that all alerts up to it have had their chance.
    func serve(_ slot: ActivitySlot, with version: UInt32, of audience: Audience, at moment: Moment) {
        let delivered = store[slot].delivered
        store[slot].delivered = version
        store[slot].alerted = version
        store[slot].flags.remove(.owedFirst)
        serve(1, having: delivered, with: version, of: audience, at: moment)
    }

    /// Notes in the audience that members which had the same version before have this one now.
    private func serve(
        _ count: Int, having delivered: UInt32, with version: UInt32, of audience: Audience, at moment: Moment
    ) {
        if version != delivered { audience.ledger.advance(count, from: delivered, to: version) }
        if version == audience.target { self.count(owed: -count, in: audience) }
        reportCompleted(audience, at: moment)
    }

    /// Queues the next push of the activity, if one is pending.
    private func requeue(_ slot: ActivitySlot) {
        let activity = store[slot]
        if activity.flags.contains(.leaving) {
            queueDeparture(slot)
        } else if activity.audience != ActivityStore.noAudience,
            isOwed(activity, awake(Int(activity.audience)))
        {
            comeAgain(slot)
        }
    }

    /// Makes an activity back off after a failure that may be its token's own (429, 5xx): it alone waits, and then gets the newest state.
    ///
    /// - Parameter isOwn: whether the failure is certainly the token's own.
    func wait(_ slot: ActivitySlot, isOwn: Bool = false, at moment: Moment) {
        let delay = store[slot].strikes.add(isOwn: isOwn, in: service.number)
        store[slot].flags.insert(.waiting)
        // Spread over half the delay by slot and generation, so that tokens throttled together do not return together.
        let tenant = UInt64(store[slot].generation) << 32 | UInt64(slot.rawValue)
        let spread = Int64(tenant.mixed % UInt64(delay / 2))
        timers.insert(
            .activity(slot, generation: store[slot].generation), due: moment.monotonicNanoseconds + delay + spread)
    }

    func remove(_ slot: ActivitySlot, at moment: Moment) {
        if store[slot].flags.intersection([.leaving, .tokenless]) == .leaving { leaving -= 1 }
        forgetRenewal(slot, at: moment)
        forgetStart(slot, at: moment)
        carriedAlerts.remove(slot)
        leaveAudience(slot, at: moment)
        nameless.remove(store[slot].id)
        store.remove(slot)
    }

    /// Settles the alerts that this activity, and others in the same state, had missed, after the push that was their chance was answered.
    private func settleAlerts(
        of activity: Activity, _ outcome: DeliveryOutcome, _ completions: ArraySlice<Completion>, at moment: Moment
    ) {
        let silenced = activity.sendingAlert.silence.map(AlertOutcome.silenced)
        // In the figures, a silenced alert counts as silenced after any outcome. `complete` counts the alerts of pushes without an answer.
        let (counted, noted): (AlertOutcome?, AlertOutcome)
        switch outcome {
        case .accepted: (counted, noted) = (silenced ?? .accepted, silenced ?? .accepted)
        case .refused: (counted, noted) = (silenced ?? .refused, .refused)
        case .unknown: (counted, noted) = (nil, silenced ?? .uncertain)
        case .deadToken, .throttled, .serviceError, .notProcessed: return  // it was no chance
        }
        guard activity.sending != 0 else { return }
        let audience = awake(Int(activity.audience))
        let missed = audience.alerts.missed(after: activity.alerted)
        guard !missed.isEmpty else { return }
        let settled = missed.prefix { $0.version <= activity.sending }
        let chance = activity.sendingAlert
        let lead = settled.firstIndex { $0.version == chance.version }
        let classifier = AlertClassifier(settled, led: lead, at: moment)
        if let counted {
            var displaced = audience.alerts.displaced(after: activity.alerted, through: activity.sending)
            if lead == nil, chance.version > activity.alerted, displaced > 0 {
                // The push's own alert was displaced by a newer one while the push was in flight.
                counts.alerts.add(counted, completions.count)
                displaced -= 1
            }
            counts.alerts.superseded += displaced * completions.count
            classifier.count(told: counted, activities: completions.count, in: &counts.alerts)
        }
        classifier.note(told: noted, of: completions.lazy.map(\.slot), in: &store.alertMemory)
    }
}
