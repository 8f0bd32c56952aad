import FanfareModel

/// Starts of activities by push. A start that may have been accepted is never repeated: a second one would be a second card (rule L7).
/// Nothing more can be sent before the phone's app reports the update token; then the activity gets the newest state, unless its start
/// carried it.
extension Shard {
    /// Starts an activity that shows an audience from now on. For a known activity, the request is kept for its renewal. An activity that is
    /// being ended keeps its name until its end is settled: the end may wait for its token for hours, and a reported token could belong to
    /// either card.
    func start(_ request: StartRequest, _ key: AudienceKey, at moment: Moment) {
        let id = ActivityID(hashing: request.activity)
        if let refusal = refusal(of: request.token) ?? refusal(of: key) { return refuse(id, refusal) }
        let index = audienceIndex(key, at: moment)
        defer { freeAudience(index, at: moment) }
        guard let slot = slot(of: id) else {
            start(id, request, edition: 1, renewing: nil, in: index, at: moment)
            return
        }
        guard store[slot].flags.isDisjoint(with: [.leaving, .ending]), !awaitsEnd(slot, of: key) else {
            report(.notStarted(.nameTaken), of: id)
            return
        }
        for start in [slot, successor(of: slot)].compactMap(\.self) {
            guard let phase = starts[start]?.phase else { continue }
            starts.replaceRequest(of: start, with: request)
            // A start in flight went to the old token: its outcome decides whether there will be another start.
            guard phase != .sent, !hasToken(request.token, start) else { continue }
            store.replaceToken(of: start, with: request.token)
            let isDue = phase == .due
            if isDue { dequeueStart(start) }
            release(start)
            if isDue { enqueueStart(start) }
        }
        if !store[slot].flags.contains(.tokenless) {
            renewals.replaceRequest(of: slot, with: request)
        }
        move(slot, to: key, at: moment)
    }

    func start(
        _ id: ActivityID, _ request: StartRequest, edition: Int, renewing old: ActivityID?, in audience: Int,
        at moment: Moment
    ) {
        let slot = insert(id, token: request.token, at: moment)
        store[slot].flags.insert(.tokenless)
        if let old = old.flatMap(store.slot(of:)) {
            store.setPreferences(of: slot, to: store.preferences(of: old))
            renewals.name(slot, id, after: (old, store[old].id))
        }
        starts.add(PendingStart(request: request, edition: edition, renews: old, audience: audience), for: slot)
        expect(in: audience)
        enqueueStart(slot)
    }

    /// Makes the activity's start due in its audience, which sends it as soon as it has a version.
    private func enqueueStart(_ slot: ActivitySlot) {
        guard let index = starts[slot]?.audience else { return }
        starts.enqueue(slot)
        let audience = awake(index)
        audience.addStart(slot, isLate: store[slot].strikes.count > 0, positions: &store.positions)
        if audience.target > 0 { count(owed: 1, in: audience) }
        lanes.enqueue(audience)
    }

    /// Removes a start that is due from its audience's line.
    private func dequeueStart(_ slot: ActivitySlot) {
        guard let start = starts[slot], start.phase == .due else { return }
        let audience = awake(start.audience)
        audience.removeStart(
            at: Int(store.positions[Int(slot.rawValue)]), isLate: store[slot].strikes.count > 0,
            positions: &store.positions)
        if audience.target > 0 { count(owed: -1, in: audience) }
    }

