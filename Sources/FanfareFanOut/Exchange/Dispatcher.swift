import FanfareModel
import FanfareQueues

/// Serves the members of the lanes: audiences with their starts, members and departures, and the lineups of topics.
final class Dispatcher {
    private let membership: Membership
    private let lineupPublisher: LineupPublisher
    private let missedAlerts: MissedAlerts
    private let lifecycle: Lifecycle
    private let sender: PushSender
    private let visits: LineupVisits
    private let starter: Starter
    /// The time of the last pull, if it ended with visits left to be made.
    @safe @exclusivity(unchecked) var cutShortAt: MonotonicTime?

    init(
        _ membership: Membership, _ lineupPublisher: LineupPublisher, _ missedAlerts: MissedAlerts,
        _ lifecycle: Lifecycle, _ sender: PushSender, _ visits: LineupVisits, _ starter: Starter
    ) {
        self.membership = membership
        self.lineupPublisher = lineupPublisher
        self.missedAlerts = missedAlerts
        self.lifecycle = lifecycle
        self.sender = sender
        self.visits = visits
        self.starter = starter
    }

    /// Takes the alerts for the end of an old activity; all alerts that it has missed are in flight with that end. An activity whose name means
    /// another one gets none.
    private func takeMissed(
        byEndOf slot: ActivitySlot, of audience: Audience, stamp: Int64, at moment: Moment
    ) -> (alerts: ArraySlice<PendingAlert>, selection: AlertSelection?) {
        guard !lifecycle.hasLostName(slot) else { return ([], nil) }
        let missed = missedAlerts.pending(slot, of: audience)
        let selection = missed.selection(at: moment)
        let request = SubscriberGovernor.PushRequest(
            alert: selection.map { missed[$0.lead].alert.class }, priority: .immediate, isEnd: true)
        let decision = sender.governor.decision(
            on: request, for: membership.store[slot].budgetUse,
            membership.store.effect(of: Int(slot.rawValue), atMinute: moment.minuteOfDay),
            after: UInt32(clamping: stamp) - membership.store[slot].stamp)
        guard let selection, decision.silence == nil else {
            missedAlerts.passOver(
                missed, led: selection?.lead, outcome: decision.silence.map(AlertOutcome.silenced) ?? .stale, for: slot,
                of: audience, at: moment)
            membership.store[slot].alerted = audience.target
            membership.carriedAlerts.remove(slot)
            return ([], nil)
        }
        membership.store[slot].alerted = audience.target
        _ = membership.carriedAlerts.carry(
            CarriedAlerts.Entry(inFlight: Array(missed)), by: slot, at: audience.target,
            isFollower: audience.lineup == nil)
        return (missed, selection)
    }

