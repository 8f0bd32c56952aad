import FanfareModel
import FanfareQueues

/// Lets alerts leave only for activities whose claims are durable, and claims the next activities of a sweep.
final class AlertClaims {
    private let reporter: FeedbackReporter
    private let membership: Membership
    /// Nanoseconds for which a lineup's alert waits for others (`LineupRules.gather`).
    private let gather: Int64
    let roomTurn = RoomTurn()
    /// Number of alerts that have left for activities without their claims.
    @safe @exclusivity(unchecked) private(set) var unclaimed = 0
    /// Number of looks at the news of lineups that wake without room, since a pull last counted them.
    @safe @exclusivity(unchecked) private var looks = 0
    // The arrays are kept, so that a look at a lineup's news allocates nothing.
    /// Facts of the news that the lineup has not looked at.
    @safe @exclusivity(unchecked) private var news: [(position: Int, fact: TopicLineups.Fact)] = []
    /// The alerts of `news` that are new to the lineup.
    @safe @exclusivity(unchecked) private var newAlerts: [IssuedAlert] = []

    init(_ reporter: FeedbackReporter, _ membership: Membership) {
        self.reporter = reporter
        self.membership = membership
        gather = membership.lineupRules.gather.boundedNanoseconds
    }

    /// Returns the alerts that activities of this audience get only with a claim; `nil` if none is needed.
    private func alerts(of audience: Audience, at moment: Moment) -> FreshAlerts? {
        guard membership.claims.isKept, let alerts = audience.alerts.fresh(at: moment) else { return nil }
        return leaveUnclaimed(alerts, at: moment) ? nil : alerts
    }

    /// Returns whether alerts leave without their claims, because the store has not answered for too long.
    private func leaveUnclaimed(_ alerts: FreshAlerts, at moment: Moment) -> Bool {
        guard membership.claims.isOverdue(at: moment.monotonic) else { return false }
        if membership.claims.leaveUnclaimed(alerts, at: moment.monotonic) {
            reporter.report(
                "the store has taken no claims for \(membership.claims.limits.patience.components.seconds) s; alerts leave without them, and a crash "
                    + "before it does may repeat them")
        }
        return true
    }

    /// Returns whether alerts may leave for the member of a lineup whose state is in its row. Otherwise they are claimed if there is room, and the
    /// lineup waits: a visit is queued when the claim is durable, or when there is room.
    func admit(_ alerts: [IssuedAlert], toMemberOf row: Int, at moment: Moment) -> Bool {
        guard membership.claims.isKept, let fresh = FreshAlerts(alerts, at: moment) else { return true }
        let slot = membership.lineups[lone: row].member
        let first = AlertClaims.firstTicket(of: alerts)
        if membership.claims.isClaimed(slot, since: first) || leaveUnclaimed(fresh, at: moment) { return true }
        // A visit for another reason may name a row that waits for room. The row's first entry then ends no wait.
        var isNew = !membership.lineups[lone: row].flags.contains(.awaitsClaim)
        if !membership.claims.isNamed(slot, since: first), room > 0 {
            membership.claims.claim(fresh, for: slot)
            isNew = true
        }
        if isNew {
            membership.claims.await(slot, inRow: row, since: first)
            queueRoomTurn()
        }
        return false
    }

    /// Lets a lineup of one member whose wake-up ends its wait for other alerts wait for room, without a visit: the turn for room claims its alerts.
    ///
    /// - Returns: `false` if the lineup does not gather alerts, or waits already, or if alerts leave without their claims; also if there is no room, and
    ///   the lineup needs no claim by now.
    func awaitRoom(_ row: Int, at moment: Moment) -> Bool {
        let state = membership.lineups[lone: row]
        guard membership.claims.isKept, state.flags.contains(.isGathering), state.lane == 0,
            state.flags.isDisjoint(with: [.inFlight, .isDue, .awaitsClaim]),
            !membership.claims.isOverdue(at: moment.monotonic)
        else { return false }
        if room == 0 {
            looks += 1
            // A lineup whose alerts were revoked does not wait for the room of others.
            if alertsToClaim(ofLone: row, at: moment) == nil { return false }
        }
        membership.lineups[lone: row].flags.insert(.awaitsClaim)
        membership.claims.lineups.append(row, ticket: nil)
        queueRoomTurn(mayHaveRoom: room > 0)
        // No pull may come that sets the timer while the store owes an answer.
        setTimer(at: moment)
        return true
    }

