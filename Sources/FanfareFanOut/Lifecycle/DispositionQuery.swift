import FanfareModel
import FanfareQueues

/// Answers questions about the disposition of an alert for an activity (rule A3).
struct DispositionQuery {
    let membership: Membership
    let lineupPublisher: LineupPublisher
    let lifecycle: Lifecycle
    let governor: SubscriberGovernor

    func disposition(of cause: String, in topic: TopicID, for id: ActivityID, at moment: Moment) -> AlertDisposition {
        membership.store.alertMemory.begin(membership.store.activities.count)
        guard let slot = lifecycle.slot(of: id) else { return .noActivity }
        // An activity that is ended for its age gets the alert with its end, unless it has been unfollowed.
        let lastState = membership.store[slot].flags.contains(.leaving) ? lifecycle.lastStates[slot] : nil
        guard lastState != nil || !membership.store[slot].flags.contains(.leaving) else { return .noActivity }
        func isMeant(_ pending: PendingAlert) -> Bool { pending.alert.cause == cause && pending.topic == topic }
        let activity = membership.store[slot]
        let start = lifecycle.starts[slot]
        let index = lastState ?? start?.audience ?? activity.audience
        let audience = membership.awake(index)
        // The question puts an audience that was at rest to rest again.
        defer { membership.rest(index) }
        lineupPublisher.bringUpToDate(audience, at: moment)
        completeHistory(of: audience)
        let carried = membership.carriedAlerts[slot]
        if carried?.inFlight.contains(where: isMeant) == true { return .planned }
        if lastState != nil, activity.flags.contains(.ending) { return .noActivity }  // the end lacked the alert
        let alerted = start.map { $0.shown?.alerted ?? audience.target } ?? activity.alerted
        let isCarried = carried?.pending.contains(where: isMeant) == true
        guard let alert = audience.alerts.pending.last(where: isMeant), alert.version > alerted || !isCarried else {
            return isCarried
                ? dispositionIfSent(isMeant, for: slot, of: audience, after: alerted, at: moment) : .silenced(.unknown)
        }
        guard alert.version > alerted else {
            return membership.store.alertMemory.outcome(number: alert.number, of: slot).disposition
        }
        if alert.isRevoked { return .silenced(.revoked) }
        if activity.flags.contains(.inFlight), activity.sending >= alert.version {
            let sent = audience.alerts.missed(after: alerted).prefix { $0.version <= activity.sending }
            guard let selection = sent.selection(at: moment),
                sent.indices.contains(where: { selection.contains($0) && isMeant(sent[$0]) })
            else { return .silenced(.superseded) }
            return activity.sendingAlert.silence.map { .silenced(.preferences($0)) } ?? .planned
        }
        return dispositionIfSent(isMeant, for: slot, of: audience, after: alerted, at: moment)
    }

    /// Restores the alerts from before the lineup rested.
    private func completeHistory(of audience: Audience) {
        guard let lineup = audience.lineup, lineup.historyIsShort else { return }
        lineup.historyIsShort = false
        let known = audience.alerts.pending.map(\.issue)
        audience.restoreAlerts(
            membership.lineups.alertsTaken(lineup.row).filter { taken in !known.contains { $0 === taken } })
    }

    /// Returns the disposition that the alert would have in a push that left now.
    func dispositionIfSent(
        _ isMeant: (PendingAlert) -> Bool, for slot: ActivitySlot, of audience: Audience, after alerted: UInt32,
        at moment: Moment
    ) -> AlertDisposition {
        let missed = ((membership.carriedAlerts[slot]?.pending ?? []) + audience.alerts.missed(after: alerted)).kept
        guard let own = missed.last(where: isMeant) else { return .silenced(.unknown) }
        if own.isRevoked { return .silenced(.revoked) }
        if !own.isCarried(at: moment) { return .silenced(.stale) }
        guard let selection = missed.selection(at: moment),
            missed.indices.contains(where: { selection.contains($0) && isMeant(missed[$0]) })
        else { return .silenced(.superseded) }
        let request = SubscriberGovernor.PushRequest(
            alert: missed[selection.lead].alert.class, priority: audience.priority,
            isEnd: audience.event == .end || membership.store[slot].flags.contains(.leaving))
        let decision = governor.decision(
            on: request, for: membership.store[slot].budgetUse,
            membership.store.effect(of: Int(slot.rawValue), atMinute: moment.minuteOfDay),
            after: UInt32(moment.stampSecond) - min(UInt32(moment.stampSecond), membership.store[slot].stamp))
        return decision.silence.map { .silenced(.preferences($0)) } ?? .planned
    }
}
