import FanfareModel
import FanfareQueues

/// The ways of activities into audiences and out of them. An audience lives while it has members, or while an activity is expected to join it.
final class Enrolment {
    private let reporter: FeedbackReporter
    private let membership: Membership

    init(_ reporter: FeedbackReporter, _ membership: Membership) {
        self.reporter = reporter
        self.membership = membership
    }

    /// Adds an activity to an audience. A joiner has missed nothing: it gets the current state once, silently, and no earlier alerts.
    ///
    /// - Parameter shown: the content that the activity's start has shown, if any; the activity has missed later versions and alerts.
    func join(_ slot: ActivitySlot, _ index: AudienceIndex, having shown: PendingStart.Shown? = nil) {
        let audience = membership.awake(index)
        membership.store[slot].audience = index
        membership.claims.forget(slot)
        membership.store[slot].alerted = shown?.alerted ?? audience.target
        membership.store.alertMemory.forget(slot)
        if let shown, let displayHash = shown.displayHash {
            membership.store[slot].delivered = shown.version
            audience.countJoiner(having: (shown.version, displayHash))
        } else {
            membership.store[slot].delivered = audience.target
            audience.countJoiner(having: nil)
            if audience.target > 0 { membership.store[slot].flags.insert(.needsPush) }
        }
        let missesAlert = membership.store[slot].alerted < audience.alerts.newest
        // If no push is pending for the joiner, its audience can rest at once, and followers of topics that have not begun take little memory.
        let mayRest = audience.lineup == nil || shown?.displayHash != nil
        let isVisited = mayRest && !missesAlert && !membership.isOwed(membership.store[slot], audience)
        audience.join(
            slot, isVisited: isVisited, missesAlert: missesAlert, positions: &membership.store.positions)
        membership.audiences.noteSize(audience, at: index)
        if audience.lineup != nil {
            membership.count(inLineups: 1)
            if reporter.completions.before != nil { reporter.completions.noteJoined(lineupOf: audience.topics) }
        } else if reporter.completions.before != nil {
            reporter.completions.noteJoined(index, &audience.completionPlace)
        }
        membership.count(membership.store[slot], 1, in: audience)
        membership.lanes.enqueue(audience)
    }

    /// Notes that a member counts as a joiner from now on, as it does in the store.
    func noteJoined(_ slot: ActivitySlot) {
        let index = membership.store[slot].audience
        guard reporter.completions.isKept, index != .none else { return }
        if let row = membership.lineupRow(ofAudience: index) {
            return reporter.completions.noteJoined(lineupOf: membership.lineups.topicIndices(of: row))
        }
        let audience = membership.awake(index)
        reporter.completions.noteJoined(index, &audience.completionPlace)
        membership.rest(index)
    }

    /// Takes the activity out of its audience. A push in flight goes on, but its version belongs to the audience that was left: `sending` is
    /// cleared so that it is not compared with the next audience's versions.
    func leave(_ slot: ActivitySlot, at moment: Moment) {
        let activity = membership.store[slot]
        guard activity.audience != .none else { return }
        let audience = membership.awake(activity.audience)
        membership.count(activity, -1, in: audience)
        if audience.lineup != nil { membership.count(inLineups: -1) }
        let isInFlight = activity.flags.contains(.inFlight) && activity.sending != 0
        audience.leave(
            at: Int(membership.store.positions[Int(slot.rawValue)]), having: activity.delivered,
            inFlight: isInFlight ? activity.sending : nil, positions: &membership.store.positions)
        membership.store[slot].audience = AudienceIndex.none
        if activity.flags.contains(.queued) {
            audience.abandonVisit {
                membership.store[$0].flags.contains(.queued) && membership.store[$0].audience == activity.audience
            } isUrgent: {
                membership.missesAlert($0, of: audience)
            }
        }
        membership.audiences.noteLoss(at: activity.audience)
        membership.store[slot].flags.subtract([.needsPush, .queued])
        membership.store[slot].sending = 0
        membership.store[slot].sendingAlert =
            activity.flags.contains(.inFlight) ? activity.sendingAlert.withoutAlert : .none
        membership.reportCompleted(audience, at: moment)
        free(activity.audience, at: moment)
    }

    /// Keeps an audience for an activity that is not a member: one whose start waits or has been sent, or whose last state is to be sent.
    func retain(_ index: AudienceIndex) { membership.awake(index).retain() }

    /// Releases an audience that `retain` keeps.
    func release(_ index: AudienceIndex, at moment: Moment) {
        membership.awake(index).release()
        free(index, at: moment)
    }

    /// Removes the audience if it has no members and no activity needs it otherwise. Its waiting publications are complete, and topics
    /// that are no longer needed are removed with it.
    func free(_ index: AudienceIndex, at moment: Moment) {
        let audience = membership.awake(index)
        guard audience !== membership.audiences.vacant, audience.order.count == 0, audience.externalReferences == 0
        else { return }
        if let lineup = audience.lineup {
            freeLineup(lineup, audience, at: moment)
        } else {
            membership.topics[audience.topics[0]].followers = nil
        }
        if let parked = audience.lane.unpark() { membership.timers.cancel(parked) }
        membership.lanes.abandon(audience)
        membership.audiences.free(index)
        for topic in audience.topics { membership.topics.release(topic) }
    }

    private func freeLineup(_ lineup: Lineup, _ audience: Audience, at moment: Moment) {
        for serial in membership.takeDeferred(of: lineup) { reporter.complete(serial, at: moment) }
        membership.lineups.take(lineup.row)
        membership.completeExhausted(at: moment)
        // A topic whose last lineup this is has no lineups to visit any more.
        for topic in audience.topics {
            if let news = membership.lineups[topic], news.order.count == 1 { membership.lanes.abandon(news) }
        }
        membership.lineups.remove(lineup.row)
        for topic in audience.topics { membership.topics[topic].lineups -= 1 }
        if let wakeUp = lineup.wakeUp { membership.timers.cancel(wakeUp) }
    }
}
