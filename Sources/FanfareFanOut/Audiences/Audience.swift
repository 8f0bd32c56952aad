import FanfareModel
import FanfareQueues

/// The activities that receive the same payload, the version they are being brought to, and how far the sweep has come.
///
/// A publication changes only this object: O(1), whatever its size. Confined to its shard's thread.
final class Audience: LaneMember {
    /// The topics; one for a topic's followers, several for a lineup.
    @safe @exclusivity(unchecked) private(set) var topics: [TopicIndex]
    /// `nil` for a topic's followers.
    let lineup: Lineup?

    // Unchecked for the reason given in `Membership`.
    @safe @exclusivity(unchecked) private(set) var order = SweepOrder<ActivitySlot>()
    @safe @exclusivity(unchecked) private(set) var newest: NewestVersion
    @safe @exclusivity(unchecked) private(set) var versions = VersionCounts()
    /// Changed by `Membership`, which counts for the shard, too.
    @safe @exclusivity(unchecked) private var lacks = LackCounts()
    @safe @exclusivity(unchecked) private(set) var publications: TrackedPublications
    @safe @exclusivity(unchecked) private(set) var times = PublicationTimes()
    @safe @exclusivity(unchecked) private(set) var alerts = AlertHistory()
    @safe @exclusivity(unchecked) private(set) var revisits = Revisits()
    @safe @exclusivity(unchecked) private(set) var starts = StartLine()
    @safe @exclusivity(unchecked) private var payloads = StampedPayloads()
    @safe @exclusivity(unchecked) var claimWait = ClaimWait()
    /// Number of activities that need this audience without being members.
    @safe @exclusivity(unchecked) private(set) var externalReferences = 0
    /// Number of the audience among all that its table has had; 0 for an audience that no table has. An object gets another one when it serves another
    /// audience.
    @safe @exclusivity(unchecked) private(set) var tenant: UInt64 = 0

    var target: UInt32 { newest.number }
    var event: Publication.Event { newest.event }
    var priority: Priority { newest.priority }
    /// Members with a pending push, and starts once there is something to show.
    var owed: Int { lacks.owed }
    /// Members whose newest version was refused for good.
    var refused: Int { lacks.refused }

    /// - Parameter trackedMax: maximum of publications whose completion is tracked at a time.
    init(topics: [TopicIndex], lineup: Lineup? = nil, trackedMax: Int, priority: Priority = .conserving) {
        publications = TrackedPublications(capacity: trackedMax)
        newest = NewestVersion(priority: priority)
        self.topics = topics
        self.lineup = lineup
    }

    // MARK: At rest

    /// Is `true` when the only member has the newest version and nothing is pending or in flight: the audience's state then fits into a row
    /// of `LineupTable` or `RestingFollowers`, and this object can serve another audience.
    var isResting: Bool {
        order.count == 1 && order.remaining == 0 && lacks.isEmpty && externalReferences == 0
            && event == .update
            && versions.isResting && publications.count == 0 && revisits.isEmpty && starts.count == 0
            && lane.parked == nil
    }

    /// Makes the object serve another audience.
    ///
    /// - Parameter tenant: number of the audience, which no other audience of its table has or had.
    func serve(as tenant: UInt64) {
        self.tenant = tenant
        claimWait = ClaimWait()
    }

    /// The state of a lineup's audience that rests; `nil` for the followers of a topic.
    var restingLineup: RestingLineup? {
        lineup.map {
            RestingLineup(
                row: $0.row, pinned: $0.rotation.pinned, member: order.members[0], number: target,
                displayHash: versions.newestDisplayHash, priority: priority, publishedAt: $0.publishedAt,
                rotation: $0.rotation.resting, spotlight: $0.publishedSpotlight, wakeUp: $0.wakeUp,
                alertCounts: alerts.resting)
        }
    }

    /// Takes over the state of a lineup that was at rest.
    ///
    /// - Parameters:
    ///   - topics: the topics of the lineup, in order.
    ///   - latest: the publication of the topic in the spotlight.
    func wake(
        _ state: RestingLineup, _ topics: some Collection<TopicIndex>, showing latest: Publication?,
        _ rules: LineupRules
    ) {
        guard let lineup else { preconditionFailure("the audience of a lineup has none") }
        self.topics.removeAll(keepingCapacity: true)
        for topic in topics { self.topics.append(topic) }
        lineup.wake(state, rules)
        let version =
            state.number == 0
            ? nil
            : latest.map {
                AudienceVersion(event: .update, priority: state.priority, latest: $0, displayHash: state.displayHash)
            }
        order.rest(state.member)
        newest = NewestVersion(state.number, version, priority: state.priority)
        versions.rest(state.number, displayHash: version?.displayHash ?? 0)
        times = PublicationTimes()
        alerts = AlertHistory(resting: state.alertCounts)
        payloads = StampedPayloads()
        publications.completionPlace = CompletionPlace()
    }