    /// Takes the number of lineups whose news were looked at without a visit since the last call. The next pull counts these looks as visits.
    func takeLooks() -> Int {
        defer { looks = 0 }
        return looks
    }

    /// Number of activities that may be named now: none while many names wait for the store's answer, or while many activities with an answer have
    /// not been sent their alerts.
    private var room: Int { membership.claims.room(beside: membership.dueLineups[0].firstCount, isReady: isReady) }

    private func isReady(_ tenant: AudienceTenant) -> Bool {
        guard let audience = membership.audiences.find(tenant) else { return false }
        return audience.claimWait.isReady && audience.lane.current == 0
    }

    /// Returns the first members under the cursor that may be visited: an alert may leave for them, or they have had the alert. Claims the alert for
    /// later members, and pauses the sweep if none may be visited.
    func admit(
        _ run: ArraySlice<ActivitySlot>, of audience: Audience, at moment: Moment
    ) -> ArraySlice<ActivitySlot> {
        guard membership.claims.isKept, let slot = run.first else { return run }
        if membership.hasCarriers(audience), carries(slot) { return admitCarriers(run, of: audience, at: moment) }
        guard !audience.alerts.pending.isEmpty else { return run }
        let (newest, first) = (audience.alerts.newest, audience.claimFront.firstTicket)
        let admitted = run.prefix {
            membership.store[$0].alerted >= newest || membership.claims.isClaimed($0, since: first)
        }
        // The members of most runs are claimed, and so are the members after them.
        if admitted.count == run.count, audience.claimFront.wanted == nil { return run }
        guard let alerts = alerts(of: audience, at: moment) else { return run }
        if admitted.isEmpty {
            if membership.claims.isNamed(slot, since: first) {
                audience.claimFront.widen()
            } else {
                audience.claimFront.forget()
            }
        }
        if let wanted = audience.claimFront.wanted, room > 0 {
            let next = audience.order.next(limit: wanted, skipping: audience.claimFront.ahead)
            let store = membership.store
            membership.claims.claim(alerts, for: next, since: first) {
                store[$0].alerted < newest && !membership.carriedAlerts.contains($0)
            }
            audience.claimFront.claimed(next.count)
        }
        if admitted.isEmpty { awaitClaim(slot, of: audience, since: first, at: moment) }
        return admitted
    }

    /// Pauses the sweep until a claim names this member, or until there is room to name it.
    private func awaitClaim(_ slot: ActivitySlot, of audience: Audience, since first: UInt64, at moment: Moment) {
        let index = membership.store[slot].audience
        membership.park(audience, index, due: moment.monotonic + membership.claims.limits.patience)
        membership.claims.await(
            slot, of: membership.audiences.tenant(at: index), &audience.claimWait, since: first)
        queueRoomTurn()
    }

    // MARK: Carried alerts

    func carries(_ slot: ActivitySlot) -> Bool { membership.claims.isKept && membership.carriedAlerts.contains(slot) }

    /// Claim that a member with carried alerts needs. It is of these alerts and of those that the member has missed in its audience, and has the
    /// ticket `first` or a later one. A block's claim names only alerts of the audience.
    private struct Need {
        let alerts: FreshAlerts
        let first: UInt64
    }

    /// Returns the alerts that a carrier's next push may have.
    private func issues(of slot: ActivitySlot, in audience: Audience) -> [IssuedAlert] {
        let missed = audience.alerts.missed(after: membership.store[slot].alerted).map(\.issue)
        return (membership.carriedAlerts[slot]?.pending.map(\.issue) ?? []) + missed
    }

