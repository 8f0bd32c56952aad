import FanfareModel

/// Moves activities from one audience to another, with the alerts that they have missed.
final class Moves {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let enrolment: Enrolment
    private let publisher: TopicPublisher
    private let missedAlerts: MissedAlerts
    private let lifecycle: Lifecycle
    /// Destinations of activities whose ends are in flight. An activity moves there if its end does not arrive.
    private var postponed: [ActivitySlot: AudienceKey] = [:]

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ enrolment: Enrolment, _ publisher: TopicPublisher,
        _ missedAlerts: MissedAlerts, _ lifecycle: Lifecycle
    ) {
        self.reporter = reporter
        self.membership = membership
        self.enrolment = enrolment
        self.publisher = publisher
        self.missedAlerts = missedAlerts
        self.lifecycle = lifecycle
    }

    /// Moves the activity with this name to another audience, if it is known and can move.
    func move(_ id: ActivityID, to key: AudienceKey, at moment: Moment) {
        if let slot = lifecycle.slot(of: id) {
            moveIfMay(slot, id, to: key, at: moment)
        } else {
            reporter.refuse(id, .unknownActivity)
        }
        lifecycle.noteStored(id, key)
    }

    private func moveIfMay(_ slot: ActivitySlot, _ id: ActivityID, to key: AudienceKey, at moment: Moment) {
        guard let refusal = membership.topics.refusal(of: key) else { return move(slot, to: key, at: moment) }
        cancel(slot)
        reporter.refuse(id, refusal)
    }

    /// Moves an activity to another audience.
    ///
    /// - Parameter key: a key that `KnownTopics.refusal` does not refuse.
    func move(_ slot: ActivitySlot, to key: AudienceKey, at moment: Moment) {
        guard !membership.store[slot].flags.contains(.leaving) else { return }
        // Nothing follows an end in flight. But the name is about to mean the successor's card if that may exist.
        let isEnding = membership.store[slot].flags.contains(.ending) || lifecycle.awaitsEnd(slot, of: key)
        let successor = lifecycle.successor(of: slot).flatMap { successor in
            lifecycle.awaitsEnd(successor, of: key) || isEnding && lifecycle.starts[successor]?.phase != .sent
                ? nil : successor
        }
        if isEnding, successor == nil {
            if membership.store[slot].flags.contains(.ending) { postponed[slot] = key }
            return
        }
        let index = publisher.audienceIndex(key, at: moment)
        if let successor { moveStart(successor, to: index, at: moment) }
        if isEnding { return }
        guard !membership.store[slot].flags.contains(.tokenless) else {
            moveStart(slot, to: index, at: moment)
            return
        }
        guard membership.store[slot].audience != index else {
            // By the schedule, picks in another order mean the same audience; to the store the card has joined another one.
            if membership.lineupRules.order == .schedule, case .lineup = key { enrolment.noteJoined(slot) }
            return
        }
        // The topics of an audience without a version are over or were never published: it waits for a first publication.
        let shown =
            membership.awake(index).target > 0
            ? Set(membership.awake(index).topics.map { membership.topics[$0].id }) : []
        let missed = missedAlerts.alertsMissed(by: slot, at: moment).filter {
            shown.contains($0.topic) && $0.isCarried(at: moment)
        }
        enrolment.leave(slot, at: moment)
        enrolment.join(slot, index)
        let alerted = membership.store[slot].alerted
        let carries = membership.carriedAlerts.carry(
            missed, by: slot, at: alerted, isFollower: membership.awake(index).lineup == nil)
        if carries { membership.queueVisit(slot) }
    }

    /// Moves an activity that was to be moved while its end was in flight, if it is still there.
    ///
    /// - Parameter activity: the activity before the answer.
    func endIsAnswered(_ slot: ActivitySlot, as activity: Activity, at moment: Moment) {
        guard let key = postponed.removeValue(forKey: slot) else { return }
        let now = membership.store[slot]
        guard now.tenant == activity.tenant, !now.flags.contains(.leaving) else { return }
        moveIfMay(slot, membership.store.name(of: slot), to: key, at: moment)
        lifecycle.noteStored(now.id, key)
        // The scan has passed a card that was about to end.
        lifecycle.lookAgain(at: slot, at: moment)
    }

    /// Gives up the move of an activity whose end is in flight.
    func cancel(_ slot: ActivitySlot) { postponed[slot] = nil }

    private func moveStart(_ slot: ActivitySlot, to index: AudienceIndex, at moment: Moment) {
        guard let start = lifecycle.starts[slot], start.audience != index else { return }
        lifecycle.dequeueStart(slot)
        enrolment.retain(index)
        lifecycle.starts.move(slot, to: index, at: membership.awake(index).target)
        if lifecycle.starts[slot]?.phase == .due { lifecycle.enqueueStart(slot) }
        enrolment.release(start.audience, at: moment)
    }
}
