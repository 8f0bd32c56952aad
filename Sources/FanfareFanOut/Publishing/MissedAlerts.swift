import FanfareModel

/// The alerts that activities have missed: those that a push may carry, those that an activity carries along when it moves, and their outcomes.
final class MissedAlerts {
    private let membership: Membership
    private let lineupPublisher: LineupPublisher
    /// Alerts by outcome. Unchecked for the reason given in `Membership`.
    @safe @exclusivity(unchecked) private(set) var counts = AlertCounts()

    init(_ membership: Membership, _ lineupPublisher: LineupPublisher) {
        self.membership = membership
        self.lineupPublisher = lineupPublisher
    }

    /// Settles the alerts that this activity, and others in the same state, had missed, after the push that was their attempt was answered.
    func settleAlerts(
        of activity: Activity, _ outcome: DeliveryOutcome, _ completions: ArraySlice<DeliveryCompletion>,
        at moment: Moment
    ) {
        let silenced = activity.sendingAlert.silence.map(AlertOutcome.silenced)
        // In the figures, a silenced alert counts as silenced after any outcome. `countUnanswered` counts the alerts of pushes without an answer.
        let (counted, noted): (AlertOutcome?, AlertOutcome)
        switch outcome {
        case .accepted: (counted, noted) = (silenced ?? .accepted, silenced ?? .accepted)
        case .refused: (counted, noted) = (silenced ?? .refused, .refused)
        case .uncertain: (counted, noted) = (nil, silenced ?? .uncertain)
        case .deadToken, .throttled, .serviceError, .notProcessed: return  // the push was no attempt
        }
        guard activity.sending != 0 else { return }
        let audience = membership.awake(activity.audience)
        let missed = audience.alerts.missed(after: activity.alerted)
        guard !missed.isEmpty else { return }
        let settled = missed.prefix { $0.version <= activity.sending }
        let attempt = activity.sendingAlert
        let lead = settled.firstIndex { $0.version == attempt.version }
        let classifier = AlertClassifier(settled, led: lead, at: moment)
        if let counted {
            var displaced = audience.alerts.displaced(after: activity.alerted, through: activity.sending)
            if lead == nil, attempt.version > activity.alerted, displaced > 0 {
                // The push's own alert was displaced by a newer one while the push was in flight.
                counts.add(counted, completions.count)
                displaced -= 1
            }
            counts.superseded += displaced * completions.count
            classifier.count(outcome: counted, activities: completions.count, in: &counts)
        }
        note(classifier, outcome: noted, of: completions.lazy.map(\.slot))
    }

    /// Makes this member's next push carry the alerts that another card has missed.
    func carry(_ missed: CarriedAlerts.Entry, by slot: ActivitySlot) {
        let audience = membership.awake(membership.store[slot].audience)
        let carries = membership.carriedAlerts.carry(
            missed, by: slot, at: membership.store[slot].alerted, isFollower: audience.lineup == nil)
        guard carries else { return }
        membership.recount(slot, in: audience) { $0.flags.insert(.needsPush) }
        membership.queueVisit(slot)
    }

    func alertsMissed(by slot: ActivitySlot, at moment: Moment) -> CarriedAlerts.Entry {
        var missed = membership.carriedAlerts[slot] ?? CarriedAlerts.Entry()
        let index = membership.store[slot].audience
        guard index != .none else { return missed }
        lineupPublisher.bringUpToDate(membership.awake(index), at: moment)
        // The activity is read after the lineup is up to date, because that may send the activity a push.
        let activity = membership.store[slot]
        let own = membership.awake(index).alerts.missed(after: activity.alerted)
        if activity.flags.contains(.inFlight), activity.sending != 0 {
            let sent = own.prefix { $0.version <= activity.sending }
            missed.inFlight += missed.pending + sent
            missed.pending = Array(own.dropFirst(sent.count))
        } else {
            missed.pending += own
        }
        let kept = Array(missed.pending.kept)
        counts.superseded += missed.pending.count - kept.count
        missed.pending = kept
        return missed
    }

