import FanfareModel

/// Moves activities from one audience to another, with the alerts that they have missed.
final class Moves {
    private let membership: Membership
    private let publisher: TopicPublisher
    private let missedAlerts: MissedAlerts
    private let lifecycle: Lifecycle

    init(
        _ membership: Membership, _ publisher: TopicPublisher,
        _ missedAlerts: MissedAlerts, _ lifecycle: Lifecycle
    ) {
        self.membership = membership
        self.publisher = publisher
        self.missedAlerts = missedAlerts
        self.lifecycle = lifecycle
    }

    /// Moves an activity to another audience.
    ///
    /// - Parameter key: a key that `refusal(of:)` does not refuse.
    func move(_ slot: ActivitySlot, to key: AudienceKey, at moment: Moment) {
        guard !membership.store[slot].flags.contains(.leaving) else { return }
        // Nothing follows an end in flight. But if a successor's card may exist, the name is about to mean that one.
        let isEnding = membership.store[slot].flags.contains(.ending) || lifecycle.awaitsEnd(slot, of: key)
        let successor = lifecycle.successor(of: slot).flatMap { successor in
            lifecycle.awaitsEnd(successor, of: key) || isEnding && lifecycle.starts[successor]?.phase != .sent
                ? nil : successor
        }
        if isEnding, successor == nil { return }
        let index = publisher.audienceIndex(key, at: moment)
        if let successor { moveStart(successor, to: index, at: moment) }
        if isEnding { return }
        guard !membership.store[slot].flags.contains(.tokenless) else {
            moveStart(slot, to: index, at: moment)
            return
        }
        guard membership.store[slot].audience != index else { return }
        // The topics of an audience without a version are over or were never published: it waits for a first publication.
        let shown =
            membership.awake(index).target > 0
            ? Set(membership.awake(index).topics.map { membership.topics[$0].id }) : []
        let missed = missedAlerts.alertsMissed(by: slot, at: moment).filter {
            shown.contains($0.topic) && $0.isCarried(at: moment)
        }
        membership.leaveAudience(slot, at: moment)
        membership.join(slot, index)
        if membership.carriedAlerts.carry(missed, by: slot, at: membership.store[slot].alerted) {
            membership.queueVisit(slot)
        }
    }

    private func moveStart(_ slot: ActivitySlot, to index: AudienceIndex, at moment: Moment) {
        guard let start = lifecycle.starts[slot], start.audience != index else { return }
        lifecycle.dequeueStart(slot)
        membership.retainAudience(index)
        lifecycle.starts.move(slot, to: index, at: membership.awake(index).target)
        if lifecycle.starts[slot]?.phase == .due { lifecycle.enqueueStart(slot) }
        membership.releaseAudience(start.audience, at: moment)
    }
}