    /// Is `true` when the audience is the follower of a topic, and a row of `RestingFollowers` holds all of its state.
    ///
    /// - Parameters:
    ///   - latest: the topic's latest publication.
    ///   - stamp: the member's last stamp.
    func canRest(showing latest: Publication?, stamp: UInt32) -> Bool {
        isResting && lane.isIdle && !times.isDue && payloads.stamp <= Int64(stamp) && newest.publication === latest
            && (latest == nil
                || target > 0 && priority == latest?.priority && versions.newestDisplayHash == latest?.displayHash)
    }

    /// The state of an audience that can rest.
    var restingFollower: RestingFollower {
        RestingFollower(
            topic: topics[0], member: order.members[0], number: target, freshness: UInt8(times.freshness),
            alerts: alerts.isEmpty ? nil : RestingFollower.Alerts(alerts))
    }

    /// Takes over the state of a topic's only follower that was at rest.
    func wake(_ row: RestingFollower, showing latest: Publication?) {
        topics[0] = row.topic
        order.rest(row.member)
        newest = NewestVersion(row.number, latest)
        versions.rest(row.number, displayHash: latest?.displayHash ?? 0)
        times = PublicationTimes(freshness: Int(row.freshness))
        alerts = row.alerts?.history ?? AlertHistory()
        payloads = StampedPayloads()
        publications.completionPlace = CompletionPlace()
    }

    /// Adds the push of the newest version that is in flight to the only member of an audience that was at rest otherwise.
    ///
    /// - Parameters:
    ///   - delivered: the version that the member has, and `displayHashBefore` the hash of its content.
    ///   - missed: the alerts of later versions, the oldest first.
    func addPushInFlight(
        _ displayHash: UInt64, since delivered: UInt32, displayHashBefore: UInt64, missed: [IssuedAlert],
        freshness: Int, at published: MonotonicTime
    ) {
        versions.rest(delivered, displayHash: displayHashBefore)
        if delivered != target { versions.add(target, displayHash: displayHash) }
        versions.noteSent(1)
        times.note(published, freshness: freshness, hasMembers: false)
        for (index, alert) in missed.enumerated() {
            let version = UInt32(max(Int(delivered) + 1, Int(target) + 1 - missed.count + index))
            alerts.append(alert, in: version, for: 0, having: delivered)
        }
    }

    /// Restores the alerts that the audience had before it rested.
    func restoreAlerts(_ older: [IssuedAlert]) { alerts.restore(older, in: versions.oldest) }

    // MARK: Members

    /// Counts a joiner by the version that it has, before `join`.
    ///
    /// - Parameter shown: a version that the joiner was shown before, with the hash of its content; `nil` for a joiner that has missed nothing.
    func countJoiner(having shown: (version: UInt32, displayHash: UInt64)?) {
        if let shown {
            versions.join(having: shown.version, displayHash: shown.displayHash)
        } else {
            versions.join()
        }
    }

    /// Adds a member, which `countJoiner` has counted.
    ///
    /// - Parameters:
    ///   - isVisited: `true` if no push is pending for the member, so that the current sweep does not visit it.
    ///   - missesAlert: whether the member lacks the newest alert.
    func join(_ slot: ActivitySlot, isVisited: Bool, missesAlert: Bool, positions: inout GrowingColumn<UInt32>) {
        guard !isVisited else { return order.joinVisited(slot, positions: &positions) }
        order.join(slot, positions: &positions)
        // The last unvisited member lacks the newest alert, for which the others have been visited: all unvisited members go first.
        if missesAlert { alerts.noteUnreached(order.remaining) }
    }

    /// Removes a member.
    ///
    /// - Parameters:
    ///   - version: the version that the member has.
    ///   - sent: the version in flight to the member; `nil` for none.
    func leave(at position: Int, having version: UInt32, inFlight sent: UInt32?, positions: inout GrowingColumn<UInt32>)
    {
        order.leave(at: position, positions: &positions)
        if let sent { versions.conclude(1, sent) }
        versions.remove(version)
    }

    /// Keeps the audience for an activity that is not a member.
    func retain() { externalReferences += 1 }

    /// Ends what `retain` has begun.
    func release() { externalReferences -= 1 }

    /// Changes the numbers of those that lack the newest version.
    @inline(__always)
    func count(owed: Int, refused: Int) { lacks.add(owed: owed, refused: refused) }

    /// Notes that pushes of the newest version have left.
    func noteSent(_ count: Int) { versions.noteSent(count) }