    /// Sends a start that is due, postpones it, or gives it up.
    ///
    /// - Returns: the number of pushes sent: one or none.
    func sendStart(
        _ slot: ActivitySlot, of audience: Audience, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Int {
        guard let start = starts[slot] else { return 0 }
        // A person who has ended the old card does not want a new one.
        let isUnwanted = start.renews.map { store.slot(of: $0) == nil && !start.outlivesOld } ?? false
        if audience.event == .end || isUnwanted {
            fail(slot, .over, at: moment)
            return 0
        }
        dequeueStart(slot)
        guard let stamp = stampOfItsOwn(slot, at: moment) else {
            awaitRetry(slot, due: moment.monotonicNanoseconds + 1_000_000_000)
            return 0
        }
        if let due = starts.takeBudget(for: start.request.token, at: moment.monotonicNanoseconds) {
            awaitRetry(slot, due: due)
            return 0
        }
        starts.send(
            slot, showing: PendingStart.Shown(version: audience.target, display: audience.ledger.newestDisplay))
        store[slot].startedAt = moment.monotonicSeconds
        let payload = makePayload(
            .start, for: audience, stamp: stamp, alert: start.request.alert,
            start: start.request.payload(edition: start.edition), at: moment, into: &batch)
        return send(Push(ofOne: payload), to: [slot], into: &batch)
    }

    /// Handles the outcome of a start.
    func completeStart(_ slot: ActivitySlot, as activity: Activity, _ outcome: DeliveryOutcome, at moment: Moment) {
        guard let request = starts[slot]?.request else { return }
        switch outcome {
        case .accepted:
            noteArrival(of: slot)
            counts.pushes.accepted += 1
            noteAnswers(1, dead: 0)
            store[slot].strikes = Strikes()
            return  // only the token shows that the card exists
        case .unknown:
            noteArrival(of: slot)
            counts.pushes.uncertain += 1
            return
        case .refused, .deadToken, .throttled, .serviceError, .notProcessed:
            starts.returnBudget(for: Array(store.tokens[store[slot].token]))
        }
        if outcome != .refused, !hasToken(request.token, slot) {
            restart(slot, to: request.token, at: moment)
            return
        }
        switch outcome {
        case .accepted, .unknown: break
        case .refused:
            counts.pushes.failed += 1
            fail(slot, .refused, at: moment)
        case .deadToken:
            noteAnswers(1, dead: 1)
            if quarantine.isShut, !activity.flags.contains(.leaving) {
                counts.pushes.held += 1
                starts.postpone(slot)
                hold(slot, at: moment)
            } else {
                counts.pushes.dead += 1
                fail(slot, .deadToken, at: moment)
            }
        case .notProcessed:
            counts.pushes.notProcessed += 1
            if activity.flags.contains(.leaving) {
                remove(slot, at: moment)
            } else {
                // The start is retried without limit, because the failure is not its own.
                awaitRetry(slot, due: moment.monotonicNanoseconds + 1_000_000_000)
            }
        case .throttled, .serviceError:
            if outcome == .throttled { counts.pushes.throttled += 1 } else { counts.pushes.notProcessed += 1 }
            if outcome == .serviceError { service.noteTrouble() }
            // In an outage, all pushes fail: errors do not count as refusals of the start, and it waits as long as the outage lasts.
            if outcome == .throttled || activity.strikes.othersWereServed(by: service.number) {
                starts.noteRefusal(of: slot)
            }
            if activity.flags.contains(.leaving) {
                remove(slot, at: moment)
            } else if starts.isRefusedTooOften(slot) {
                fail(slot, .gaveUp, at: moment)
            } else {
                starts.postpone(slot)
                wait(slot, isOwn: outcome == .throttled, at: moment)
            }
        }
    }

    /// Begins again with the device's new start token after the start to the old one was not accepted. Strikes and refusals of the old token
    /// do not count for the new one.
    private func restart(_ slot: ActivitySlot, to token: [UInt8], at moment: Moment) {
        counts.pushes.notProcessed += 1
        store.replaceToken(of: slot, with: token)
        store[slot].strikes = Strikes()
        starts.forgetRefusals(of: slot)
        if store[slot].flags.contains(.leaving) { remove(slot, at: moment) } else { enqueueStart(slot) }
    }

    /// Returns whether the activity's start was accepted, or may have been.
    func mayBeThere(_ slot: ActivitySlot) -> Bool {
        starts[slot]?.phase == .sent && !store[slot].flags.contains(.inFlight)
    }

    private func noteArrival(of slot: ActivitySlot) {
        guard !store[slot].flags.contains(.leaving), let old = starts[slot]?.renews, store.slot(of: old) == nil
        else { return }
        tellOfRenewal(by: slot)
    }

    private func awaitRetry(_ slot: ActivitySlot, due: Int64) {
        starts.postpone(slot)
        store[slot].flags.insert(.waiting)
        timers.insert(.activity(slot, generation: store[slot].generation), due: due)
    }

    /// Ends the wait of a start, which is due again.
    func wakeStart(_ slot: ActivitySlot) {
        dequeueStart(slot)
        enqueueStart(slot)
    }

    func fail(_ slot: ActivitySlot, _ failure: StartFailure, at moment: Moment) {
        failRenewal(by: slot, at: moment)
        if !store[slot].flags.contains(.leaving) {
            report(.notStarted(failure), of: store[slot].id)
            if let start = starts[slot], start.outlivesOld, let old = start.renews {
                report(.expired, of: old)
            }
        }
        remove(slot, at: moment)
    }

    /// Notes that the renewal by an activity has failed, so that the old activity is ended for its age.
    private func failRenewal(by slot: ActivitySlot, at moment: Moment) {
        guard let old = starts[slot]?.renews.flatMap({ store.slot(of: $0) }) else { return }
        renewals.fail(old)
        lookAgain(at: old, at: moment)
    }

    /// Removes the record of a start whose token has been reported, or whose activity is being removed.
    func forgetStart(_ slot: ActivitySlot, at moment: Moment) {
        guard store[slot].flags.contains(.tokenless) else { return }
        dequeueStart(slot)
        if let audience = starts.remove(slot)?.audience { expectNoMore(in: audience, at: moment) }
        store[slot].flags.remove(.tokenless)
    }

    /// Unfollows an activity without an update token. If its start may have been accepted, the end has to wait for the token.
    func unfollowStart(_ slot: ActivitySlot, at moment: Moment) {
        failRenewal(by: slot, at: moment)
        if starts[slot]?.phase == .sent { store[slot].flags.insert(.leaving) } else { remove(slot, at: moment) }
    }

    func moveStart(_ slot: ActivitySlot, to index: Int, at moment: Moment) {
        guard let start = starts[slot], start.audience != index else { return }
        dequeueStart(slot)
        expect(in: index)
        starts.move(slot, to: index, at: awake(index).target)
        if start.phase == .due { enqueueStart(slot) }
        expectNoMore(in: start.audience, at: moment)
    }

    /// Takes the update token that the phone's app has reported, which shows that the card exists.
    func register(_ slot: ActivitySlot, token: [UInt8], at moment: Moment) {
        if let old = starts[slot]?.renews.flatMap(store.slot(of:)) { noteAlerts(toldBy: old, to: slot) }
        guard let start = starts[slot] else { return }
        bringUpToDate(awake(start.audience), at: moment)
        expect(in: start.audience)
        defer { expectNoMore(in: start.audience, at: moment) }
        forgetStart(slot, at: moment)
        replaceToken(of: slot, with: token)
        if store[slot].flags.contains(.leaving) {
            leaving += 1
            queueDeparture(slot)
            return
        }
        renewals.add(slot, request: start.request, edition: start.edition)
        let missed = start.renews.map { replace($0, by: slot, start, at: moment) } ?? CarriedAlerts.Entry()
        // The activity has missed versions and alerts since its start.
        join(slot, start.audience, having: start.shown)
        carry(missed, by: slot)
        lookAgain(at: slot, at: moment)
    }
}