    /// Returns the claim that a carrier needs for its visit; `nil` for none.
    private func need(of slot: ActivitySlot, in audience: Audience, at moment: Moment) -> Need? {
        let issues = issues(of: slot, in: audience)
        guard let alerts = FreshAlerts(issues, at: moment) else { return nil }
        let first = max(1, AlertClaims.firstTicket(of: issues))
        if membership.claims.isClaimed(slot, since: first) || leaveUnclaimed(alerts, at: moment) { return nil }
        return Need(alerts: alerts, first: first)
    }

    private func claim(_ need: Need, for slot: ActivitySlot) {
        guard room > 0, !membership.claims.isNamed(slot, since: need.first) else { return }
        membership.claims.claim(need.alerts, for: slot)
    }

    /// Returns the first members under the cursor that carry alerts along and may be visited. Claims the alerts of some later members, and pauses the
    /// sweep if none may be visited.
    private func admitCarriers(
        _ run: ArraySlice<ActivitySlot>, of audience: Audience, at moment: Moment
    ) -> ArraySlice<ActivitySlot> {
        guard let slot = run.first, let first = need(of: slot, in: audience, at: moment) else {
            return run.prefix { need(of: $0, in: audience, at: moment) == nil }
        }
        for next in audience.order.next(limit: membership.claims.limits.blocks.lowerBound, skipping: 0) {
            if carries(next), let need = need(of: next, in: audience, at: moment) { claim(need, for: next) }
        }
        awaitClaim(slot, of: audience, since: first.first, at: moment)
        return []
    }

    enum OutOfTurn { case admitted, sweepComes, waits }

    /// Returns whether a member may be visited out of turn. Claims the alert that the member lacks if the sweep will not visit the member.
    func admitOutOfTurn(_ slot: ActivitySlot, of audience: Audience, at moment: Moment) -> OutOfTurn {
        if carries(slot) {
            guard let need = need(of: slot, in: audience, at: moment) else { return .admitted }
            claim(need, for: slot)
            return .waits
        }
        guard membership.store[slot].alerted < audience.alerts.newest, let alerts = alerts(of: audience, at: moment),
            !membership.claims.isClaimed(slot, since: audience.claimFront.firstTicket)
        else { return .admitted }
        if audience.order.isUnvisited(Int(membership.store.positions[Int(slot.rawValue)])) { return .sweepComes }
        membership.claims.claim(alerts, for: [slot], since: audience.claimFront.firstTicket) { _ in true }
        return .waits
    }

    // MARK: Alerts without claims

    /// Returns the ticket from which on a claim covers these alerts; 0 for no alerts.
    private static func firstTicket(of alerts: [IssuedAlert]) -> UInt64 {
        alerts.reduce(0) { max($0, $1.claimedFrom) }
    }

    /// Counts the alerts of a push that leaves without claims, because the store has not answered for too long.
    func noteSent(
        _ selection: AlertSelection?, to slots: ArraySlice<ActivitySlot>, of audience: Audience, at moment: Moment
    ) {
        guard membership.claims.isOverdue(at: moment.monotonic), let selection, let slot = slots.first else { return }
        let first =
            carries(slot)
            ? max(1, AlertClaims.firstTicket(of: issues(of: slot, in: audience))) : audience.claimFront.firstTicket
        for slot in slots where !membership.claims.isClaimed(slot, since: first) { unclaimed += selection.count }
    }

    /// Counts the alerts of a push to the member of a lineup whose state is in its row.
    ///
    /// - Parameter alerts: the alerts that are new to the lineup, from which the push's were selected.
    func noteSent(_ selection: AlertSelection?, of alerts: [IssuedAlert], to slot: ActivitySlot, at moment: Moment) {
        guard membership.claims.isOverdue(at: moment.monotonic), let selection,
            !membership.claims.isClaimed(slot, since: AlertClaims.firstTicket(of: alerts))
        else { return }
        unclaimed += selection.count
    }

    // MARK: Waits

