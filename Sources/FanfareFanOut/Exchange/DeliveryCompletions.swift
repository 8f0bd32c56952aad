import FanfareModel
import FanfareQueues

/// Applies the outcomes of pushes.
final class DeliveryCompletions {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let missedAlerts: MissedAlerts
    private let lifecycle: Lifecycle
    private let retries: Retries
    private let sender: PushSender
    private let visits: LineupVisits
    private let starter: Starter
    private let moves: Moves
    private var refusedEnds = Milestones()
    /// Numbers of pushes by outcome. The sender counts the pushes that were sent.
    @safe @exclusivity(unchecked) private(set) var outcomes = PushCounts()

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ missedAlerts: MissedAlerts,
        _ lifecycle: Lifecycle, _ retries: Retries, _ sender: PushSender, _ visits: LineupVisits,
        _ starter: Starter, _ moves: Moves
    ) {
        self.reporter = reporter
        self.membership = membership
        self.missedAlerts = missedAlerts
        self.lifecycle = lifecycle
        self.retries = retries
        self.sender = sender
        self.visits = visits
        self.starter = starter
        self.moves = moves
    }

    func complete(_ completions: [DeliveryCompletion], at moment: Moment) {
        let accepted = outcomes.accepted
        var position = 0
        while position < completions.count {
            position += completeRun(completions, from: position, at: moment)
        }
        if outcomes.accepted > accepted {
            reporter.freshness.noteAccepted(at: moment.monotonic)
        }
    }

    /// Applies `completions[start]`, and those after it that have the same effect.
    ///
    /// - Returns: the number of completions applied.
    private func completeRun(_ completions: [DeliveryCompletion], from start: Int, at moment: Moment) -> Int {
        let completion = completions[start]
        let slot = completion.slot
        guard Int(slot.rawValue) < membership.store.activities.count else { return 1 }
        let activity = membership.store[slot]
        guard activity.generation == completion.generation, activity.flags.contains(.inFlight) else { return 1 }
        if completion.outcome == .accepted, visits.settle(slot, as: activity, at: moment) {
            sender.noteAnswers(1)
            outcomes.accepted += 1
            retries.noteAnswers(1, dead: 0)
            return 1
        }
        if completion.outcome == .accepted, let audience = upToDateAudience(activity) {
            let count = membership.store.settle(completions, from: start, like: activity)
            sender.noteAnswers(count)
            outcomes.accepted += count
            retries.noteAnswers(count, dead: 0)
            missedAlerts.settleAlerts(of: activity, .accepted, completions[start..<start + count], at: moment)
            membership.deliver(count, having: activity.delivered, with: audience.target, of: audience, at: moment)
            audience.noteAnswered(count, audience.target)
            if audience.order.count == 1 { membership.rest(activity.audience) }
            return count
        }
        membership.store[slot].flags.subtract([.inFlight, .ending, .rotated])
        sender.noteAnswers(1)
        if activity.flags.contains(.tokenless) {
            if let outcome = starter.completeStart(slot, as: activity, completion.outcome, at: moment) {
                outcomes.add(outcome)
            }
            return 1
        }
        if completion.outcome.isUnprocessed {
            membership.store[slot].budgetUse = sender.governor.returned(
                activity.sendingAlert, activity.budgetUse,
                membership.store.effect(of: Int(slot.rawValue), atMinute: moment.minuteOfDay))
        }
        // Fetched first, because the audience of a lineup is removed with its last member.
        let audience = activity.sending == 0 ? nil : membership.awake(activity.audience)
        if membership.carriedAlerts.contains(slot) {
            missedAlerts.answer(completion.outcome, carryingAlerts: slot, as: activity, at: moment)
        } else {
            missedAlerts.settleAlerts(of: activity, completion.outcome, completions[start...start], at: moment)
        }
        let outcome = applyOutcome(slot, as: activity, completion.outcome, at: moment)
        outcomes.add(outcome)
        if let audience {
            audience.noteAnswered(1, activity.sending)
            membership.reportCompleted(audience, at: moment)
            if audience.order.count == 1 { membership.rest(activity.audience) }
        }
        if activity.flags.contains(.ending) { moves.endIsAnswered(slot, as: activity, at: moment) }
        return 1
    }

    /// Returns the audience of an activity that is up to date once its push in flight is accepted, the common case of a sweep; `nil` in rarer
    /// cases.
    private func upToDateAudience(_ activity: Activity) -> Audience? {
        guard activity.flags.subtracting(.needsPush) == .inFlight, activity.sending != 0 else { return nil }
        let audience = membership.awake(activity.audience)
        if activity.flags.contains(.needsPush), membership.hasCarriers(audience) { return nil }
        return activity.sending == audience.target ? audience : nil
    }

    /// - Returns: the outcome as it is counted.
    private func applyOutcome(
        _ slot: ActivitySlot, as activity: Activity, _ outcome: DeliveryOutcome, at moment: Moment
    ) -> CountedOutcome {
        switch outcome {
        case .accepted:
            retries.noteAnswers(1, dead: 0)
            membership.store[slot].failures = FailureStreak()
            settle(slot, as: activity, at: moment)
            return .accepted
        case .refused:
            giveUp(slot, as: activity, at: moment)
            return .refused
        case .deadToken where activity.flags.contains(.rotated), .throttled where activity.flags.contains(.rotated),
            .serviceError where activity.flags.contains(.rotated):
            // The token was replaced while this push was in flight: the activity goes on under the new one.
            retries.requeue(slot)
            return .notProcessed
        case .deadToken:
            if retries.quarantineDeadToken(of: slot, as: activity, at: moment) { return .held }
            reporter.reportDead(membership.store.name(of: slot))
            lifecycle.remove(slot, at: moment)
            return .dead
        case .throttled:
            retries.backOff(slot, isOwn: true, at: moment)
            return .throttled
        case .notProcessed:
            retries.requeue(slot)
            return .notProcessed
        case .serviceError:
            retries.service.noteTrouble()
            retries.backOff(slot, at: moment)
            return .notProcessed
        case .uncertain:
            missedAlerts.countUnanswered(activity.sendingAlert)
            // The push may have arrived: the state is sent again, the alert is not.
            if activity.sending != 0 {
                membership.store[slot].alerted = max(activity.alerted, activity.sending)
                membership.store[slot].flags.insert(.needsPush)
            }
            retries.service.noteTrouble()
            // The cause was probably the connection, so the first failure is retried at once; a second one may be the activity's own.
            if membership.store[slot].failures.count > 0 {
                retries.backOff(slot, at: moment)
            } else {
                _ = membership.store[slot].failures.add(in: retries.service.number)
                retries.requeue(slot)
            }
            return .uncertain
        }
    }

    /// Gives up this version for an activity after a refusal, because a repeat would be refused, too. The activity still lacks the version, so
    /// the publication is complete only after it has a newer version, or is removed.
    private func giveUp(_ slot: ActivitySlot, as activity: Activity, at moment: Moment) {
        if activity.flags.contains(.ending) {
            if let count = refusedEnds.next() {
                reporter.report("\(count) ends have been refused by now: such cards stay until the system ends them")
            }
            reporter.report(.notEnded, of: membership.store.name(of: slot))
            if activity.flags.contains(.leaving) {
                lifecycle.remove(slot, at: moment)
                return
            }
        }
        if activity.sending != 0 {
            let audience = membership.awake(activity.audience)
            membership.recount(slot, in: audience) {
                $0.alerted = max(activity.alerted, activity.sending)
                $0.sendingAlert = .refused
            }
        }
        retries.requeue(slot)
    }

    /// Applies an accepted push.
    private func settle(_ slot: ActivitySlot, as activity: Activity, at moment: Moment) {
        // Nothing follows an end. A push that was in flight when the activity left or moved settles nothing.
        if activity.flags.contains(.ending) {
            // The successor's card does not repeat the alerts of the end.
            if activity.sending != 0 { membership.store[slot].alerted = max(activity.alerted, activity.sending) }
            lifecycle.remove(slot, at: moment)
            return
        }
        if activity.sending != 0 {
            membership.deliver(slot, with: activity.sending, of: membership.awake(activity.audience), at: moment)
        }
        retries.requeue(slot)
    }
}
