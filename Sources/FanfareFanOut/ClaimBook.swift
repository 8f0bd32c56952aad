package import FanfareModel

/// Request of a shard to make claims durable.
package struct ClaimRequest: Sendable {
    /// Number of the request, counting up.
    package let ticket: UInt64
    package let claims: [AlertClaim]
}

/// Claims of a shard's alerts. With a store, an alert leaves for an activity only after the store has a claim that names the activity, so that
/// after a crash nobody is alerted twice, and those whom the alert has not reached still get it.
///
/// Sweeps claim blocks of members ahead of their cursor. An activity's claim is durable once the request with its ticket was answered.
struct ClaimBook {
    /// Is `true` if alerts need claims.
    private(set) var isKept = false
    /// Names of the activities in claims, by slot.
    private var marks: [ActivityMark] = []
    /// Ticket of the last request that names the activity, by slot; 0 for none.
    private var tickets: [UInt64] = []
    /// Claims that are not requested yet, and the number of names in them.
    private var claims: [AlertClaim] = []
    private var named = 0
    private static let namedMax = 4096
    private var requested: UInt64 = 0
    private var durable: UInt64 = 0
    /// Requests without an answer: their tickets, and when they were made, monotonic nanoseconds.
    private var open: [(ticket: UInt64, at: Int64)] = []
    /// Audiences whose sweeps wait for the request with that ticket.
    private var waiting: [(audience: Audience, tenant: UInt64, ticket: UInt64)] = []

    /// Alerts that left without claims, by topic, because the store took nothing. They are claimed for everybody once it does.
    private var unclaimed: [TopicID: PendingAlert] = [:]
    private static let unclaimedMax = 1 << 14
    /// Time after which alerts leave without their claims, because the store takes nothing, in nanoseconds: a goal does not wait for a disk,
    /// and a crash before it answers may alert twice.
    private(set) var patience: Int64 = 0

    /// Bounds on the members that are claimed at a time.
    private(set) var blocks = 1...1