    /// Visits the next lineups of a topic, at most `limit` of them. Each lineup looks at the news of all its topics. Most lineups have one member,
    /// which gets its push at once.
    ///
    /// - Returns: the number of visits.
    private func visitLineups(
        _ followed: TopicLineups, limit: Int, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Int {
        let (links, spotlightOnly) = followed.next(limit: limit)
        for link in links where !spotlightOnly || membership.lineups.isInSpotlight(link) {
            let row = membership.lineups.row(of: link)
            guard membership.lineups.hasNews(row) else { continue }
            if membership.lineups.isLone(row) {
                visits.visit(row, at: moment, into: &batch)
                continue
            }
            let audience = membership.awake(membership.lineups.audience(of: row))
            lineupPublisher.takeNews(of: audience, at: moment)
            if audience.isOfOne, audience.hasWork, audience.lane.parked == nil {
                sender.serveNext(of: audience, at: moment, into: &batch)
            } else {
                membership.lanes.enqueue(audience)
            }
            membership.rest(membership.lineups.audience(of: row))
        }
        followed.visited(links.count)
        return links.count
    }

    /// Handles a lineup's timer.
    func wakeLineup(_ index: AudienceIndex, at moment: Moment) {
        if let row = membership.lineups.loneRow(ofAudience: index) {
            visits.wake(row, at: moment)
        } else {
            lineupPublisher.wakeLineup(index, at: moment)
        }
    }

    /// Visits the next lineups whose wake-up is due, at most `limit` of them.
    ///
    /// - Returns: the number of visits.
    private func visitDue(_ due: DueLineups, limit: Int, at moment: Moment, into batch: inout DeliveryBatch) -> Int {
        var count = 0
        while count < limit,
            let row = due.popFirst(isDue: { [membership] in membership.lineups.isDue($0, lane: due.number) })
        {
            count += 1
            _ = membership.lineups.takeDue(row)
            visits.visit(row, isDue: true, at: moment, into: &batch)
        }
        return count
    }

    /// Number of activities that chance draws in search of one with a due push, before it chooses among the first of the lanes. Three of four
    /// searches succeed if a goal is due for one activity in fifty.
    private static let lotsMax = 64

    /// Appends one push that chance chooses: of all that are due, if many are, or else of those in the most urgent lane.
    func pullByLot(_ random: UInt64, at moment: Moment, into batch: inout DeliveryBatch) {
        let before = batch.deliveries.count
        let slots = UInt64(membership.store.activities.count)
        guard slots > 0 else { return }
        var random = random
        for _ in 0..<Dispatcher.lotsMax {
            random = (random &+ 1).mixed
            visitByLot(ActivitySlot(UInt32(random % slots)), at: moment, into: &batch)
            if batch.deliveries.count > before { return }
        }
        drawNext(by: random)
        pull(limit: 1, at: moment, into: &batch)
    }

    /// Visits an activity out of turn if its sweep, or its topic's cursor, would send it something. Other activities are left to their queues.
    private func visitByLot(_ slot: ActivitySlot, at moment: Moment, into batch: inout DeliveryBatch) {
        let activity = membership.store[slot]
        guard activity.audience != .none, activity.failures.count == 0,
            activity.flags.isDisjoint(with: [.inFlight, .suspended, .queued, .leaving, .tokenless])
        else { return }
        let index = activity.audience
        if let row = membership.lineups.loneRow(ofAudience: index) {
            let flags = membership.lineups[lone: row].flags
            guard membership.lineups.hasNews(row),
                flags.contains(.isDue) || flags.isDisjoint(with: [.inFlight, .isDeferred, .isGathering, .awaitsClaim])
            else { return }
            return visits.visit(row, at: moment, into: &batch)
        }
        let audience = membership.audiences[index]
        guard audience !== membership.audiences.resting, audience !== membership.audiences.restingFollower,
            audience.hasWork, audience.lane.parked == nil
        else { return }
        if audience.lineup != nil {
            lineupPublisher.takeNews(of: audience, at: moment)
            guard audience.hasWork, audience.lane.parked == nil else { return }
        }
        sender.visitOutOfTurn(slot, of: audience, at: moment, into: &batch)
    }

    /// Lets chance choose the next push: the member of the lane, and the visit of that member.
    private func drawNext(by random: UInt64) {
        membership.lanes.drawNext(by: random)
        guard let member = membership.lanes.current() else { return }
        let random = random >> 32
        if let audience = member as? Audience {
            audience.drawNext(by: random, positions: &membership.store.positions)
        } else if let lineups = member as? TopicLineups {
            membership.lineups.drawNext(of: lineups, by: random)
        } else {
            (member as? DueLineups)?.drawNext(by: random)
        }
    }

    /// Maximum of visits without a push in one pull, which take a millisecond. If there may be more, the next pull is due at once.
    private static let vainVisitsMax = 8192

    /// Appends pushes that are due, the most urgent first.
    func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        let end = batch.deliveries.count + limit
        // At most half of the visits, so that lineups that wake again and again do not keep everybody from a visit.
        var vainVisits = min(sender.claims.takeLooks(), Dispatcher.vainVisitsMax / 2)
        while batch.deliveries.count < end, let member = membership.lanes.current() {
            guard vainVisits < Dispatcher.vainVisitsMax else {
                cutShortAt = moment.monotonic
                break
            }
            let sent = batch.deliveries.count
            let limit = min(end - sent, membership.lanes.allowance(of: member))
            let visits = max(1, serve(member, limit: limit, at: moment, into: &batch))
            membership.lanes.charge(member, visits)
            member.noteVisits(visits)
            vainVisits += visits - (batch.deliveries.count - sent)
        }
    }