    /// Notes that members which had the same version before have a newer one now.
    func noteDelivered(_ count: Int, from old: UInt32, to new: UInt32) {
        if new != old { versions.advance(count, from: old, to: new) }
    }

    /// Notes that pushes of this version have been answered.
    func noteAnswered(_ count: Int, _ version: UInt32) { versions.conclude(count, version) }

    /// The lack of the members; `nil` if they lack nothing, and no changes wait.
    var lack: AudienceLack? {
        let hasDeferredChanges = lineup?.deferred.isEmpty == false
        guard !lacks.isEmpty || hasDeferredChanges else { return nil }
        return AudienceLack(
            tenant: tenant, target: target, oldest: versions.oldest, owed: owed, refused: refused,
            hasDeferredChanges: hasDeferredChanges)
    }

    /// Separates the followers of a topic from its id: they show the topic under another index from now on.
    func detach(as topic: TopicIndex) { topics = [topic] }

    // MARK: Publishing

    /// Publishes a new version, which is pending for all members and starts from here on. O(1).
    ///
    /// - Parameters:
    ///   - alert: the alert of the version, if it has one.
    ///   - freshness: index of the kind's figures in the shard's `FreshnessTable`.
    ///   - now: arrival of the version.
    func publish(_ version: AudienceVersion, alerting alert: IssuedAlert?, freshness: Int, at now: MonotonicTime) {
        take(version)
        times.note(now, freshness: freshness, hasMembers: order.count > 0)
        lacks.restart(owed: order.count + starts.count)
        order.restart()
        if let alert {
            alerts.append(alert, in: target, for: order.count, having: versions.oldest)
        }
    }

    /// Adds a version for an alert that loaded members have missed.
    func add(_ alert: IssuedAlert, in version: AudienceVersion) {
        take(version)
        alerts.append(alert, in: target, for: order.count, having: versions.oldest)
    }

    /// Returns the newest version as a version of its own, which members get although they were sent the same content before.
    func versionAgain() -> AudienceVersion? {
        guard let latest = newest.publication, event == .update else { return nil }
        newest.showAgain()
        return AudienceVersion(
            event: event, priority: priority, latest: latest, displayHash: versions.newestDisplayHash)
    }

    /// Place of the note about the completion of the newest version.
    var completionPlace: CompletionPlace {
        _read { yield publications.completionPlace }
        _modify { yield &publications.completionPlace }
    }

    /// Tracks the completion of a publication that the newest version carries.
    ///
    /// - Returns: the publication that this one overtakes (`TrackedPublications`).
    func track(_ serial: UInt64) -> UInt64? { publications.track(serial, in: target) }

    /// Takes the first version of an audience made after its topics were published. It has no members yet that could lack it.
    func adopt(_ version: AudienceVersion) { take(version) }

    private func take(_ version: AudienceVersion) {
        newest.advance(to: version)
        versions.add(target, displayHash: version.displayHash)
    }

    /// Revokes an alert: no further push carries it, and payloads with it are discarded.
    func revokeAlert(cause: String, topic: TopicID) {
        for version in alerts.revoke(cause: cause, topic: topic) { payloads.drop(alert: version) }
    }

    /// Removes and returns the oldest publication whose version, or a newer one, each member has; `nil` if there is none.
    func takeCompleted() -> UInt64? { publications.takeCompleted(oldest: versions.oldest) }

    /// Takes the time since which a push of this audience has been due, for the first push after it; `nil` for later pushes.
    func takeDueSince() -> MonotonicTime? { times.takeDueSince() }

    /// Describes a violated invariant of the audience or of one of its parts; `nil` if there is none.
    func violation() -> String? {
        guard externalReferences >= 0 else { return "an audience is needed by \(externalReferences) activities" }
        if let violation = order.violation() ?? publications.violation() ?? alerts.violation() { return violation }
        return starts.violation() ?? versions.violation() ?? revisits.violation() ?? lane.violation()
            ?? lacks.violation(members: order.count, starts: starts.count)
    }

    // MARK: The sweep

    /// Part of the sweep that is claimed.
    var claimFront: ClaimFront {
        _read { yield alerts.claimFront }
        _modify { yield &alerts.claimFront }
    }

    override var hasWork: Bool { hasFreshWork || revisits.hasLate || target > 0 && !starts.late.isEmpty }

    private var hasFreshWork: Bool { order.remaining > 0 || revisits.hasPrompt || hasStarts }

    /// The lane of the most urgent work: starts, ends and alerts, then priority 10, then priority 5, then activities that have failures.
    override var preferredLane: Int {
        guard hasFreshWork else { return Lane.last }
        if event == .end || awaitsAlert || hasStarts { return 0 }
        return priority == .immediate ? 1 : 2
    }

