import FanfareModel
import FanfareQueues

/// Limits on claims.
package struct ClaimLimits: Sendable {
    /// Time after which alerts leave without their claims, because the store does not answer: a goal does not wait for a disk. A crash before the
    /// answer may alert twice.
    let patience: Duration
    /// Bounds on the members of an audience that are claimed at a time.
    let blocks: ClosedRange<Int>
    /// Maximum number of names without an answer. Nobody is named either while so many audiences and lineups have an answer and no visit since. It is
    /// also the maximum number of named starts that have not left.
    let namedMax: Int

    package init(
        patience: Duration = .seconds(2), blocks: ClosedRange<Int> = 1024...65_536, namedMax: Int = 4096
    ) {
        self.patience = patience
        self.blocks = blocks
        self.namedMax = namedMax
    }
}

/// Claims of a shard's alerts, and the requests for them and for claims of starts (`StartClaims`). With a store, an alert leaves for an activity only
/// after the store has a claim that names the activity. After a crash no activity is alerted twice, and activities that the alert has not reached
/// still get it.
///
/// Sweeps claim blocks of members ahead of their cursor. An activity's claim is durable once the request with its ticket was answered.
struct ClaimBook {
    /// Is `true` if alerts and starts need claims.
    private(set) var isKept = false
    /// Raw values of the activities' names in claims, by slot.
    private var marks = GrowingColumn<UInt32>()
    /// Lowest 16 bits of the ticket of the last request that names the activity, by slot; 0 for none. The other bits follow from the newest request,
    /// because older tickets are forgotten in time.
    private var tickets = GrowingColumn<UInt16>()
    private var new = UnrequestedClaims()
    private var requested: UInt64
    private var durable: UInt64
    /// Place among the tickets at which the next request looks for old tickets.
    private var forgetting = 0
    /// Number of requests after which a ticket is old. An activity that still lacks its alert, in a backoff for example, is claimed again.
    private static let ticketAgeMax: UInt16 = 1 << 13
    /// Number of requests that together examine all tickets. Three such passes, during which the activities may multiply, and `ticketAgeMax` are
    /// less than the number of a ticket's values.
    private static let forgettingPass = 1 << 14
    /// Requests without an answer: their tickets, the times at which patience with them ends, and their names.
    private var requests: [(ticket: UInt64, patienceEnds: MonotonicTime, named: Int)] = []
    /// Names in `requests`.
    private var requestedNames = 0

    /// Audiences whose sweeps wait for a request, by its ticket. Some audiences of this and the other lists may be gone.
    private var claiming: [UInt64: [AudienceTenant]] = [:]
    /// Audiences whose next members no claim names yet, because there were too many names.
    private var unnamed = Queue<AudienceTenant>()
    /// Audiences that go on because their claims are durable, and some that have been visited since.
    private var ready = Queue<AudienceTenant>()

    var lineups = ClaimingLineups()
    /// Alerts that left without claims, by topic, because the store did not answer. All followers are claimed once the store answers.
    private var unclaimed: [TopicID: FreshAlerts] = [:]
    private static let unclaimedMax = 1 << 14
    private(set) var limits = ClaimLimits()

    /// - Parameter requested: number of requests so far.
    init(requested: UInt64 = 0) { (self.requested, durable) = (requested, requested) }

    /// Makes alerts need claims. Called before there are activities.
    mutating func keep(_ limits: ClaimLimits) {
        isKept = true
        self.limits = limits
    }

    mutating func reserve(_ count: Int) {
        guard isKept else { return }
        marks.reserveCapacity(count)
        tickets.reserveCapacity(count)
    }

    /// Names a new activity, which no claim names yet.
    mutating func name(_ slot: ActivitySlot, _ mark: @autoclosure () -> ActivityMark) {
        guard isKept else { return }
        let index = Int(slot.rawValue)
        if index == marks.count {
            marks.append(mark().rawValue)
            tickets.append(0)
        } else {
            marks[index] = mark().rawValue
            tickets[index] = 0
        }
    }

    /// Notes the name that the store has for the activity, if it may have got another one.
    mutating func rename(_ slot: ActivitySlot, _ mark: ActivityMark?) {
        guard isKept, let mark, marks[Int(slot.rawValue)] != mark.rawValue else { return }
        name(slot, mark)
    }

    /// Name of the activity, in claims and elsewhere.
    func mark(of slot: ActivitySlot) -> ActivityMark { ActivityMark(rawValue: marks[Int(slot.rawValue)]) }

    /// Ticket of new claims. Earlier tickets do not cover alerts that are published now. Its lowest 16 bits are never 0.
    var next: UInt64 { requested + (UInt16(truncatingIfNeeded: requested) == .max ? 2 : 1) }

