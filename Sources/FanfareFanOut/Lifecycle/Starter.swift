import FanfareModel

/// Starts of activities by push. A start that may have been accepted is never repeated: a second one would be a second card (rule L7).
/// Nothing more can be sent before the phone's app reports the update token; then the activity gets the newest state, unless its start
/// carried it.
final class Starter {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let enrolment: Enrolment
    private let lineupPublisher: LineupPublisher
    private let publisher: TopicPublisher
    private let missedAlerts: MissedAlerts
    private let lifecycle: Lifecycle
    private let retries: Retries
    private let sender: PushSender
    private let moves: Moves

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ enrolment: Enrolment,
        _ lineupPublisher: LineupPublisher, _ publisher: TopicPublisher,
        _ missedAlerts: MissedAlerts, _ lifecycle: Lifecycle, _ retries: Retries, _ sender: PushSender, _ moves: Moves
    ) {
        self.reporter = reporter
        self.membership = membership
        self.enrolment = enrolment
        self.lineupPublisher = lineupPublisher
        self.publisher = publisher
        self.missedAlerts = missedAlerts
        self.lifecycle = lifecycle
        self.retries = retries
        self.sender = sender
        self.moves = moves
    }

    /// Takes an update token that the app has reported; it may be the activity's first one.
    ///
    /// - Parameter startedAt: date at which the card appeared on its phone, as far as the app tells it.
    func takeToken(_ token: [UInt8], of slot: ActivitySlot, startedAt: FeedTime? = nil, at moment: Moment) {
        if membership.store[slot].flags.contains(.tokenless) {
            // A start that has not left made no card: the app has, and the time of the request says nothing of it.
            if lifecycle.starts[slot]?.phase != .sent { lifecycle.note(startedAt: startedAt, of: slot, at: moment) }
            register(slot, token: token, at: moment)
        } else if !membership.hasToken(token, slot) {
            retries.replaceToken(of: slot, with: token)
        }
    }

    /// Ends the old activity, if it still exists, because the new card does.
    ///
    /// - Parameter start: the record of the new activity's start.
    /// - Returns: alerts that the old activity has missed, from before the new one's start, which the new one does not get otherwise.
    private func replace(
        _ old: ActivityID, by slot: ActivitySlot, _ start: PendingStart, at moment: Moment
    ) -> CarriedAlerts.Entry {
        var missed = CarriedAlerts.Entry()
        guard let card = membership.slot(of: old) else {
            reporter.report(.renewed(as: membership.store.name(of: slot)), of: old)
            return missed
        }
        lifecycle.renewals.handOver(card, to: slot)
        guard membership.store[card].flags.isDisjoint(with: [.leaving, .ending]) else { return missed }
        reporter.report(.renewed(as: membership.store.name(of: slot)), of: old)
        if membership.store[card].audience == start.audience {
            let through = start.shown?.alerted ?? 0
            missed.pending = missedAlerts.alertsMissed(by: card, at: moment).pending.filter {
                $0.version <= through && $0.isCarried(at: moment)
            }
        }
        lifecycle.depart(card, at: moment)
        return missed
    }

    /// Starts an activity that shows an audience from now on. For a known activity, the request is kept for its renewal. An activity that is
    /// being ended keeps its name until its end is settled: the end may wait for its token for hours, and a reported token could belong to
    /// either card.
    func start(_ request: StartRequest, _ key: AudienceKey, at moment: Moment) {
        let id = ActivityID(request.activity)
        defer { lifecycle.noteStored(id, key) }
        if let refusal = CommandRefusal(token: request.token) ?? membership.topics.refusal(of: key) {
            reporter.refuse(id, refusal)
            // A pending start owns the store's row of this name.
            return isPending(id) ? () : reportUnused(request, as: id)
        }
        let index = publisher.audienceIndex(key, at: moment)
        defer { enrolment.free(index, at: moment) }
        guard let slot = lifecycle.slot(of: id) else {
            start(id, request, edition: 1, renewing: nil, in: index, at: moment)
            return
        }
        guard membership.store[slot].flags.isDisjoint(with: [.leaving, .ending]), !lifecycle.awaitsEnd(slot, of: key)
        else {
            reporter.report(.notStarted(.nameTaken), of: id)
            return reportUnused(request, as: id)
        }
        if !isPending(id) { reportUnused(request, as: id) }
        for start in [slot, lifecycle.successor(of: slot)].compactMap(\.self) {
            guard let phase = lifecycle.starts[start]?.phase else { continue }
            lifecycle.starts.replaceRequest(of: start, with: request)
            // A start in flight went to the old token: its outcome decides whether there will be another start.
            guard phase != .sent, !membership.hasToken(request.token, start) else { continue }
            membership.store.replaceToken(of: start, with: request.token)
            let isDue = phase == .due
            if isDue { lifecycle.dequeueStart(start) }
            retries.release(start)
            if isDue { lifecycle.enqueueStart(start) }
        }
        if !membership.store[slot].flags.contains(.tokenless) {
            lifecycle.renewals.replaceRequest(of: slot, with: request)
        }
        moves.move(slot, to: key, at: moment)
    }

    private func isPending(_ id: ActivityID) -> Bool { membership.slot(of: id).flatMap { lifecycle.starts[$0] } != nil }

    /// Reports that a request leads to no start with this name, so that a store removes its row if it has one: a later process would start the card.
    private func reportUnused(_ request: StartRequest, as id: ActivityID) {
        reporter.reportRemoval(of: id, token: request.token[...])
    }

    func start(
        _ id: ActivityID, _ request: StartRequest, edition: Int, renewing old: ActivityID?, in audience: AudienceIndex,
        at moment: Moment
    ) {
        let slot = lifecycle.insertActivity(id, token: request.token, at: moment)
        membership.store[slot].flags.insert(.tokenless)
        if let old = old.flatMap(membership.slot(of:)) {
            membership.store.setPreferences(of: slot, to: membership.store.preferences(of: old))
            lifecycle.renewals.name(slot, id, after: (old, membership.store[old].id))
        }
        lifecycle.starts.add(
            PendingStart(request: request, edition: edition, renews: old, audience: audience), for: slot)
        enrolment.retain(audience)
        lifecycle.enqueueStart(slot)
    }

    /// Sends a start that is due, postpones it, or gives it up.
    ///
    /// - Returns: the number of pushes sent: one or none.
    func sendStart(
        _ slot: ActivitySlot, of audience: Audience, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Int {
        guard let start = lifecycle.starts[slot] else { return 0 }
        // A person who has ended the old card does not want a new one.
        let isUnwanted = start.renews.map { membership.slot(of: $0) == nil && !start.outlivesOld } ?? false
        if audience.event == .end || isUnwanted {
            lifecycle.fail(slot, .over, at: moment)
            return 0
        }
        lifecycle.dequeueStart(slot)
        let isClaimed = lifecycle.starts.useClaim(of: slot, at: moment.monotonic)
        guard let stamp = sender.stampOfItsOwn(slot, at: moment) else {
            retries.awaitRetry(slot, due: moment.monotonic + .seconds(1))
            return 0
        }
        if let due = lifecycle.starts.takeBudget(of: slot, at: moment.monotonic) {
            retries.awaitRetry(slot, due: due)
            return 0
        }
        guard isClaimed || !membership.claims.isKept else {
            lifecycle.starts.awaitClaim(of: slot)
            return 0
        }
        lifecycle.starts.send(
            slot,
            showing: PendingStart.Shown(version: audience.target, displayHash: audience.versions.newestDisplayHash))
        membership.store[slot].startedAt = CardStart(monotonic: moment.monotonicSeconds)
        let payload = sender.makePayload(
            PayloadRequest(
                event: .start, stamp: stamp,
                start: (start.request.payload(edition: start.edition), start.request.alert)),
            for: audience, at: moment, into: &batch)
        return sender.send(Push(toOne: payload), to: [slot], into: &batch)
    }

    /// Is `true` if a start may wait that no claim names.
    var hasUnclaimed: Bool { lifecycle.starts.hasUnclaimed }

    /// Names starts that are about to leave in the next request for claims, as far as there is room.
    func nameStarts(at moment: Moment) {
        guard lifecycle.starts.hasUnclaimed else { return }
        let starts = lifecycle.starts.takeUnclaimed(
            upTo: membership.claims.limits.namedMax, ticket: membership.claims.next, at: moment.monotonic)
        for slot in starts {
            guard let start = lifecycle.starts[slot] else { continue }
            membership.claims.claim(StartMark(membership.claims.mark(of: slot), number: start.number))
        }
    }

    /// Lets the starts leave whose claims up to that ticket are durable.
    func confirmClaims(through ticket: UInt64) {
        for slot in lifecycle.starts.confirmClaims(through: ticket) { lifecycle.enqueueStart(slot) }
    }

    /// Handles the outcome of a start.
    ///
    /// - Returns: the outcome as it is counted; `nil` if the start is not known.
    func completeStart(
        _ slot: ActivitySlot, as activity: Activity, _ outcome: DeliveryOutcome, at moment: Moment
    ) -> CountedOutcome? {
        guard let request = lifecycle.starts[slot]?.request else { return nil }
        if outcome.isUnprocessed {
            lifecycle.starts.returnBudget(for: Array(membership.store.tokens[membership.store[slot].token]))
            if outcome != .refused, !membership.hasToken(request.token, slot) {
                restart(slot, to: request.token, at: moment)
                return .notProcessed
            }
        }
        switch outcome {
        case .accepted:
            noteArrival(of: slot)
            retries.noteAnswers(1, dead: 0)
            membership.store[slot].failures = FailureStreak()
            return .accepted  // only the token shows that the card exists
        case .uncertain:
            noteArrival(of: slot)
            return .uncertain
        case .refused:
            lifecycle.fail(slot, .refused, at: moment)
            return .refused
        case .deadToken:
            if retries.quarantineDeadToken(of: slot, as: activity, at: moment) {
                lifecycle.starts.postpone(slot)
                return .held
            }
            lifecycle.fail(slot, .deadToken, at: moment)
            return .dead
        case .notProcessed:
            if activity.flags.contains(.leaving) {
                lifecycle.remove(slot, at: moment)
            } else {
                // The start is retried without limit, because the failure is not its own.
                retries.awaitRetry(slot, due: moment.monotonic + .seconds(1))
            }
            return .notProcessed
        case .throttled:
            postpone(slot, as: activity, isOwn: true, at: moment)
            return .throttled
        case .serviceError:
            retries.service.noteTrouble()
            postpone(slot, as: activity, isOwn: false, at: moment)
            return .notProcessed
        }
    }

    /// Makes a start that the service has not accepted back off, or gives it up.
    ///
    /// - Parameter isOwn: whether the failure is certainly the token's own.
    private func postpone(_ slot: ActivitySlot, as activity: Activity, isOwn: Bool, at moment: Moment) {
        // In an outage, all pushes fail: errors do not count as refusals of the start, and it waits as long as the outage lasts.
        if isOwn || activity.failures.othersWereServed(by: retries.service.number) {
            lifecycle.starts.noteRefusal(of: slot)
        }
        if activity.flags.contains(.leaving) {
            lifecycle.remove(slot, at: moment)
        } else if lifecycle.starts.isRefusedTooOften(slot) {
            lifecycle.fail(slot, .gaveUp, at: moment)
        } else {
            lifecycle.starts.postpone(slot)
            retries.backOff(slot, isOwn: isOwn, at: moment)
        }
    }

    /// Begins again with the device's new start token after the start to the old one was not accepted. Failures and refusals of the old token
    /// do not count for the new one.
    private func restart(_ slot: ActivitySlot, to token: [UInt8], at moment: Moment) {
        membership.store.replaceToken(of: slot, with: token)
        membership.store[slot].failures = FailureStreak()
        lifecycle.starts.forgetRefusals(of: slot)
        if membership.store[slot].flags.contains(.leaving) {
            lifecycle.remove(slot, at: moment)
        } else {
            lifecycle.enqueueStart(slot)
        }
    }

    private func noteArrival(of slot: ActivitySlot) {
        guard !membership.store[slot].flags.contains(.leaving), let old = lifecycle.starts[slot]?.renews,
            membership.slot(of: old) == nil
        else { return }
        lifecycle.reportRenewal(by: slot)
    }

    /// Takes the update token that the phone's app has reported, which shows that the card exists.
    private func register(_ slot: ActivitySlot, token: [UInt8], at moment: Moment) {
        if let old = lifecycle.starts[slot]?.renews.flatMap(membership.slot(of:)) {
            lifecycle.copyAlerts(of: old, to: slot)
        }
        guard let start = lifecycle.starts[slot] else { return }
        lineupPublisher.bringUpToDate(membership.awake(start.audience), forNewcomer: true, at: moment)
        enrolment.retain(start.audience)
        defer { enrolment.release(start.audience, at: moment) }
        lifecycle.forgetStart(slot, at: moment)
        retries.replaceToken(of: slot, with: token)
        if membership.store[slot].flags.contains(.leaving) {
            lifecycle.noteLeaving(slot)
            return
        }
        lifecycle.renewals.add(slot, request: start.request, edition: start.edition)
        let missed = start.renews.map { replace($0, by: slot, start, at: moment) } ?? CarriedAlerts.Entry()
        // The activity has missed versions and alerts since its start.
        enrolment.join(slot, start.audience, having: start.shown)
        lifecycle.noteFollowing(slot)
        missedAlerts.carry(missed, by: slot)
        lifecycle.lookAgain(at: slot, at: moment)
    }
}
