import FanfareModel

/// The activities that receive the same payload, the version they are being brought to, and how far the sweep has come.
///
/// Publishing touches nothing but this object: O(1), whatever its size. Confined to its shard's thread.
final class Audience: LaneMember {
    /// Indices into the shard's topics; one for a topic's followers, several for a lineup.
    @exclusivity(unchecked) var topics: [Int]
    /// `nil` for a topic's followers.
    let lineup: Lineup?

    // Unchecked for the reason given in `Shard`.
    @exclusivity(unchecked) var order = SweepOrder<ActivitySlot>()
    @exclusivity(unchecked) private(set) var newest: NewestVersion
    @exclusivity(unchecked) var ledger = VersionLedger()
    @exclusivity(unchecked) private(set) var publications: OpenPublications
    @exclusivity(unchecked) private(set) var times = PublicationTimes()
    @exclusivity(unchecked) private(set) var alerts = AlertHistory()
    @exclusivity(unchecked) private(set) var revisits = Revisits()
    @exclusivity(unchecked) private(set) var starts = StartLine()
    @exclusivity(unchecked) private var payloads = StampedPayloads()
    /// Members that are owed a push, and starts, once there is something to show; and members that were refused the newest version for
    /// good, so that only a newer one can help them. `Shard.count` changes them, for the shard too.
    @exclusivity(unchecked) var owed = 0
    @exclusivity(unchecked) var refused = 0
    /// Who needs this audience without being a member: `Shard.expect`.
    var expected = 0

    var target: UInt32 { newest.number }
    var event: Publication.Event { newest.event }
    var priority: Priority { newest.priority }

    /// - Parameter openMax: publications whose completion is told apart.
    init(topics: [Int], lineup: Lineup? = nil, openMax: Int, priority: Priority = .conserving) {
        publications = OpenPublications(capacity: openMax)
        newest = NewestVersion(priority: priority)
        self.topics = topics
        self.lineup = lineup
    }

    // MARK: At rest

    /// Its only member has its newest version, and nothing is owed to anybody, on its way or waiting: all that is known of it has
    /// room in a row of `LineupTable`, and this object can be another lineup's.
    var isResting: Bool {
        order.count == 1 && order.remaining == 0 && owed == 0 && refused == 0 && expected == 0 && event == .update
            && ledger.isResting && publications.count == 0 && revisits.isEmpty && starts.count == 0
            && lane.parked == nil
    }

    /// Becomes an audience that rests.
    ///
    /// - Parameters:
    ///   - number: of the newest version, which the member has.
    ///   - version: `nil` where there has been none.
    ///   - seen: of its alerts.
    func rest(_ member: ActivitySlot, at number: UInt32, _ version: Version?, priority: Priority, seen: SIMD2<UInt8>) {
        order.rest(member)
        newest = NewestVersion(number, version, priority: priority)
        ledger.rest(number, display: version?.display ?? 0)
        times = PublicationTimes()
        alerts = AlertHistory(resting: seen)
        payloads = StampedPayloads()
    }

    /// Alerts that it had before it rested.
    func restoreAlerts(_ older: [IssuedAlert]) { alerts.restore(older, in: ledger.oldest) }

    // MARK: Publishing

    struct Version {
        let event: Publication.Event
        let priority: Priority
        let latest: Publication
        /// Hash of what it shows.
        let display: UInt64
    }

    /// A new version for everybody; they are all owed it from here on. O(1).
    ///
    /// - Parameters:
    ///   - alert: that it brings, if any.
    ///   - freshness: where the shard keeps its kind's figures.
    ///   - now: when it came, monotonic nanoseconds.
    func publish(_ version: Version, alerting alert: IssuedAlert?, freshness: Int, at now: Int64) {
        take(version)
        times.note(now, freshness: freshness, hasMembers: order.count > 0)
        owed = order.count + starts.count
        refused = 0
        order.restart()
        if let alert { alerts.append(alert, in: target, for: order.count, having: ledger.oldest) }
    }

    /// The newest version once more, as a version of its own, for members who have been sent it already, too.
    func versionAgain() -> Version? {
        guard let latest = newest.publication, event == .update else { return nil }
        newest.showAgain()
        return Version(event: event, priority: priority, latest: latest, display: ledger.newestDisplay)
    }

    /// - Returns: the publication that this one overtakes (`OpenPublications`).
    func open(_ serial: UInt64) -> UInt64? { publications.open(serial, in: target) }

    /// The first version of an audience made after its topics were published: there is nobody yet who could lack it.
    func adopt(_ version: Version) { take(version) }