    /// Returns the alerts that the activity's next push may carry: those carried along, and those missed in its audience since. They are as few as an
    /// audience keeps, because otherwise an older alert would outlive a newer one.
    func pending(_ slot: ActivitySlot, of audience: Audience) -> ArraySlice<PendingAlert> {
        ((membership.carriedAlerts[slot]?.pending ?? []) + audience.alerts.missed(after: membership.store[slot].alerted))
            .kept
    }

    /// Settles the alerts that an activity carries along after a push was answered: either the one with these alerts, or one that left before
    /// the move and was the attempt for some of them.
    func answer(
        _ outcome: DeliveryOutcome, carryingAlerts slot: ActivitySlot, as activity: Activity, at moment: Moment
    ) {
        switch outcome {
        case .accepted, .refused, .uncertain:
            if activity.sending != 0 {
                if outcome != .uncertain {
                    let settled = pending(slot, of: membership.awake(activity.audience))
                        .prefix { $0.version <= activity.sending }
                    let lead = activity.sendingAlert.isNone ? nil : settled.selection(at: moment)?.lead
                    let silenced = activity.sendingAlert.silence.map(AlertOutcome.silenced)
                    let selected = silenced ?? (outcome == .accepted ? .accepted : .refused)
                    let classifier = AlertClassifier(settled, led: lead, at: moment)
                    classifier.count(outcome: selected, activities: 1, in: &counts)
                    note(classifier, outcome: selected, of: CollectionOfOne(slot))
                }
                membership.carriedAlerts.remove(slot)
            } else {
                let settled = membership.carriedAlerts.takeInFlight(of: slot)[...]
                if outcome != .uncertain {
                    AlertClassifier(settled, led: settled.selection(at: moment)?.lead, at: moment)
                        .count(
                            outcome: outcome == .accepted ? .accepted : .refused, activities: 1, in: &counts)
                } else if outcome == .uncertain, !settled.isEmpty {
                    counts.uncertain += 1
                }
            }
        case .throttled, .serviceError, .notProcessed, .deadToken: membership.carriedAlerts.returnInFlight(of: slot)
        }
    }

    /// Settles alerts that the activity missed without a push: it shows the newest version already.
    // Inlined twice, this would make every visit's code larger.
    @inline(never) func passOver(
        _ missed: ArraySlice<PendingAlert>, led lead: Int?, outcome: AlertOutcome, for slot: ActivitySlot,
        of audience: Audience, at moment: Moment
    ) {
        let displaced = audience.alerts.displaced(
            after: membership.store[slot].alerted, through: audience.target)
        settle(missed, displaced: displaced, led: lead, outcome: outcome, for: slot, at: moment)
    }

    /// Counts and notes the outcomes of the alerts that an activity had missed.
    ///
    /// - Parameters:
    ///   - displaced: number of alerts that newer ones of `missed` have displaced.
    ///   - outcome: the outcome of the alerts that a push carried, or would have carried.
    func settle(
        _ missed: ArraySlice<PendingAlert>, displaced: Int, led lead: Int?, outcome: AlertOutcome,
        for slot: ActivitySlot, at moment: Moment
    ) {
        let classifier = AlertClassifier(missed, led: lead, at: moment)
        classifier.count(outcome: outcome, activities: 1, in: &counts)
        counts.superseded += displaced
        note(classifier, outcome: outcome, of: CollectionOfOne(slot))
    }

    /// Counts the only alert that the member of a lineup had missed.
    func count(_ outcome: AlertOutcome) { counts.add(outcome, 1) }

    /// Counts the alerts of a push without an answer.
    func countUnanswered(_ attempt: AlertAttempt) {
        if attempt.isSent { counts.uncertain += 1 }
        if let silence = attempt.silence { counts.add(.silenced(silence), 1) }
    }

    private func note(_ classifier: AlertClassifier, outcome: AlertOutcome, of slots: some Sequence<ActivitySlot>) {
        guard membership.store.alertMemory.isKept else { return }
        membership.store.alertMemory.note(classifier.numbered(outcome: outcome), of: slots)
    }
}