    /// Returns whether the activity waits for a claim, its own or that of an earlier member of the sweep.
    func awaits(_ slot: ActivitySlot) -> Bool {
        let activity = membership.store[slot]
        guard membership.claims.isKept, activity.audience != .none else { return false }
        if let row = membership.lineups.loneRow(ofAudience: activity.audience) {
            let state = membership.lineups[lone: row]
            return state.flags.contains(.awaitsClaim)
                || state.flags.contains(.isDue) && state.lane == 0 && !membership.claims.owesNothing
        }
        let audience = membership.audiences[activity.audience]
        if carries(slot) { return !membership.claims.isClaimed(slot, since: 1) }
        // A member that has had the alert may lack a newer state, and wait for earlier members of the sweep.
        let isUnvisited = audience.order.isUnvisited(Int(membership.store.positions[Int(slot.rawValue)]))
        if isUnvisited, audience.lane.parked != nil, !membership.claims.owesNothing { return true }
        guard activity.alerted < audience.alerts.newest else { return false }
        return audience.lane.parked != nil
            || !membership.claims.isClaimed(slot, since: audience.claimFront.firstTicket)
    }

    /// Notes that all claims up to that ticket are durable.
    func confirm(_ ticket: UInt64, at moment: Moment) {
        unpark(membership.claims.confirm(ticket), areReady: true, at: moment)
        releaseClaimedLineups(at: moment)
        queueRoomTurn(mayHaveRoom: true)
        if membership.claims.claimUnclaimed(at: moment.monotonic) {
            reporter.report("the store takes claims again")
        }
        request(at: moment)
    }

    /// - Parameter areReady: whether claims that name the next members are durable.
    private func unpark(_ tenants: [AudienceTenant], areReady: Bool, at moment: Moment) {
        for tenant in tenants {
            guard let audience = membership.audiences.find(tenant), audience.lane.parked != nil else { continue }
            // Another alert may have begun to gather.
            if let lineup = audience.lineup, lineup.isGathering(at: moment.monotonic) {
                membership.unpark(audience)
                membership.park(audience, membership.lineups.audience(of: lineup.row), due: lineup.publishedAt)
            } else {
                membership.unpark(audience)
                if areReady { membership.claims.noteReady(tenant, &audience.claimWait) }
            }
        }
    }

    /// Queues the visits of one-member lineups whose claims are durable, or of all such lineups if the store has not answered for too long.
    private func releaseClaimedLineups(at moment: Moment) {
        for row in membership.claims.takeClaimedLineups(at: moment.monotonic) where awaitsClaim(row) {
            queue(row, isFirst: true)
        }
    }

    /// Lets some audiences and one-member lineups that wait for room go on. Neither kind takes all the room.
    private func releaseUnnamed(_ room: Int, at moment: Moment) {
        let (tenants, rows) = membership.claims.takeUnnamed(
            room, endWait: endWaitForRoom, awaitsClaim: awaitsClaim)
        unpark(tenants, areReady: false, at: moment)
        let isOverdue = membership.claims.isOverdue(at: moment.monotonic)
        for row in rows {
            if isOverdue { queue(row) } else { name(row, at: moment) }
        }
    }

    /// Lets a lineup of one member that has waited for room wait for the claim of its alerts, without a visit. A visit is queued if no claim is
    /// needed by now, or if the alerts still gather others.
    private func name(_ row: Int, at moment: Moment) {
        guard let fresh = alertsToClaim(ofLone: row, at: moment) else { return queue(row) }
        let slot = membership.lineups[lone: row].member
        let first = AlertClaims.firstTicket(of: newAlerts)
        // A visit for another reason may have named the row meanwhile.
        if !membership.claims.isNamed(slot, since: first) { membership.claims.claim(fresh, for: slot) }
        membership.claims.await(slot, inRow: row, since: first)
    }

    /// Returns the alerts for which a lineup of one member needs a claim; `nil` if it needs none, or if its alerts still gather others. `newAlerts` has
    /// the alerts that are new to the lineup.
    private func alertsToClaim(ofLone row: Int, at moment: Moment) -> FreshAlerts? {
        guard lookForAlerts(row, at: moment), let fresh = FreshAlerts(newAlerts, at: moment) else { return nil }
        let slot = membership.lineups[lone: row].member
        return membership.claims.isClaimed(slot, since: AlertClaims.firstTicket(of: newAlerts)) ? nil : fresh
    }

