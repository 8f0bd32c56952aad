import FanfareModel
import FanfareQueues

/// Checks the ages of activities, and ends, renews or removes those that are old.
final class AgeChecks {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let enrolment: Enrolment
    private let lineupPublisher: LineupPublisher
    private let missedAlerts: MissedAlerts
    private let lifecycle: Lifecycle
    private let starter: Starter
    /// Ends that were not accepted before the system ended the card.
    var lostEnds = Milestones()

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ enrolment: Enrolment,
        _ lineupPublisher: LineupPublisher, _ missedAlerts: MissedAlerts, _ lifecycle: Lifecycle, _ starter: Starter
    ) {
        self.reporter = reporter
        self.membership = membership
        self.enrolment = enrolment
        self.lineupPublisher = lineupPublisher
        self.missedAlerts = missedAlerts
        self.lifecycle = lifecycle
        self.starter = starter
    }

    /// Runs a pass of the scan for old activities.
    func scanAges(at moment: Moment) {
        let now = moment.monotonic
        for _ in 0..<lifecycle.ageScanner.beginPass(over: membership.store.activities.count, at: now) {
            let due = checkAge(of: lifecycle.ageScanner.nextVisit(at: now), at: moment)
            guard lifecycle.ageScanner.endVisit(due: due, at: now) else {
                break
            }
        }
        if let due = lifecycle.ageScanner.nextPass(hasActivities: membership.store.count > 0, at: now) {
            lifecycle.scheduleAgeScan(at: due)
        }
    }

    /// Ends, renews or removes an activity if its age requires that.
    ///
    /// - Returns: the time of the next check; `nil` if none is needed.
    private func checkAge(of slot: ActivitySlot, at moment: Moment) -> MonotonicTime? {
        let activity = membership.store[slot]
        let age = lifecycle.age(of: slot, at: moment)
        func due(at wanted: Int64) -> MonotonicTime { moment.monotonic.advanced(byNanoseconds: wanted - age) }
        // There is no card before its start has left.
        if activity.flags.contains(.tokenless), lifecycle.starts[slot]?.phase != .sent {
            guard age >= PendingStart.patience else { return due(at: PendingStart.patience) }
            lifecycle.fail(slot, .waitedTooLong, at: moment)
            return nil
        }
        guard age >= lifecycle.ageScanner.renewAge else { return due(at: lifecycle.ageScanner.renewAge) }
        // An activity that cannot be sent an end now is removed after the system has ended its card.
        guard activity.flags.isDisjoint(with: [.tokenless, .leaving, .ending]) else {
            return expire(slot, at: moment) ? nil : due(at: lifecycle.ageScanner.lifetime)
        }
        guard activity.audience != .none else { return nil }  // the slot is free
        let renewal = lifecycle.renewals[slot].flatMap { $0.hasFailed ? nil : $0 }
        // Before the end, only a renewal depends on the content of the audience. Otherwise the audiences of a million quiet followers of one age
        // would all become objects.
        guard renewal != nil || age >= lifecycle.ageScanner.endAge else {
            return due(at: lifecycle.ageScanner.endAge)
        }
        let audience = membership.awake(activity.audience)
        lineupPublisher.bringUpToDate(audience, at: moment)
        if let renewal, renewal.successor != nil || audience.newest.publication?.expiry.renews == true {
            if renewal.successor == nil { renew(slot, renewal, at: moment) }
            // While the new card is being started, the old one stays until the system ends it.
            return expire(slot, at: moment) ? nil : due(at: lifecycle.ageScanner.lifetime)
        }
        guard age >= lifecycle.ageScanner.endAge else {
            // The check puts an audience that was at rest to rest again.
            membership.rest(activity.audience)
            return due(at: lifecycle.ageScanner.endAge)
        }
        reporter.report(.expired, of: membership.store.name(of: slot))
        lifecycle.lastStates[slot] = activity.audience
        enrolment.retain(activity.audience)
        let missed = missedAlerts.alertsMissed(by: slot, at: moment)
        lifecycle.depart(slot, at: moment)
        // The end carries these alerts, and those published until it leaves.
        membership.store[slot].alerted = audience.target
        _ = membership.carriedAlerts.carry(missed, by: slot, at: audience.target, isFollower: audience.lineup == nil)
        return due(at: lifecycle.ageScanner.lifetime)
    }

    /// Removes the activity if the system has ended its card and no push is in flight.
    ///
    /// - Returns: whether the activity was removed.
    private func expire(_ slot: ActivitySlot, at moment: Moment) -> Bool {
        let flags = membership.store[slot].flags
        guard lifecycle.age(of: slot, at: moment) >= lifecycle.ageScanner.lifetime, !flags.contains(.inFlight) else {
            return false
        }
        if !flags.contains(.leaving), lifecycle.successor(of: slot) == nil {
            reporter.report(.expired, of: membership.store.name(of: slot))
        }
        // Without a token there may never have been a card.
        if flags.contains(.leaving), !flags.contains(.tokenless) {
            if let count = lostEnds.next() {
                reporter.report(
                    "\(count) ends have not arrived by now: the system has ended such cards after eight hours")
            }
            lifecycle.abandonDeparture(slot)
        }
        lifecycle.remove(slot, at: moment)
        return true
    }

    private func renew(_ slot: ActivitySlot, _ renewal: Renewal, at moment: Moment) {
        let edition = renewal.edition + 1
        let successor = ActivityID(renewal.request.name(edition: edition))
        guard membership.slot(of: successor) == nil else {
            lifecycle.renewals.fail(slot)
            return
        }
        lifecycle.renewals.begin(slot, successor: successor)
        starter.start(
            successor, renewal.request, edition: edition, renewing: membership.store.name(of: slot),
            in: membership.store[slot].audience,
            at: moment)
    }
}