    /// Returns the ticket of the last request that names the activity; 0 for none.
    private func ticket(of slot: ActivitySlot) -> UInt64 {
        let bits = tickets[Int(slot.rawValue)]
        return bits == 0 ? 0 : next - UInt64(UInt16(truncatingIfNeeded: next) &- bits)
    }

    func isClaimed(_ slot: ActivitySlot, since first: UInt64) -> Bool {
        let ticket = ticket(of: slot)
        return ticket >= first && ticket <= durable
    }

    /// Returns whether a claim names the activity, durable or not.
    func isNamed(_ slot: ActivitySlot, since first: UInt64) -> Bool { ticket(of: slot) >= first }

    /// Returns the number of activities that may be named now. It is bounded, because a crash loses alerts that are claimed and not sent, and there
    /// may be a million audiences of one. An audience that goes on counts as one.
    ///
    /// - Parameters:
    ///   - others: number of lineups of one member that go on because their claims are durable.
    ///   - isReady: returns whether an audience waits in the first lane for a visit to members whose claims are durable.
    mutating func room(beside others: Int, isReady: (AudienceTenant) -> Bool) -> Int {
        while let first = ready.first, !isReady(first) { ready.removeFirst() }
        return max(0, limits.namedMax - max(new.named + requestedNames, ready.count + others))
    }

    /// Is `true` if the queues for room have entries.
    var hasUnnamed: Bool { !unnamed.isEmpty || lineups.hasUnnamed }
    /// Number of the queues' entries, including those of audiences and lineups that do not wait any more.
    var unnamedCount: Int { unnamed.count + lineups.unnamedCount }

    /// Claims alerts for activities that no claim names yet.
    ///
    /// - Parameter lacks: returns whether the activity has not had the alerts.
    mutating func claim(
        _ alerts: FreshAlerts, for slots: some Collection<ActivitySlot>, since first: UInt64,
        lacks: (ActivitySlot) -> Bool
    ) {
        var activities: [ActivityMark] = []
        activities.reserveCapacity(slots.count)
        for slot in slots where !isNamed(slot, since: first) && lacks(slot) {
            activities.append(mark(of: slot))
            tickets[Int(slot.rawValue)] = UInt16(truncatingIfNeeded: next)
        }
        guard !activities.isEmpty else { return }
        new.add(alerts, for: activities)
    }

    /// Claims alerts for one activity, which no claim names yet: the only member of a lineup, or a carrier of alerts.
    mutating func claim(_ alerts: FreshAlerts, for slot: ActivitySlot) {
        new.add(alerts, forLineupOf: mark(of: slot))
        tickets[Int(slot.rawValue)] = UInt16(truncatingIfNeeded: next)
    }

    mutating func claim(_ start: StartMark) { new.add(start) }

    /// Notes that alerts leave without claims.
    ///
    /// - Returns: `true` for the first ones since the store answered.
    mutating func leaveUnclaimed(_ alerts: FreshAlerts, at now: MonotonicTime) -> Bool {
        let isFirst = unclaimed.isEmpty
        if unclaimed.count >= ClaimBook.unclaimedMax { unclaimed = unclaimed.filter { $0.value.freshUntil > now } }
        for alerts in [alerts] + alerts.additional {
            if unclaimed[alerts.topic] == nil, unclaimed.count == ClaimBook.unclaimedMax { continue }
            unclaimed[alerts.topic, default: alerts].merge(alerts)
        }
        return isFirst
    }

    /// Claims the `unclaimed` alerts for all followers.
    ///
    /// - Returns: `true` if there were such alerts.
    mutating func claimUnclaimed(at now: MonotonicTime) -> Bool {
        guard !unclaimed.isEmpty else { return false }
        for alerts in unclaimed.values where alerts.freshUntil > now { new.add(alerts, for: []) }
        unclaimed = [:]
        return true
    }

    /// Makes an audience wait for the claim that names this member, or for room to name it.
    mutating func await(_ slot: ActivitySlot, of audience: AudienceTenant, _ wait: inout ClaimWait, since first: UInt64)
    {
        if isNamed(slot, since: first) {
            claiming[ticket(of: slot), default: []].append(audience)
        } else if wait.awaitRoom() {
            unnamed.append(audience)
        }
    }

    /// Makes a lineup of one member wait for the claim that names this activity, or for room to name it.
    mutating func await(_ slot: ActivitySlot, inRow row: Int, since first: UInt64) {
        lineups.append(row, ticket: isNamed(slot, since: first) ? ticket(of: slot) : nil)
    }

    /// Removes and returns the lineups of one member that need not wait any more.
    mutating func takeClaimedLineups(at now: MonotonicTime) -> [Int] {
        lineups.takeNamed(through: isOverdue(at: now) ? .max : durable)
    }

