package import FanfareModel

extension Shard {
    /// Appends pushes that are due, the most urgent first. Each activity gets the newest version *at this moment*: a slow service never
    /// gets old scores, however far behind it is.
    package func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        wakeDue(at: moment)
        guard !isHeldUp else { return }
        let end = batch.deliveries.count + limit
        var vainVisits = 0
        while batch.deliveries.count < end, let member = lanes.current() {
            guard vainVisits < Shard.vainVisitsMax else {
                cutShortAt = moment.monotonicNanoseconds
                break
            }
            let sent = batch.deliveries.count
            let limit = min(end - sent, lanes.allowance(of: member))
            let visits = max(1, serve(member, limit: limit, at: moment, into: &batch))
            lanes.charge(member, visits)
            member.noteVisits(visits)
            vainVisits += visits - (batch.deliveries.count - sent)
        }
        reportIfQuiet()
    }

    /// Maximum of visits without a push in one pull, which take a millisecond. If there may be more, `nextDue` is at once.
    private static let vainVisitsMax = 8192

    private func serve(_ member: LaneMember, limit: Int, at moment: Moment, into batch: inout DeliveryBatch) -> Int {
        if let audience = member.audience { return serve(audience, limit: limit, at: moment, into: &batch) }
        return member.lineups.map { visit($0, limit: limit, at: moment, into: &batch) } ?? 0
    }

    /// Visits the next starts, members or departures of the audience, at most `limit` of them.
    ///
    /// - Returns: the number of visits.
    private func serve(_ audience: Audience, limit: Int, at moment: Moment, into batch: inout DeliveryBatch) -> Int {
        if audience === departures {
            if let slot = nextDeparture() { sendPrivateEnd(slot, at: moment, into: &batch) }
            return 1
        }
        if audience.lineup != nil {
            lookAtNews(of: audience, at: moment)
            guard audience.lane.parked == nil, audience.hasWork else { return 1 }
        }
        if let slot = audience.nextStart { return sendStart(slot, of: audience, at: moment, into: &batch) }
        guard audience.revisits.prompt.isEmpty, audience.order.remaining > 0 else {
            if let slot = nextAgain(of: audience) { _ = visit([slot], of: audience, at: moment, into: &batch) }
            return 1
        }
        return sweep(audience, limit: limit, at: moment, into: &batch)
    }

    /// Visits the next member of the sweep.
    func serveNext(of audience: Audience, at moment: Moment, into batch: inout DeliveryBatch) {
        _ = sweep(audience, limit: 1, at: moment, into: &batch)
    }

    /// Visits the next members of the sweep, at most `limit` of them.
    ///
    /// - Returns: the number of visits.
    private func sweep(_ audience: Audience, limit: Int, at moment: Moment, into batch: inout DeliveryBatch) -> Int {
        let run = audience.nextOfSweep(limit: limit)
        var rest = run
        while !rest.isEmpty {
            rest = rest.dropFirst(visit(rest, of: audience, at: moment, into: &batch))
        }
        audience.visited(run.count)
        return run.count
    }

    private func nextAgain(of audience: Audience) -> ActivitySlot? {
        guard let slot = audience.nextAgain(isUrgent: { missesAlert($0, of: audience) }) else { return nil }
        let activity = store[slot]
        guard activity.flags.contains(.queued), activity.audience != ActivityStore.noAudience,
            awake(Int(activity.audience)) === audience
        else { return nil }
        store[slot].flags.remove(.queued)
        return slot
    }

    /// Sends the first of `slots` the content it lacks, and the same push to those after it that are in the same state.
    ///
    /// - Returns: the number of members visited; at least one.
    private func visit(
        _ slots: ArraySlice<ActivitySlot>, of audience: Audience, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Int {
        let slot = slots[slots.startIndex]
        store[slot].forgetStampNobodyTook(at: moment)
        let activity = store[slot]
        // A member with a push in flight is queued again by the completion, and one that waits by the timing wheel.
        guard activity.flags.isDisjoint(with: [.inFlight, .waiting]), isOwed(activity, audience) else { return 1 }
        let isFirst = activity.flags.contains(.owedFirst)
        let carries = isFirst && carriedAlerts.contains(slot)
        // A member after the first may be in the same state and carry alerts along.
        let slots = isFirst && !carriedAlerts.isEmpty ? slots.prefix(1) : slots
        let missed = carries ? pending(slot, of: audience) : audience.alerts.missed(after: activity.alerted)
        let told = missed.told(at: moment)
        if told == nil, isShown(audience, to: activity) {
            passOver(missed, led: nil, told: .stale, for: slot, of: audience, at: moment)
            serve(slot, with: audience.target, of: audience, at: moment)
            return 1
        }
        // A repeat of the same version may have the same stamp.
        let last = Int64(activity.stamp) - (activity.sending == audience.target ? 1 : 0)
        guard let stamp = audience.stamp(after: last, at: moment) else {
            awaitClock(slot, at: moment)
            return 1
        }
        let wish = SubscriberGovernor.Wish(
            alert: told.map { missed[$0.lead].alert.class }, priority: audience.priority,
            isEnd: audience.event == .end)
        let minute = moment.minuteOfDay
        let grant = governor.grant(
            wish, to: activity.spent, store.effect(of: Int(slot.rawValue), atMinute: minute),
            after: UInt32(clamping: stamp) - activity.stamp)
        let chance = AlertChance(version: told.map { missed[$0.lead].version } ?? 0, silence: grant.silence)
        if let silence = grant.silence, isShown(audience, to: activity) {
            passOver(missed, led: told?.lead, told: .silenced(silence), for: slot, of: audience, at: moment)
            serve(slot, with: audience.target, of: audience, at: moment)
            return 1
        }
        let riding = chance.rides ? told : nil
        func make() -> Payload {
            makePayload(
                audience.event == .end ? .end : .update, for: audience, stamp: stamp, telling: riding, of: missed,
                priority: grant.priority, at: moment, into: &batch)
        }
        // Alerts that are carried along have no version here to identify the variant.
        let payload =
            carries
            ? make()
            : audience.payload(
                StampedPayloads.Variant(
                    alert: riding.map { missed[$0.lead].version },
                    beside: riding?.beside.map { missed[$0].version } ?? [], priority: grant.priority), make: make)
        let push = Push(
            payload: payload, version: audience.target, alert: chance, wish: wish, grant: grant, minute: minute)
        let count = send(push, to: slots, into: &batch)
        if grant.priority < wish.priority { counts.pushes.conserved += count }
        audience.ledger.depart(count)
        noteSent(count, having: activity.delivered, of: audience, at: moment)
        return count
    }

    /// Records the freshness of pushes of an audience's newest version to members that had the same version before.
    private func noteSent(_ count: Int, having delivered: UInt32, of audience: Audience, at moment: Moment) {
        let now = moment.monotonicNanoseconds
        if let waiting = audience.takeWaiting(), lanes.served < Lanes.lastLane {
            freshness.noteLaneDelay(now - waiting, lane: lanes.served, of: audience.times.freshness)
        }
        guard delivered != audience.target else { return }  // a joiner, or a repeat
        freshness.noteStateAge(now - audience.times.newest, times: count, of: audience.times.freshness)
    }

    /// Settles alerts that the activity missed without a push: it shows the newest version already.
    // Inlined twice, this would make every visit's code larger.
    @inline(never) func passOver(
        _ missed: ArraySlice<PendingAlert>, led lead: Int?, told: AlertOutcome, for slot: ActivitySlot,
        of audience: Audience, at moment: Moment
    ) {
        let classifier = AlertClassifier(missed, led: lead, at: moment)
        classifier.count(told: told, activities: 1, in: &counts.alerts)
        counts.alerts.superseded += audience.alerts.displaced(after: store[slot].alerted, through: audience.target)
        classifier.note(told: told, of: CollectionOfOne(slot), in: &store.alertMemory)
    }

    /// Pauses the audience's sweep until `due`.
    func park(_ audience: Audience, _ index: UInt32, due: Int64) {
        lanes.park(audience, until: timers.insert(.audience(index), due: due))
    }

    /// Ends the pause of the audience's sweep.
    func unpark(_ audience: Audience) {
        if let timer = audience.lane.parked { timers.cancel(timer) }
        lanes.unpark(audience)
    }

    /// Returns whether the activity's version shows the same as the newest one, as after a change and its reversal. Such an activity needs a
    /// push only for an alert.
    private func isShown(_ audience: Audience, to activity: Activity) -> Bool {
        audience.event == .update && !activity.flags.contains(.owedFirst) && activity.sendingAlert != .refused
            && activity.delivered >= audience.newest.shownAgainFrom
            && audience.ledger.showsTheNewest(activity.delivered)
    }

    private func sendPrivateEnd(_ slot: ActivitySlot, at moment: Moment, into batch: inout DeliveryBatch) {
        guard let stamp = stampOfItsOwn(slot, at: moment) else {
            awaitClock(slot, at: moment)
            return
        }
        if let last = lastStates[slot] { bringUpToDate(awake(last), at: moment) }
        // An audience whose topics are over or were never published has no version, and so no last state.
        let push =
            if let last = lastStates[slot], awake(last).target > 0 {
                makeLastState(of: slot, in: awake(last), stamp: stamp, at: moment, into: &batch)
            } else {
                // A dismissal date in the past removes the card at once (spec §3.4, documented). It has to be in the past for the phone
                // even if our clock is some hours ahead.
                Push(
                    ofOne: Payload(
                        event: .end, subject: "unfollow", state: [], stamp: stamp, staleDate: nil,
                        dismissalDate: moment.wallSeconds - Stamp.aheadMax, alert: nil, priority: .immediate))
            }
        _ = send(push, to: [slot], into: &batch)
    }

    /// Makes the end of an activity whose audience goes on.
    private func makeLastState(
        of slot: ActivitySlot, in audience: Audience, stamp: Int64, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Push {
        let (missed, told) = takeMissed(byEndOf: slot, of: audience, stamp: stamp, at: moment)
        return Push(
            ofOne: makePayload(
                .end, for: audience, stamp: stamp, telling: told, of: missed, at: moment, into: &batch),
            telling: told.map { missed[$0.lead].alert.class })
    }

    /// Returns the stamp for a push to one activity alone; `nil` if that has to wait for the clock's next second.
    func stampOfItsOwn(_ slot: ActivitySlot, at moment: Moment) -> Int64? {
        store[slot].forgetStampNobodyTook(at: moment)
        return Stamp.next(after: Int64(store[slot].stamp), at: moment)
    }

    /// Makes the activity wait for the clock's next second.
    private func awaitClock(_ slot: ActivitySlot, at moment: Moment) {
        store[slot].flags.insert(.waiting)
        timers.insert(
            .activity(slot, generation: store[slot].generation), due: moment.monotonicNanoseconds + 1_000_000_000)
    }

    func send(_ push: Push, to slots: ArraySlice<ActivitySlot>, into batch: inout DeliveryBatch) -> Int {
        let count = store.send(push, to: slots, by: governor, into: &batch)
        inFlight += count
        counts.pushes.sent += count
        return count
    }

    /// Queues a visit to an activity with a pending push. The visit is left to the sweep if the cursor has still to come to the activity:
    /// queued visits go first, and with a version for every round trip they would starve the sweep. Only a missed alert goes first anyway.
    func comeAgain(_ slot: ActivitySlot) {
        let audience = awake(Int(store[slot].audience))
        let isAhead = audience.order.isUnvisited(Int(store.positions[Int(slot.rawValue)]))
        // The alert of a push that failed delays no other activity.
        let missesAlert = store[slot].strikes.count == 0 && missesAlert(slot, of: audience)
        if !store[slot].flags.contains(.queued), missesAlert || !isAhead {
            store[slot].flags.insert(.queued)
            audience.comeAgain(slot, isUrgent: missesAlert, isLate: store[slot].strikes.count > 0)
        }
        lanes.enqueue(audience)
    }

    private func missesAlert(_ slot: ActivitySlot, of audience: Audience) -> Bool {
        store[slot].alerted < audience.alerts.newest || carriedAlerts.contains(slot)
    }

    /// Maximum of timers handled by one call. If more are due, `nextDue` has passed.
    private static let wakeUpsMax = 4096

    /// Handles timers that are due. Called even while nothing is pulled: during an outage, timers must not pile up.
    package func wakeDue(at moment: Moment) {
        cutShortAt = nil
        guard !isHeldUp else { return }
        showAgainAfterClockStep(at: moment)
        // A goal begins a dwell time in each of its lineups, and a million of these may end together: the bound keeps a pull short.
        for _ in 0..<Shard.wakeUpsMax {
            guard let subject = timers.popDue(moment.monotonicNanoseconds) else { return }
            switch subject {
            case .audience(let index): lanes.unpark(awake(Int(index)))
            case .held: releaseHeld(at: moment)
            case .ageScan: scanAges(at: moment)
            case .lineup(let index): wakeLineup(index, at: moment)
            case .activity(let slot, let generation): wake(slot, generation: generation)
            }
        }
    }

    /// Ends the wait of an activity, unless it has been removed or got a new token since the wait began.
    func wake(_ slot: ActivitySlot, generation: UInt32) {
        guard store[slot].generation == generation else { return }
        store[slot].flags.remove(.waiting)
        goOn(slot)
    }

    /// Queues the push that is pending for an activity whose wait is over.
    private func goOn(_ slot: ActivitySlot) {
        if store[slot].flags.contains(.tokenless) {
            wakeStart(slot)
        } else if store[slot].flags.contains(.leaving) {
            queueDeparture(slot)
        } else if store[slot].audience != ActivityStore.noAudience {
            comeAgain(slot)
        }
    }

    /// Ends the wait of an activity that got a new token, whether the old one backed off or was held by the dead-token guard.
    func release(_ slot: ActivitySlot) {
        store[slot].strikes = Strikes()
        guard store[slot].flags.contains(.waiting) else { return }
        // No push is in flight, so only the timing wheel and the guard have the old generation.
        store[slot].generation &+= 1
        store[slot].flags.remove(.waiting)
        quarantine.abandon { store[$0].generation == $1 }
        goOn(slot)
    }

    /// Queues the activity's private end.
    func queueDeparture(_ slot: ActivitySlot) {
        guard store[slot].flags.isDisjoint(with: [.inFlight, .waiting, .queued]) else { return }
        store[slot].flags.insert(.queued)
        departures.comeAgain(slot, isUrgent: false, isLate: store[slot].strikes.count > 0)
        lanes.enqueue(departures)
    }

    /// Removes the activity's private end from its queue.
    func abandonDeparture(_ slot: ActivitySlot) {
        guard store[slot].flags.contains(.queued) else { return }
        store[slot].flags.remove(.queued)
        departures.abandonVisit(isWanted: isDeparting)
    }

    private func nextDeparture() -> ActivitySlot? {
        guard let slot = departures.nextAgain(isUrgent: { _ in false }), isDeparting(slot) else { return nil }
        store[slot].flags.remove(.queued)
        return slot
    }

    func isDeparting(_ slot: ActivitySlot) -> Bool { store[slot].flags.isSuperset(of: [.queued, .leaving]) }

    /// Encodes the audience's newest version. Called once per variant and stamp; in a lineup with one member that is once per push.
    ///
    /// - Parameters:
    ///   - told: the alerts that the payload carries: indices into `missed`.
    ///   - alert: the alert of a start, which carries no missed alerts.
    ///   - batch: the batch that lends the payload's memory, and to which the payload will be appended.
    func makePayload(
        _ event: Payload.Event, for audience: Audience, stamp: Int64, telling told: Told? = nil,
        of missed: ArraySlice<PendingAlert> = [], alert: AlertText? = nil, priority: Priority = .immediate,
        start: Payload.Start? = nil, at moment: Moment,
        into batch: inout DeliveryBatch
    ) -> Payload {
        let pending = told.map { missed[$0.lead] }
        let alert = told.map { AlertText(naming: $0, of: missed) } ?? alert
        let latest = audience.newest.publication
        // Dates are computed from the clock and not from the stamp, which may be ahead of it: the phone compares them with its own clock.
        func date(_ duration: Duration?) -> Int64? { duration.map { moment.wallSeconds + $0.milliseconds / 1000 } }
        let payload = batch.payload(
            Payload.Head(
                event: event,
                subject: (latest?.topicID ?? topics[audience.topics[0]].id).rawValue,
                stamp: stamp,
                staleDate: date(latest?.staleAfter),
                // An end while the audience goes on is the end of an activity for its age.
                dismissalDate: event == .end
                    ? date(audience.event == .end ? latest?.dismissAfter : latest?.expiry.dismissAfter) : nil,
                alert: alert, priority: priority, relevanceScore: latest?.relevance.map(Double.init), start: start,
                serial: latest?.serial ?? 0))
        if let lineup = audience.lineup {
            composeLineup(lineup, carrying: pending, into: &payload.stateBytes)
        } else if let encoded = topics[audience.topics[0]].latest?.state {
            payload.stateBytes = pending?.alert.highlight.map(encoded.highlighting) ?? encoded.bytes
        } else {
            payload.stateBytes = []
        }
        return payload
    }
}