    private var hasStarts: Bool { target > 0 && !starts.prompt.isEmpty }
    /// Is `true` while a member may lack the newest alert. It may remain `true` after the last such member got the alert out of turn.
    private var awaitsAlert: Bool { min(alerts.unreached, order.remaining) > 0 || revisits.awaitsAlert }

    /// The start to visit next; `nil` if there is none, or while members that await an alert go first.
    var nextStart: ActivitySlot? {
        guard target > 0 else { return nil }
        guard hasFreshWork else { return starts.late.first }
        return awaitsAlert ? nil : starts.next
    }

    /// Notes visits for the share of late starts (`StartLine`).
    override func noteVisits(_ count: Int) { starts.noteVisits(count) }

    /// - Parameter isLate: whether the start has failures.
    func addStart(_ slot: ActivitySlot, isLate: Bool, positions: inout GrowingColumn<UInt32>) {
        starts.append(slot, isLate: isLate, positions: &positions)
    }

    func removeStart(at position: Int, isLate: Bool, positions: inout GrowingColumn<UInt32>) {
        starts.remove(at: position, isLate: isLate, positions: &positions)
    }

    /// Queues a visit to a member that the cursor has passed.
    ///
    /// - Parameters:
    ///   - isUrgent: whether the member still lacks an alert.
    ///   - isLate: whether the member has failures.
    func queueVisit(_ slot: ActivitySlot, isUrgent: Bool, isLate: Bool) {
        revisits.append(slot, isUrgent: isUrgent, isLate: isLate)
    }

    /// Removes and returns the next member queued by `queueVisit`; `nil` if there is none, or if other members go first.
    ///
    /// - Parameter isUrgent: returns the value given when the member was queued, or a newer one.
    func nextRevisit(isUrgent: (ActivitySlot) -> Bool) -> ActivitySlot? {
        if let slot = revisits.nextPrompt(isUrgent: isUrgent) { return slot }
        return order.remaining > 0 ? nil : revisits.nextLate()
    }

    /// Notes that a member with a queued visit has left.
    func abandonVisit(isWanted: (ActivitySlot) -> Bool, isUrgent: (ActivitySlot) -> Bool) {
        revisits.abandon(isWanted: isWanted, isUrgent: isUrgent)
    }

    /// Returns the next members under the cursor, at most `limit`, and no more than can be visited in one lane.
    func nextOfSweep(limit: Int) -> ArraySlice<ActivitySlot> {
        order.next(limit: alerts.unreached > 0 ? min(alerts.unreached, limit) : limit)
    }

    /// Lets chance choose the next of each kind of visit.
    func drawNext(by random: UInt64, positions: inout GrowingColumn<UInt32>) {
        // Members that lack the newest alert are the first ones from the cursor on, and stay so; claimed members likewise.
        let unreached = alerts.unreached > 0 ? alerts.unreached : .max
        order.drawNext(
            among: claimFront.ahead > 0 ? min(claimFront.ahead, unreached) : unreached, by: random,
            positions: &positions)
        revisits.drawNext(by: random)
        starts.drawNext(by: random, positions: &positions)
    }

    /// Notes visits to the next members under the cursor, and advances it.
    func visited(_ count: Int) {
        alerts.noteVisits(count)
        claimFront.visited(count)
        order.advance(by: count)
    }

    /// Is `true` when the audience has one member and no other queued work: the next visit is to that member.
    var isOfOne: Bool { order.count == 1 && starts.count == 0 && revisits.isEmpty }

    // MARK: Pushes of members

    /// Returns whether an activity's last stamp is so far ahead that the next stamp is for that activity alone. A shared stamp moves on by a second
    /// now and then; a card that has had very many states for minutes must not advance the stamps of other cards.
    func isFarAhead(_ last: Int64, at moment: Moment) -> Bool {
        last > max(payloads.stamp, moment.stampSecond) + StampedPayloads.leadMax
    }

    /// Returns the stamp of the newest version for an activity (`StampedPayloads`), or one for that activity alone.
    func stamp(after last: Int64, isShared: Bool = true, at moment: Moment) -> Int64? {
        isShared ? payloads.stamp(target, after: last, at: moment) : Stamp.next(after: last, at: moment)
    }

    /// Returns the payload of the newest version with its stamp, made once for all members that get this variant. In an audience of one
    /// member it is not kept: most lineups have one member, and a payload is larger than their other state.
    func payload(_ variant: StampedPayloads.Variant, make: () -> Payload) -> Payload {
        if let made = payloads[variant] { return made }
        let payload = make()
        if order.count > 1 { payloads.keep(payload, as: variant) }
        return payload
    }
}