    /// Removes and returns some audiences, and one-member lineups by their rows, that wait for room: at most one for each name. Examines a bounded
    /// number of entries, because a million lineups may have left, and one entry at least if there is room.
    ///
    /// - Parameters:
    ///   - endWait: ends an audience's wait for room; returns `false` if the audience is gone, or has gone on by itself.
    ///   - awaitsClaim: returns whether the lineup of a row still waits.
    mutating func takeUnnamed(
        _ room: Int, endWait: (AudienceTenant) -> Bool, awaitsClaim: (Int) -> Bool
    ) -> (audiences: [AudienceTenant], rows: [Int]) {
        guard room > 0 else { return ([], []) }
        var shares = (audiences: room, lineups: room)
        if !unnamed.isEmpty, lineups.hasUnnamed {
            // Each kind gets half of the room. The odd name goes to each in turn, or one kind would starve while names become free one by one.
            shares.lineups = lineups.getOddName ? room - room / 2 : room / 2
            shares.audiences = room - shares.lineups
            lineups.getOddName.toggle()
        }
        var audiences: [AudienceTenant] = []
        var examined = 0
        while audiences.count < shares.audiences, examined < ClaimingLineups.examinedMax(forNames: shares.audiences),
            let first = unnamed.popFirst()
        {
            examined += 1
            if endWait(first) { audiences.append(first) }
        }
        return (audiences, lineups.takeUnnamed(shares.lineups, awaitsClaim: awaitsClaim))
    }

    /// Notes that an audience stands in its lane because claims of its next members are durable.
    mutating func noteReady(_ audience: AudienceTenant, _ wait: inout ClaimWait) {
        wait.noteReady()
        ready.append(audience)
    }

    /// Forgets the claim of an activity that joins another audience.
    mutating func forget(_ slot: ActivitySlot) { if isKept { tickets[Int(slot.rawValue)] = 0 } }

    /// Removes and returns the claims to be made durable; `nil` without any.
    mutating func takeRequest(at now: MonotonicTime) -> ClaimRequest? {
        guard !new.isEmpty else { return nil }
        requested = next
        forgetOldTickets()
        requests.append((requested, now + limits.patience, new.named))
        requestedNames += new.named
        return new.takeAll(ticket: requested)
    }

    /// Examines some tickets with each request, so that no request examines all tickets.
    private mutating func forgetOldTickets() {
        if forgetting >= tickets.count { forgetting = 0 }
        let end = min(tickets.count, forgetting + tickets.count / ClaimBook.forgettingPass + 1)
        let next = UInt16(truncatingIfNeeded: next)
        for index in forgetting..<end where tickets[index] != 0 && next &- tickets[index] >= ClaimBook.ticketAgeMax {
            tickets[index] = 0
        }
        forgetting = end
    }

    /// Notes that all requests up to that one are durable.
    ///
    /// - Returns: the audiences that waited for them, in the order of their tickets.
    mutating func confirm(_ ticket: UInt64) -> [AudienceTenant] {
        durable = max(durable, ticket)
        requests.removeAll { $0.ticket <= durable }
        requestedNames = requests.reduce(0) { $0 + $1.named }
        var served: [AudienceTenant] = []
        for ticket in claiming.keys.filter({ $0 <= durable }).sorted() {
            served += claiming.removeValue(forKey: ticket) ?? []
        }
        return served
    }

    /// The time from which on alerts leave without claims, because the store has not answered; `nil` if it owes no answer.
    private var patienceEnds: MonotonicTime? { requests.first?.patienceEnds }

    /// The time at which lineups that wait are examined again.
    func looksAgain(at now: MonotonicTime) -> MonotonicTime { patienceEnds ?? now + limits.patience }

    /// Is `true` if no request waits for the store's answer, and no claim for a request.
    var owesNothing: Bool { requests.isEmpty && new.isEmpty }

    func isOverdue(at now: MonotonicTime) -> Bool { patienceEnds.map { now >= $0 } ?? false }

    /// Is `true` if nothing waits for the store.
    var isIdle: Bool {
        new.isEmpty && requests.isEmpty && claiming.isEmpty && unnamed.isEmpty && unclaimed.isEmpty && lineups.isEmpty
    }

    /// Checks the tickets of `count` slots.
    func violation(slots count: Int) -> String? {
        guard isKept else { return nil }
        guard marks.count == count, tickets.count == count else {
            return "\(marks.count) activities can be claimed of \(count)"
        }
        guard durable <= requested, requests.allSatisfy({ $0.ticket > durable }) else {
            return "a claim is durable too early"
        }
        guard requestedNames == requests.reduce(0, { $0 + $1.named }) else {
            return "\(requestedNames) names are counted without an answer"
        }
        return new.violation() ?? lineups.violation()
    }
}