    private func take(_ version: Version) {
        newest.advance(to: version)
        ledger.open(target, display: version.display)
    }

    /// The alert rides no more. Payloads that carry it go with it.
    func revokeAlert(cause: String, topic: TopicID) {
        for version in alerts.revoke(cause: cause, topic: topic) { payloads.drop(alert: version) }
    }

    /// The oldest publication whose version the last member has reached, or passed, by now.
    func takeCompleted() -> UInt64? { publications.takeCompleted(oldest: ledger.oldest) }

    /// Since when a push of this audience has been due, once: for the first of them.
    func takeWaiting() -> Int64? { times.takeWaiting() }

    // MARK: The sweep

    override var audience: Audience? { self }

    override var hasWork: Bool { hasFreshWork || !revisits.late.isEmpty || target > 0 && !starts.late.isEmpty }

    private var hasFreshWork: Bool { order.remaining > 0 || !revisits.prompt.isEmpty || hasStarts }

    /// Starts, ends and alerts before priority 10 before priority 5 before those that have strikes.
    override var preferredLane: Int {
        guard hasFreshWork else { return Lanes.lastLane }
        if event == .end || awaitsAlert || hasStarts { return 0 }
        return priority == .immediate ? 1 : 2
    }

    private var hasStarts: Bool { target > 0 && !starts.prompt.isEmpty }
    /// An alert has not come to some member yet; now and then also said of one to which it has, out of turn.
    private var awaitsAlert: Bool { min(alerts.unreached, order.remaining) > 0 || revisits.awaitsAlert }

    /// Who awaits an alert goes before who awaits a card.
    var nextStart: ActivitySlot? {
        guard target > 0 else { return nil }
        guard hasFreshWork else { return starts.late.first }
        return awaitsAlert ? nil : starts.next
    }

    /// So many visits have been made, of whomever.
    override func noteVisits(_ count: Int) { starts.noteVisits(count) }

    /// - Parameter isLate: it has strikes.
    func addStart(_ slot: ActivitySlot, isLate: Bool, positions: inout [UInt32]) {
        starts.append(slot, isLate: isLate, positions: &positions)
    }

    func removeStart(at position: Int, isLate: Bool, positions: inout [UInt32]) {
        starts.remove(at: position, isLate: isLate, positions: &positions)
    }

    /// A member is to be visited although the cursor has passed it.
    ///
    /// - Parameters:
    ///   - isUrgent: an alert has not come to it yet.
    ///   - isLate: it has strikes.
    func comeAgain(_ slot: ActivitySlot, isUrgent: Bool, isLate: Bool) {
        revisits.append(slot, isUrgent: isUrgent, isLate: isLate)
    }

    /// That visit, or `nil` when there is none left, or when others go first. `isUrgent` tells it of the member when it was queued,
    /// or was since.
    func nextAgain(isUrgent: (ActivitySlot) -> Bool) -> ActivitySlot? {
        if let slot = revisits.nextPrompt(isUrgent: isUrgent) { return slot }
        return order.remaining > 0 ? nil : revisits.nextLate()
    }

    /// A member that was to be visited apart from the sweep has left.
    func abandonVisit(isWanted: (ActivitySlot) -> Bool) { revisits.abandon(isWanted: isWanted) }

    /// The next members under the cursor, at most `limit`, and no more than can be visited in one lane.
    func nextOfSweep(limit: Int) -> ArraySlice<ActivitySlot> {
        order.next(limit: alerts.unreached > 0 ? min(alerts.unreached, limit) : limit)
    }

    /// So many of them have been visited.
    func visited(_ count: Int) {
        alerts.noteVisits(count)
        order.advance(by: count)
    }

    /// It has one member, who stands in no other line: the next visit is that one's.
    var isOfOne: Bool { order.count == 1 && starts.count == 0 && revisits.isEmpty }

    // MARK: What a member gets

    /// The stamp of the newest version for an activity (`StampedPayloads`).
    func stamp(after last: Int64, at moment: Moment) -> Int64? { payloads.stamp(target, after: last, at: moment) }

    /// The payload of the newest version with its stamp: made once for all who get this variant. Where nobody else does it is not
    /// kept: most lineups have one member, and a payload is larger than all else that is known of them.
    func payload(_ variant: StampedPayloads.Variant, make: () -> Payload) -> Payload {
        if let made = payloads[variant] { return made }
        let payload = make()
        if order.count > 1 { payloads.keep(payload, as: variant) }
        return payload
    }
}