    /// Makes alerts need claims. Called before there are activities.
    mutating func keep(patience: Duration, blocks: ClosedRange<Int>) {
        isKept = true
        self.patience = patience.milliseconds * 1_000_000
        self.blocks = blocks
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
            marks.append(mark())
            tickets.append(0)
        } else {
            marks[index] = mark()
            tickets[index] = 0
        }
    }

    /// Notes the name that the store has for the activity, if it may have got another one.
    mutating func rename(_ slot: ActivitySlot, _ mark: ActivityMark?) {
        guard isKept, let mark, marks[Int(slot.rawValue)] != mark else { return }
        name(slot, mark)
    }

    /// Ticket of the claims that are made now. Earlier ones are not for alerts that are published now.
    var next: UInt64 { requested + 1 }

    func isClaimed(_ slot: ActivitySlot, since first: UInt64) -> Bool {
        let ticket = tickets[Int(slot.rawValue)]
        return ticket >= first && ticket <= durable
    }

    /// Returns whether a claim names the activity that may not be durable yet.
    func isNamed(_ slot: ActivitySlot, since first: UInt64) -> Bool { tickets[Int(slot.rawValue)] >= first }

    /// Is `true` if so many activities are named that other audiences wait for the next request: what is claimed and not sent is lost to a
    /// crash, and there may be a million audiences of one.
    var isFull: Bool { named >= ClaimBook.namedMax }

    /// Claims an alert, and all older ones of its topic, for activities that no claim names yet.
    ///
    /// - Parameter lacks: returns whether the activity has not had the alert.
    mutating func claim(
        _ alert: PendingAlert, for slots: ArraySlice<ActivitySlot>, since first: UInt64, lacks: (ActivitySlot) -> Bool
    ) {
        var activities: [ActivityMark] = []
        activities.reserveCapacity(slots.count)
        for slot in slots where !isNamed(slot, since: first) && lacks(slot) {
            activities.append(marks[Int(slot.rawValue)])
            tickets[Int(slot.rawValue)] = next
        }
        guard !activities.isEmpty else { return }
        named += activities.count
        claims.append(AlertClaim(alert, for: activities))
    }

    /// Notes that an alert, and all older ones of its topic, leave without claims.
    ///
    /// - Returns: `true` for the first one since the store answered.
    mutating func leaveUnclaimed(_ alert: PendingAlert) -> Bool {
        let isFirst = unclaimed.isEmpty
        if unclaimed.count < ClaimBook.unclaimedMax || unclaimed[alert.topic] != nil { unclaimed[alert.topic] = alert }
        return isFirst
    }

    /// Claims for everybody what has left without claims.
    ///
    /// - Returns: `true` if there was any.
    mutating func claimUnclaimed(at moment: Moment) -> Bool {
        guard !unclaimed.isEmpty else { return false }
        for alert in unclaimed.values where alert.isCarried(at: moment) { claims.append(AlertClaim(alert, for: [])) }
        unclaimed = [:]
        return true
    }

    /// Makes an audience wait for the claim that names this member, or for the request before it.
    mutating func await(_ slot: ActivitySlot, of audience: Audience, since first: UInt64) {
        let ticket = isNamed(slot, since: first) ? tickets[Int(slot.rawValue)] : next
        waiting.append((audience, audience.tenant, ticket))
    }

    /// Forgets the claim of an activity that joins another audience.
    mutating func forget(_ slot: ActivitySlot) { if isKept { tickets[Int(slot.rawValue)] = 0 } }

    /// Removes and returns what is to be made durable; `nil` if there is nothing.
    mutating func takeRequest(at now: Int64) -> ClaimRequest? {
        guard !claims.isEmpty else { return nil }
        requested += 1
        open.append((requested, now))
        defer { (claims, named) = ([], 0) }
        return ClaimRequest(ticket: requested, claims: claims)
    }

    /// Notes that all requests up to that one are durable.
    ///
    /// - Returns: the audiences that waited for them.
    mutating func confirm(_ ticket: UInt64) -> [Audience] {
        durable = max(durable, ticket)
        open.removeAll { $0.ticket <= durable }
        let served = waiting.filter { $0.ticket <= durable && $0.audience.tenant == $0.tenant }.map(\.audience)
        waiting.removeAll { $0.ticket <= durable }
        return served
    }

    /// Returns whether the store has not answered for so long that alerts leave without claims.
    func isOverdue(at now: Int64) -> Bool { open.first.map { now - $0.at >= patience } ?? false }

    /// Is `true` if nothing waits for the store.
    var isIdle: Bool { claims.isEmpty && open.isEmpty && waiting.isEmpty && unclaimed.isEmpty }

    /// Checks the tickets of `count` slots.
    func violation(slots count: Int) -> String? {
        guard isKept else { return nil }
        guard marks.count == count, tickets.count == count else {
            return "\(marks.count) activities can be claimed of \(count)"
        }
        guard durable <= requested, open.allSatisfy({ $0.ticket > durable }) else {
            return "a claim is durable too early"
        }
        return nil
    }
}

extension AlertClaim {
    fileprivate init(_ alert: PendingAlert, for activities: [ActivityMark]) {
        let granted = alert.alert.grantedAt
        self.init(
            topic: alert.topic, through: granted, expires: granted + min(alert.alert.freshFor, AlertClaim.ageMax),
            activities: activities)
    }
}

/// Part of an audience's sweep that is claimed.
struct ClaimFront {
    /// Ticket of the first claims that count for the newest alert. An activity that no claim names has the ticket 0.
    var firstTicket: UInt64 = 1
    /// Members from the cursor on that claims name. An estimate: members that join or leave move others.
    private(set) var ahead = 0
    /// Members that are claimed at a time. What is claimed and not sent is lost to a crash, so a block is a small part of the audience.
    private(set) var block = 0
    private var blockMax = 0

    private static let part = 64

    /// Begins a sweep.
    mutating func restart(members: Int, blocks: ClosedRange<Int>) {
        ahead = 0
        block = min(max(members / ClaimFront.part, blocks.lowerBound), blocks.upperBound)
        blockMax = min(2 * block, blocks.upperBound)
    }

    /// Notes that the claims of the next members were not durable in time.
    mutating func widen() { block = blockMax }

    /// Number of members to be claimed behind those that are; `nil` if enough are claimed.
    var wanted: Int? { ahead > block / 2 ? nil : block }

    mutating func claimed(_ count: Int) { ahead += count }
    mutating func visited(_ count: Int) { ahead -= min(ahead, count) }
    mutating func forget() { ahead = 0 }
}