    /// Collects the alerts that are new to a lineup of one member in `newAlerts`, as a visit does.
    ///
    /// - Returns: `false` if the alerts still gather others.
    private func lookForAlerts(_ row: Int, at moment: Moment) -> Bool {
        if !newAlerts.isEmpty { newAlerts.removeAll(keepingCapacity: true) }
        membership.lineups.collect(row, into: &news)
        var began: MonotonicTime?
        for index in news.indices {
            let (position, fact) = news[index]
            guard let issue = membership.newAlert(of: fact, row, position: position) else { continue }
            newAlerts.append(issue)
            if began == nil { began = fact.at }
        }
        guard let began, membership.lineups[lone: row].flags.contains(.isGathering) else { return true }
        return began.advanced(byNanoseconds: gather) <= moment.monotonic
    }

    /// Ends an audience's wait for room.
    ///
    /// - Returns: `false` if the audience is gone or did not wait, or if it has gone on by its timer.
    private func endWaitForRoom(_ tenant: AudienceTenant) -> Bool {
        guard let audience = membership.audiences.find(tenant), audience.claimWait.endWaitForRoom() else {
            return false
        }
        return audience.lane.parked != nil
    }

    /// Queues the turn for room, unless an answer of the store will queue the turn.
    ///
    /// - Parameter mayHaveRoom: whether the turn may find room before another answer.
    private func queueRoomTurn(mayHaveRoom: Bool = false) {
        guard membership.claims.hasUnnamed, mayHaveRoom || membership.claims.owesNothing else { return }
        roomTurn.isDue = true
        membership.lanes.enqueue(roomTurn)
    }

    /// Lets waiting audiences and lineups go on as far as there is room. The turn stays due while some wait and there is room, so that a request has as
    /// many names as there may be. With room each turn takes one of those who wait at least, so the turns of a pull come to an end.
    ///
    /// - Returns: at least the visits of a whole turn, because the released ones come before the others. Each entry that is examined counts as a visit,
    ///   also one of somebody who does not wait any more, so that the bound on a pull's visits holds.
    func serveRoomTurn(at moment: Moment) -> Int {
        let before = membership.claims.unnamedCount
        releaseUnnamed(min(room, RoomTurn.namesMax), at: moment)
        roomTurn.isDue = membership.claims.hasUnnamed && (membership.claims.owesNothing || room > 0)
        return max(before - membership.claims.unnamedCount, roomTurn.lane.deficit)
    }

    private func awaitsClaim(_ row: Int) -> Bool {
        membership.lineups.isLone(row) && membership.lineups[lone: row].flags.contains(.awaitsClaim)
    }

    private func queue(_ row: Int, isFirst: Bool = false) {
        membership.lineups[lone: row].flags.remove(.awaitsClaim)
        membership.queue(row, lane: 0, isFirst: isFirst)
    }

    /// Requests that new claims become durable.
    func request(at moment: Moment) {
        guard membership.claims.isKept else { return }
        if let request = membership.claims.takeRequest(at: moment.monotonic) { reporter.request(request) }
        setTimer(at: moment)
    }

    /// Sets the timer for lineups that wait for the store.
    private func setTimer(at moment: Moment) {
        if membership.claims.lineups.isEmpty {
            if let timer = membership.claims.lineups.timer.take() { membership.timers.cancel(timer) }
        } else if membership.claims.lineups.timer == nil {
            let now = moment.monotonic
            // Lineups go on in groups, so that a million of them lengthen no turn.
            membership.claims.lineups.timer = membership.timers.insert(
                .claims, due: max(membership.claims.looksAgain(at: now), now + AlertClaims.pause))
        }
    }

    /// Time between two groups of lineups that go on without their claims.
    private static let pause = Duration.milliseconds(1)

    /// Handles the lineups' timer, which ends waits for a store that does not answer.
    func wake(at moment: Moment) {
        membership.claims.lineups.timer = nil
        if membership.claims.isOverdue(at: moment.monotonic) {
            releaseClaimedLineups(at: moment)
            releaseUnnamed(membership.claims.limits.namedMax, at: moment)
        }
        setTimer(at: moment)
    }
}
