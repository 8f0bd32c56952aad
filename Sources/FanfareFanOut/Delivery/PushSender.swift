import FanfareModel
import FanfareQueues

/// Sends activities the content that they lack: one decision, payload and stamp for all members in the same state.
final class PushSender {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let missedAlerts: MissedAlerts
    /// Number of pushes whose completion has not arrived.
    @safe @exclusivity(unchecked) private(set) var inFlight = 0
    /// Number of pushes so far.
    @safe @exclusivity(unchecked) private(set) var sent = 0
    /// Number of pushes so far that went at priority 5 although 10 was requested.
    @safe @exclusivity(unchecked) private(set) var downgraded = 0
    let governor: SubscriberGovernor
    let claims: AlertClaims

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ missedAlerts: MissedAlerts,
        _ governor: SubscriberGovernor
    ) {
        self.reporter = reporter
        self.membership = membership
        self.missedAlerts = missedAlerts
        self.governor = governor
        claims = AlertClaims(reporter, membership)
    }

    /// Visits the next member of the sweep.
    func serveNext(of audience: Audience, at moment: Moment, into batch: inout DeliveryBatch) {
        _ = sweep(audience, limit: 1, at: moment, into: &batch)
    }

    /// Visits the next members of the sweep, at most `limit` of them.
    ///
    /// - Returns: the number of visits.
    func sweep(_ audience: Audience, limit: Int, at moment: Moment, into batch: inout DeliveryBatch) -> Int {
        var run = audience.nextOfSweep(limit: limit)
        if membership.hasCarriers(audience), let first = run.first {
            let carries = claims.carries(first)
            run = run.prefix { claims.carries($0) == carries }
            if carries, audience.lineup == nil {
                // The other members do not wait for the claim of the first one.
                visitOutOfTurn(first, of: audience, at: moment, into: &batch)
                audience.visited(1)
                return 1
            }
        }
        run = claims.admit(run, of: audience, at: moment)
        var rest = run
        while !rest.isEmpty {
            rest = rest.dropFirst(visit(rest, of: audience, at: moment, into: &batch))
        }
        audience.visited(run.count)
        return run.count
    }

    func nextRevisit(of audience: Audience) -> ActivitySlot? {
        guard let slot = audience.nextRevisit(isUrgent: { membership.missesAlert($0, of: audience) }) else {
            return nil
        }
        let activity = membership.store[slot]
        guard activity.flags.contains(.queued), activity.audience != .none,
            membership.awake(activity.audience) === audience
        else { return nil }
        membership.store[slot].flags.remove(.queued)
        return slot
    }

    /// Sends the first of `slots` the content it lacks, and the same push to those after it that are in the same state.
    ///
    /// - Returns: the number of members visited; at least one.
    func visit(
        _ slots: ArraySlice<ActivitySlot>, of audience: Audience, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Int {
        let slot = slots[slots.startIndex]
        membership.store[slot].forgetUnusedStamp(at: moment)
        let activity = membership.store[slot]
        // The completion queues a member with a push in flight again, and the timing wheel queues a member that waits.
        guard activity.flags.isDisjoint(with: [.inFlight, .suspended]), membership.isOwed(activity, audience) else {
            return 1
        }
        let isFirst = activity.flags.contains(.needsPush)
        let carries = isFirst && membership.carriedAlerts.contains(slot)
        // A member after the first may be in the same state and carry alerts along.
        let slots = isFirst && membership.hasCarriers(audience) ? slots.prefix(1) : slots
        let missed =
            carries ? missedAlerts.pending(slot, of: audience) : audience.alerts.missed(after: activity.alerted)
        let selection = missed.selection(at: moment)
        if selection == nil, isShown(audience, to: activity) {
            missedAlerts.passOver(missed, led: nil, outcome: .stale, for: slot, of: audience, at: moment)
            membership.deliver(slot, with: audience.target, of: audience, at: moment)
            return 1
        }
        // A repeat of the same version may have the same stamp.
        let last = Int64(activity.stamp) - (activity.sending == audience.target ? 1 : 0)
        let isFarAhead = audience.isFarAhead(last, at: moment)
        guard let stamp = audience.stamp(after: last, isShared: !isFarAhead, at: moment) else {
            awaitClock(slot, at: moment)
            return 1
        }
        let pushRequest = SubscriberGovernor.PushRequest(
            alert: selection.map { missed[$0.lead].alert.class }, priority: audience.priority,
            isEnd: audience.event == .end)
        let minute = moment.minuteOfDay
        let decision = governor.decision(
            on: pushRequest, for: activity.budgetUse, membership.store.effect(of: Int(slot.rawValue), atMinute: minute),
            after: UInt32(clamping: stamp) - activity.stamp)
        let attempt = AlertAttempt(version: selection.map { missed[$0.lead].version } ?? 0, silence: decision.silence)
        if let silence = decision.silence, isShown(audience, to: activity) {
            missedAlerts.passOver(
                missed, led: selection?.lead, outcome: .silenced(silence), for: slot, of: audience, at: moment)
            membership.deliver(slot, with: audience.target, of: audience, at: moment)
            return 1
        }
        let request = PayloadRequest(
            event: audience.event == .end ? .end : .update, stamp: stamp, selection: attempt.isSent ? selection : nil,
            missed: missed, priority: decision.priority)
        // Alerts that are carried along have no version here to identify the variant.
        let payload =
            carries || isFarAhead
            ? makePayload(request, for: audience, at: moment, into: &batch)
            : sharedPayload(request, of: audience, at: moment, into: &batch)
        let push = Push(
            payload: payload, version: audience.target, alert: attempt, request: pushRequest, decision: decision,
            minute: minute)
        let count = send(push, to: isFarAhead ? slots.prefix(1) : slots, into: &batch)
        if decision.priority < pushRequest.priority { downgraded += count }
        if attempt.isSent { claims.noteSent(request.selection, to: slots.prefix(count), of: audience, at: moment) }
        noteSent(count, having: activity.delivered, of: audience, at: moment)
        return count
    }

    /// Records pushes of an audience's newest version, and their freshness, to members that had the same version before.
    private func noteSent(_ count: Int, having delivered: UInt32, of audience: Audience, at moment: Moment) {
        audience.noteSent(count)
        let now = moment.monotonic
        if let dueSince = audience.takeDueSince(), membership.lanes.served < Lane.last {
            reporter.freshness.noteLaneDelay(
                now.nanoseconds(since: dueSince), lane: membership.lanes.served, of: audience.times.freshness)
        }
        guard delivered != audience.target else { return }  // a joiner, or a repeat
        reporter.freshness.noteStateAge(
            now.nanoseconds(since: audience.times.newest), times: count, of: audience.times.freshness)
    }

    /// Returns whether the activity's version shows the same as the newest one, as after a change and its reversal. Such an activity needs a
    /// push only for an alert.
    private func isShown(_ audience: Audience, to activity: Activity) -> Bool {
        audience.event == .update && !activity.flags.contains(.needsPush) && activity.sendingAlert != .refused
            && activity.delivered >= audience.newest.shownAgainFrom
            && audience.versions.showsTheNewest(activity.delivered)
    }

    /// Returns the stamp for a push to one activity alone; `nil` if the push has to wait for the clock's next second.
    func stampOfItsOwn(_ slot: ActivitySlot, at moment: Moment) -> Int64? {
        membership.store[slot].forgetUnusedStamp(at: moment)
        return Stamp.next(after: Int64(membership.store[slot].stamp), at: moment)
    }

    /// Makes the activity wait for the clock's next second.
    func awaitClock(_ slot: ActivitySlot, at moment: Moment) { wait(slot, for: .seconds(1), at: moment) }

    private func wait(_ slot: ActivitySlot, for duration: Duration, at moment: Moment) {
        membership.store[slot].flags.insert(.suspended)
        membership.timers.insert(
            .activity(slot, generation: membership.store[slot].generation),
            due: moment.monotonic + duration)
    }

    /// Time between two looks for a single activity's claim, longer than most commits.
    private static let claimWait = Duration.milliseconds(20)

    /// Visits a member out of turn, unless the alert that it lacks may not leave yet.
    func visitOutOfTurn(
        _ slot: ActivitySlot, of audience: Audience, at moment: Moment, into batch: inout DeliveryBatch
    ) {
        let isIdle = membership.store[slot].flags.isDisjoint(with: [.inFlight, .suspended])
        switch isIdle ? claims.admitOutOfTurn(slot, of: audience, at: moment) : .admitted {
        case .admitted: _ = visit([slot], of: audience, at: moment, into: &batch)
        case .waits: wait(slot, for: PushSender.claimWait, at: moment)
        case .sweepComes: break
        }
    }

    func send(_ push: Push, to slots: ArraySlice<ActivitySlot>, into batch: inout DeliveryBatch) -> Int {
        let count = membership.store.send(push, to: slots, by: governor, into: &batch)
        inFlight += count
        sent += count
        return count
    }

    /// Returns the audience's payload of this variant, which is encoded for the first member that needs it.
    private func sharedPayload(
        _ request: PayloadRequest, of audience: Audience, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Payload {
        let selection = request.selection
        let variant = StampedPayloads.Variant(
            alert: selection.map { request.missed[$0.lead].version },
            additional: selection?.additional.map { request.missed[$0].version } ?? [], priority: request.priority)
        return audience.payload(variant) { makePayload(request, for: audience, at: moment, into: &batch) }
    }

    /// Counts a push to the member of a lineup.
    func noteSent(_ request: SubscriberGovernor.PushRequest, _ decision: SubscriberGovernor.PushDecision) {
        inFlight += 1
        sent += 1
        if decision.priority < request.priority { downgraded += 1 }
    }

    /// Notes that pushes were answered, or never will be.
    func noteAnswers(_ count: Int) { inFlight -= count }

    /// Adds the payload of an update of a lineup whose state is in its row to the batch.
    ///
    /// - Returns: the payload's index in the batch.
    func addPayload(
        _ request: PayloadRequest, showing shown: LineupJSON.Shown, at moment: Moment, to batch: inout DeliveryBatch
    ) -> Int32 {
        let latest = unsafe shown.spotlightTopic.publication
        let lead = request.selection.map { request.missed[$0.lead] }
        let highlight = lead.flatMap { $0.topic == latest.topicID ? $0.alert.highlight : nil }
        let staleDate = latest.staleAfter.map { moment.wallSeconds + $0.milliseconds / 1000 }
        if unsafe highlight == nil || highlight == shown.spotlightTopic.highlightedKey,
            let bytes = unsafe shown.fittingBytes
        {
            let words = request.selection.map { selection in
                selection.additional.isEmpty
                    ? request.missed[selection.lead].issue.wording
                    : AlertWords(AlertText(naming: selection, of: request.missed))
            }
            let payload = unsafe JoinedPayload(
                stamp: request.stamp, staleDate: staleDate, relevanceScore: latest.relevance.map(Double.init),
                priority: request.priority, serial: latest.serial, spotlight: shown.spotlight,
                stateSizeMax: .bytes(bytes))
            return unsafe batch.index(of: payload, shown, words)
        }
        let payload = batch.payload(
            Payload.Head(
                event: request.event, logLabel: latest.topicID.rawValue, stamp: request.stamp, staleDate: staleDate,
                dismissalDate: nil, alert: request.selection.map { AlertText(naming: $0, of: request.missed) },
                priority: request.priority, relevanceScore: latest.relevance.map(Double.init), start: nil,
                serial: latest.serial))
        unsafe shown.compose(highlighting: highlight, into: &payload.stateBytes)
        return batch.index(of: payload)
    }

    /// Encodes the audience's newest version. Called once per variant and stamp; in a lineup with one member that is once per push.
    ///
    /// - Parameter batch: the batch that lends the payload's memory, and to which the payload will be appended.
    func makePayload(
        _ request: PayloadRequest, for audience: Audience, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Payload {
        let event = request.event
        let pending = request.selection.map { request.missed[$0.lead] }
        let alert = request.selection.map { AlertText(naming: $0, of: request.missed) } ?? request.start?.alert
        let latest = audience.newest.publication
        // Dates are computed from the clock and not from the stamp, which may be ahead of it: the phone compares them with its own clock.
        let staleDate = latest?.staleAfter.map { moment.wallSeconds + $0.milliseconds / 1000 }
        let payload = batch.payload(
            Payload.Head(
                event: event,
                logLabel: (latest?.topicID ?? membership.topics[audience.topics[0]].id).rawValue,
                stamp: request.stamp,
                staleDate: staleDate,
                // An end while the audience goes on is the end of an activity for its age.
                dismissalDate: event == .end
                    ? (audience.event == .end ? dismissal(of: audience, at: moment) : latest?.expiry.dismissal)?
                        .seconds(ofEndAt: moment)
                    : nil,
                alert: alert, priority: request.priority, relevanceScore: latest?.relevance.map(Double.init),
                start: request.start?.payload,
                serial: latest?.serial ?? 0))
        if let lineup = audience.lineup {
            lineup.compose(carrying: pending, into: &payload.stateBytes)
        } else if let encoded = membership.topics[audience.topics[0]].latest?.state {
            payload.stateBytes = pending?.alert.highlight.map(encoded.highlighting) ?? encoded.bytes
        } else {
            payload.stateBytes = []
        }
        return payload
    }

    /// Returns the dismissal time of an audience's end. That of a lineup is the spotlight's, unless another row is to stay longer: after a restart the
    /// spotlight's topic may have little left.
    private func dismissal(of audience: Audience, at moment: Moment) -> DismissalTime? {
        guard let own = audience.newest.publication?.dismissal else { return nil }
        guard audience.lineup != nil else { return own }
        var longest: DismissalTime? = own
        var last = moment.monotonic + own.duration(from: moment.wall)
        for index in audience.topics {
            guard let goneAt = membership.topics[index].goneAt, goneAt > last else { continue }
            (longest, last) = (membership.topics[index].latest?.dismissal, goneAt)
        }
        return longest
    }
}
