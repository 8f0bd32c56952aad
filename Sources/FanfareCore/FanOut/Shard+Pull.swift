extension Shard {
    /// Hands out what is due, most urgent first. Each activity gets the newest version *at this moment*: a slow service never
    /// sees old scores, however far behind it is.
    public func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        guard !isHeldUp else { return }
        wakeDue(at: moment)
        let end = batch.deliveries.count + limit
        while batch.deliveries.count < end {
            if let slot = departing.popLast() {
                sendPrivateEnd(slot, at: moment, into: &batch)
                continue
            }
            guard let audience = lanes.current() else { break }
            if let slot = audience.nextStart {
                lanes.charge(audience, sendStart(slot, of: audience, at: moment, into: &batch))
                continue
            }
            let limit = min(end - batch.deliveries.count, lanes.allowance(of: audience))
            if audience.again.isEmpty {
                sweep(audience, limit: limit, at: moment, into: &batch)
            } else if let slot = nextAgain(of: audience), visit([slot], of: audience, at: moment, into: &batch) == 0 {
                comeAgain(slot)
            }
        }
        reportIfQuiet()
    }

    /// Visits the next members of the sweep, at most `limit` of them.
    private func sweep(_ audience: Audience, limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        let run = audience.nextOfSweep(limit: limit)
        var rest = run
        while !rest.isEmpty {
            let visited = visit(rest, of: audience, at: moment, into: &batch)
            if visited == 0 { break }
            rest = rest.dropFirst(visited)
        }
        audience.visited(run.count - rest.count)
    }

    private func nextAgain(of audience: Audience) -> ActivitySlot? {
        guard let slot = audience.nextAgain(isUrgent: { missesAlert($0, of: audience) }) else { return nil }
        let activity = store[slot]
        guard activity.flags.contains(.queued), activity.audience != ActivityStore.noAudience,
            audiences[Int(activity.audience)] === audience
        else { return nil }
        store[slot].flags.remove(.queued)
        return slot
    }

    /// Gives the first of `slots` what it lacks, and those after it that stand as it does the same.
    ///
    /// - Returns: how many have been visited; 0 when the audience's next payload may not be stamped yet.
    private func visit(
        _ slots: ArraySlice<ActivitySlot>, of audience: Audience, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Int {
        let slot = slots[slots.startIndex]
        let activity = store[slot]
        // Who is in flight or waits comes again by itself: the completion and the timing wheel see to that.
        guard activity.flags.isDisjoint(with: [.inFlight, .waiting]), isOwed(activity, audience) else { return 1 }
        let isFirst = activity.flags.contains(.owedFirst)
        let brings = isFirst && brings(slot)
        // Among those that stand alike there may be one that brings alerts along.
        let slots = isFirst && !brought.isEmpty ? slots.prefix(1) : slots
        let missed = brings ? pending(slot, of: audience) : audience.alerts(after: activity.alerted)
        let told = missed.told(at: moment)
        if told == nil, isShown(audience, to: activity) {
            rememberAlerts(missed, led: nil, told: .stale, of: [slot], at: moment)
            serve(slot, with: audience.target, of: audience, at: moment)
            return 1
        }
        // Sent again, the same version needs no second of its own.
        let last = Int64(activity.stamp) - (activity.sending == audience.target ? 1 : 0)
        guard let stamp = audience.stamp(after: last, at: moment) else {
            let wait = audience.stamp + 1 - Audience.aheadSecondsMax - moment.wallSeconds
            park(audience, activity.audience, due: moment.monotonicNanoseconds + max(1, wait) * 1_000_000_000)
            return 0
        }
        let wish = SubscriberGovernor.Wish(
            alert: told.map { missed[$0.lead].alert.class }, priority: audience.priority,
            isEnd: audience.event == .end)
        let minute = moment.minuteOfDay
        let grant = governor.grant(
            wish, to: activity.spent, store.effect(of: Int(slot.rawValue), atMinute: minute),
            after: UInt32(clamping: stamp) - activity.stamp)
        let chance = AlertChance(version: told.map { missed[$0.lead].version } ?? 0, silence: grant.silence)
        if grant.silence != nil, isShown(audience, to: activity) {
            countAlerts(missed, led: told?.lead, silence: chance.silence, 1, at: moment)
            rememberAlerts(
                missed, led: told?.lead, told: chance.silence.map(AlertOutcome.silenced) ?? .stale, of: [slot],
                at: moment)
            serve(slot, with: audience.target, of: audience, at: moment)
            return 1
        }
        let riding = chance.rides ? told : nil
        func make() -> Payload {
            makePayload(
                audience.event == .end ? .end : .update, for: audience, stamp: stamp, telling: riding, of: missed,
                priority: grant.priority, into: &batch)
        }
        // What is brought along has no version here that tells it apart.
        let payload =
            brings
            ? make()
            : audience.payload(
                Audience.Variant(
                    alert: riding.map { missed[$0.lead].version },
                    beside: riding?.beside.map { missed[$0].version } ?? [], priority: grant.priority), make: make)
        let push = Push(
            payload: payload, version: audience.target, alert: chance, wish: wish, grant: grant, minute: minute)
        let count = send(push, to: slots, into: &batch)
        if grant.priority < wish.priority { counts.pushes.conserved += count }
        audience.ledger.depart(count)
        noteSent(count, having: activity.delivered, of: audience, at: moment)
        lanes.charge(audience, count)
        return count
    }

    /// The audience's sweep rests until then.
    func park(_ audience: Audience, _ index: UInt32, due: Int64) {
        lanes.park(audience, until: timers.insert(.audience(index), due: due))
    }

    /// The audience's sweep rests no longer.
    func unpark(_ audience: Audience) {
        if let timer = audience.parked { timers.cancel(timer) }
        lanes.unpark(audience)
    }

    /// It slept through a change and its reversal: without an alert there is nothing to tell it.
    private func isShown(_ audience: Audience, to activity: Activity) -> Bool {
        audience.event == .update && !activity.flags.contains(.owedFirst)
            && audience.ledger.showsTheNewest(activity.delivered)
    }

    private func sendPrivateEnd(_ slot: ActivitySlot, at moment: Moment, into batch: inout DeliveryBatch) {
        let stamp = max(moment.wallSeconds, Int64(store[slot].stamp) + 1)
        let payload =
            if let last = lastStates[slot] {
                makePayload(.end, for: audiences[last], stamp: stamp, into: &batch)
            } else {
                // A dismissal date in the past removes the card at once (spec §3.4, documented).
                Payload(
                    event: .end, subject: "unfollow", state: [], stamp: stamp, staleDate: nil,
                    dismissalDate: moment.wallSeconds - 1, alert: nil, priority: .immediate)
            }
        _ = send(Push(ofOne: payload), to: [slot], into: &batch)
    }

    func send(_ push: Push, to slots: ArraySlice<ActivitySlot>, into batch: inout DeliveryBatch) -> Int {
        let count = store.send(push, to: slots, by: governor, into: &batch)
        inFlight += count
        counts.pushes.sent += count
        return count
    }

    /// The activity is owed something. It stays with the sweep if that has still to come to it: whoever went before all those
    /// would, with a version for every round trip, keep them from ever being served. Only an alert is worth that.
    func comeAgain(_ slot: ActivitySlot) {
        let audience = audiences[Int(store[slot].audience)]
        let isAhead = audience.order.isUnvisited(Int(store.positions[Int(slot.rawValue)]))
        let missesAlert = missesAlert(slot, of: audience)
        if !store[slot].flags.contains(.queued), missesAlert || !isAhead {
            store[slot].flags.insert(.queued)
            audience.comeAgain(slot, isUrgent: missesAlert)
        }
        lanes.enqueue(audience)
    }

    private func missesAlert(_ slot: ActivitySlot, of audience: Audience) -> Bool {
        store[slot].alerted < audience.newestAlert || brings(slot)
    }

    /// In one pull; `nextDue` has passed while there are more.
    private static let wakeUpsMax = 4096

    private func wakeDue(at moment: Moment) {
        // A goal is a dwell time in each of its lineups, and a million of them end together: a pull stays short all the same.
        for _ in 0..<Shard.wakeUpsMax {
            guard let subject = timers.popDue(moment.monotonicNanoseconds) else { return }
            switch subject {
            case .audience(let index): lanes.unpark(audiences[Int(index)])
            case .held: releaseHeld(at: moment)
            case .hand: turnHand(at: moment)
            case .lineup(let index): wakeLineup(index, at: moment)
            case .activity(let slot, let generation): wake(slot, generation: generation)
            }
        }
    }

    /// The activity need not wait any longer, unless it has gone meanwhile.
    func wake(_ slot: ActivitySlot, generation: UInt32) {
        guard store[slot].generation == generation else { return }
        store[slot].flags.remove(.waiting)
        if store[slot].flags.contains(.tokenless) {
            wakeStart(slot)
        } else if store[slot].flags.contains(.leaving) {
            departing.append(slot)
        } else {
            comeAgain(slot)
        }
    }

    /// Encodes the audience's newest version, once per variant and stamp; so of a lineup with one member for each push.
    ///
    /// - Parameters:
    ///   - told: what it tells of, of those missed.
    ///   - alert: of a start, which tells of nothing that has happened.
    ///   - batch: lends the payload, and will have it appended.
    func makePayload(
        _ event: Payload.Event, for audience: Audience, stamp: Int64, telling told: Told? = nil,
        of missed: ArraySlice<PendingAlert> = [], alert: AlertText? = nil, priority: Priority = .immediate,
        start: Payload.Start? = nil,
        into batch: inout DeliveryBatch
    ) -> Payload {
        let pending = told.map { missed[$0.lead] }
        let alert = told.map { AlertText(naming: $0, of: missed) } ?? alert
        let latest = audience.latest
        // Dates follow the stamp, which may run a little ahead of the clock: nothing may be stale before it is new.
        func date(_ duration: Duration?) -> Int64? { duration.map { stamp + $0.milliseconds / 1000 } }
        let payload = batch.payload(
            Payload.Head(
                event: event,
                subject: (latest?.topicID ?? topics[audience.topics[0]].id).rawValue,
                stamp: stamp,
                staleDate: date(latest?.staleAfter),
                // An end while the audience goes on is that of an activity which has lasted too long.
                dismissalDate: event == .end
                    ? date(audience.event == .end ? latest?.dismissAfter : latest?.expiry.dismissAfter) : nil,
                alert: alert, priority: priority, relevanceScore: latest?.relevance.map(Double.init), start: start))
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