    /// Requests claims for starts that wait and that no claim names: a start that leaves makes room for them.
    func claimStarts(at moment: Moment) {
        if starter.hasUnclaimed { requestClaims(at: moment) }
    }

    /// Notes that all claims up to that ticket are durable.
    func confirmClaims(through ticket: UInt64, at moment: Moment) {
        sender.claims.confirm(ticket, at: moment)
        starter.confirmClaims(through: ticket)
    }

    /// Requests the claims of the pull's alerts and starts.
    func requestClaims(at moment: Moment) {
        starter.nameStarts(at: moment)
        sender.claims.request(at: moment)
    }

    private func serve(_ member: LaneMember, limit: Int, at moment: Moment, into batch: inout DeliveryBatch) -> Int {
        // Members have final classes, so a cast looks at nothing but the object's class.
        if let audience = member as? Audience { return serve(audience, limit: limit, at: moment, into: &batch) }
        if let due = member as? DueLineups { return visitDue(due, limit: limit, at: moment, into: &batch) }
        if member === sender.claims.roomTurn { return sender.claims.serveRoomTurn(at: moment) }
        return (member as? TopicLineups).map { visitLineups($0, limit: limit, at: moment, into: &batch) } ?? 0
    }

    /// Visits the next starts, members or departures of the audience, at most `limit` of them.
    ///
    /// - Returns: the number of visits.
    func serve(_ audience: Audience, limit: Int, at moment: Moment, into batch: inout DeliveryBatch) -> Int {
        if audience === lifecycle.departures {
            if let slot = lifecycle.nextDeparture() { sendPrivateEnd(slot, at: moment, into: &batch) }
            return 1
        }
        if membership.claims.isKept { audience.claimWait.noteVisit() }
        if audience.lineup != nil {
            lineupPublisher.takeNews(of: audience, at: moment)
            guard audience.lane.parked == nil, audience.hasWork else { return 1 }
        }
        if let slot = audience.nextStart { return starter.sendStart(slot, of: audience, at: moment, into: &batch) }
        guard !audience.revisits.hasPrompt, audience.order.remaining > 0 else {
            if let slot = sender.nextRevisit(of: audience) {
                sender.visitOutOfTurn(slot, of: audience, at: moment, into: &batch)
            }
            return 1
        }
        return sender.sweep(audience, limit: limit, at: moment, into: &batch)
    }

    private func sendPrivateEnd(_ slot: ActivitySlot, at moment: Moment, into batch: inout DeliveryBatch) {
        guard let stamp = sender.stampOfItsOwn(slot, at: moment) else {
            sender.awaitClock(slot, at: moment)
            return
        }
        if let last = lifecycle.lastStates[slot] { lineupPublisher.bringUpToDate(membership.awake(last), at: moment) }
        // An audience whose topics are over or were never published has no version, and so no last state.
        let push =
            if let last = lifecycle.lastStates[slot], membership.awake(last).target > 0 {
                makeLastState(of: slot, in: membership.awake(last), stamp: stamp, at: moment, into: &batch)
            } else {
                // A dismissal date in the past removes the card at once (spec §3.4, documented). It has to be in the past for the phone
                // even if our clock is some hours ahead.
                Push(
                    toOne: Payload(
                        event: .end, logLabel: "unfollow", state: [], stamp: stamp, staleDate: nil,
                        dismissalDate: moment.wallSeconds - Stamp.aheadMax, alert: nil, priority: .immediate))
            }
        _ = sender.send(push, to: [slot], into: &batch)
    }

    /// Makes the end of an activity whose audience goes on.
    private func makeLastState(
        of slot: ActivitySlot, in audience: Audience, stamp: Int64, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Push {
        let (missed, selection) = takeMissed(byEndOf: slot, of: audience, stamp: stamp, at: moment)
        return Push(
            toOne: sender.makePayload(
                PayloadRequest(event: .end, stamp: stamp, selection: selection, missed: missed), for: audience,
                at: moment, into: &batch),
            charging: selection.map { missed[$0.lead].alert.class })
    }
}
