import FanfareModel
import FanfareQueues

/// The activities of a shard, the audiences and lineups they belong to, and the lanes in which audiences with pending pushes stand.
///
/// Each change of a member keeps the counts of pending pushes right. The ways into audiences and out of them, the activity's whole life, and the
/// content of the versions are the concern of the layers that know a membership.
package final class Membership {
    private let reporter: FeedbackReporter
    // The shard is confined to one thread and never re-entered, so exclusivity checks of hot properties at run time could never fail.
    // They cost a quarter of a sweep.
    @safe @exclusivity(unchecked) var store = ActivityStore()
    @safe @exclusivity(unchecked) var lanes: Lanes
    @safe @exclusivity(unchecked) var audiences: AudienceTable
    @safe @exclusivity(unchecked) private(set) var counts = MemberCounts()
    @safe @exclusivity(unchecked) var topics: KnownTopics
    let lineups = LineupTable()
    @safe @exclusivity(unchecked) var carriedAlerts = CarriedAlerts()
    @safe @exclusivity(unchecked) var timers = ShardTimers()
    @safe @exclusivity(unchecked) var claims = ClaimBook()
    /// Lineups whose wake-up is due, by lane.
    let dueLineups = (0..<Lane.count).map { DueLineups(lane: $0) }
    let trackedMax: Int
    let lineupRules: LineupRules

    init(
        _ reporter: FeedbackReporter, lineupRules: LineupRules, lanes: LaneShares, trackedMax: Int,
        unpublishedTopicsMax: Int
    ) {
        self.reporter = reporter
        self.lanes = Lanes(lanes)
        self.lineupRules = lineupRules
        self.trackedMax = trackedMax
        audiences = AudienceTable(lineupRules)
        topics = KnownTopics(unpublishedMax: unpublishedTopicsMax, order: lineupRules.order)
    }

    /// Number of audiences that are objects, and of followers at rest, for simulations.
    package var awakeAudiences: Int { audiences.awakeCount }
    package var restingFollowers: Int { audiences.followers.count }

    /// Publishes a new version to all members of the audience, including those whose last version was refused.
    func publish(
        _ version: AudienceVersion, in audience: Audience, alerting alert: IssuedAlert?, freshness: Int,
        at now: MonotonicTime
    ) {
        let before = (owed: audience.owed, refused: audience.refused)
        audience.publish(version, alerting: alert, freshness: freshness, at: now)
        // The sweep restarts at its cursor, and claims name no claimed member again.
        if claims.isKept { audience.claimFront.restart(members: audience.order.count, blocks: claims.limits.blocks) }
        counts.add(owed: audience.owed - before.owed, refused: audience.refused - before.refused)
        noteUnfinished(audience)
    }

    /// Notes that an activity with a pending push has this version now, and that all alerts up to it are settled.
    func deliver(_ slot: ActivitySlot, with version: UInt32, of audience: Audience, at moment: Moment) {
        let delivered = store[slot].delivered
        store[slot].delivered = version
        store[slot].alerted = max(store[slot].alerted, version)
        store[slot].flags.remove(.needsPush)
        deliver(1, having: delivered, with: version, of: audience, at: moment)
    }

    /// Notes in the audience that members which had the same version before have this one now.
    func deliver(
        _ count: Int, having delivered: UInt32, with version: UInt32, of audience: Audience, at moment: Moment
    ) {
        audience.noteDelivered(count, from: delivered, to: version)
        if version == audience.target { self.count(owed: -count, in: audience) }
        reportCompleted(audience, at: moment)
    }

    /// Tracks a publication that the audience's newest version carries.
    func track(_ serial: UInt64, in audience: Audience) {
        if let overtaken = audience.track(serial) { reporter.overtake(overtaken) }
    }

    func reportCompleted(_ audience: Audience, at moment: Moment) {
        while let serial = audience.takeCompleted() { reporter.complete(serial, at: moment) }
    }

    // The parts are named here, because a method of the store would be called with a copy of all its parts.
    func slot(of id: ActivityID) -> ActivitySlot? { store.slots.find(id, in: store.activities) }

    func hasToken(_ token: [UInt8], _ slot: ActivitySlot) -> Bool {
        store.tokens.isEqual(store[slot].token, to: token)
    }

    // MARK: Counts

    func isOwed(_ activity: Activity, _ audience: Audience) -> Bool {
        guard activity.delivered != audience.target || activity.flags.contains(.needsPush) else { return false }
        return !isRefused(activity, audience)
    }

    /// Returns whether the activity's last push carried the newest version and was refused for good: nothing is sent before a newer version.
    func isRefused(_ activity: Activity, _ audience: Audience) -> Bool {
        activity.sendingAlert == .refused && activity.sending == audience.target
    }

    /// Changes the audience's and the shard's numbers of members that have a pending push, or whose push was refused for good.
    func count(owed: Int = 0, refused: Int = 0, in audience: Audience) {
        audience.count(owed: owed, refused: refused)
        counts.add(owed: owed, refused: refused)
        guard reporter.completions.isKept else { return }
        if owed > 0 || refused > 0 {
            noteUnfinished(audience)
        } else {
            noteCompletion(of: audience)
        }
    }

    /// Changes the number of members of lineups.
    func count(inLineups change: Int) { counts.add(inLineups: change) }

    /// Changes the numbers of members that are in this activity's state.
    func count(_ activity: Activity, _ change: Int, in audience: Audience) {
        if isOwed(activity, audience) {
            count(owed: change, in: audience)
        } else if isRefused(activity, audience) {
            count(refused: change, in: audience)
        }
    }

    /// Changes a member, and the numbers of members in its state, in one step. Between two steps, the numbers might say that no member lacks the
    /// version.
    func recount(_ slot: ActivitySlot, in audience: Audience, _ change: (inout Activity) -> Void) {
        let before = store[slot]
        change(&store[slot])
        let after = store[slot]
        count(
            owed: (isOwed(after, audience) ? 1 : 0) - (isOwed(before, audience) ? 1 : 0),
            refused: (isRefused(after, audience) ? 1 : 0) - (isRefused(before, audience) ? 1 : 0), in: audience)
    }

    // MARK: Completion

    /// Notes for the core that all followers of a topic have its newest version, if they do.
    func noteCompletion(of audience: Audience) {
        guard reporter.completions.isKept, audience.owed == 0, audience.refused == 0,
            let publication = completable(audience)
        else { return }
        // While cards are loaded, a follower that is loaded later may lack the version.
        guard !reporter.completions.isLoading else {
            if let first = audience.order.members.first {
                reporter.completions.noteLoaded(store[first].audience, &audience.completionPlace)
            }
            return
        }
        reporter.completions.note(publication, at: &audience.completionPlace)
    }

    /// Returns the version of a topic's followers if they are owed nothing; `nil` if a restart sends the version in any case. A restart takes
    /// followers of an earlier topic with that id, whose end has not arrived, for followers of this one.
    func completable(_ audience: Audience) -> Publication? {
        guard audience.lineup == nil, audience.target > 0, audience.event == .update else { return nil }
        let topic = topics[audience.topics[0]]
        // A later publication may show the same content.
        guard !topic.isDetached, !topic.isForgotten, let latest = topic.latest, latest.event == .update,
            !topics.hasFollowersOfEarlier(topic.id)
        else { return nil }
        return latest
    }

    /// Notes that the members are owed something. An audience of one member is complete, or has no other member that a note saves a push: it is noted
    /// only if its push fails, because the topic may have followers in other shards.
    private func noteUnfinished(_ audience: Audience) {
        guard reporter.completions.isKept, audience.lineup == nil else { return }
        let isLoneFailure = audience.order.count == 1 && audience.refused > 0 && reporter.completions.takesLoneFailures
        guard audience.order.count > 1 || isLoneFailure else { return }
        reporter.completions.noteUnfinished(store[audience.order.members[0]].audience, &audience.completionPlace)
    }

    // MARK: Rest

    /// Returns the audience at an index, after waking it if it is at rest.
    @inline(__always)
    func awake(_ index: AudienceIndex) -> Audience {
        let audience = audiences[index]
        return audience === audiences.resting || audience === audiences.restingFollower ? wake(index) : audience
    }

    private func wake(_ index: AudienceIndex) -> Audience {
        guard audiences[index] === audiences.restingFollower else { return wakeLineupAt(index) }
        return audiences.wakeFollower(index, trackedMax: trackedMax) { topics[$0].latest }
    }

    /// Gives a lineup whose state is in its row an audience of its own, with its push in flight.
    private func wakeLineupAt(_ index: AudienceIndex) -> Audience {
        guard let row = lineups.loneRow(ofAudience: index) else {
            preconditionFailure("an audience rests, and no lineup has its state")
        }
        let state = lineups[lone: row]
        let spotlight = lineups.links(of: row).lowerBound + Int(state.spotlight)
        let latest = state.spotlight == .max ? nil : topics[lineups.topic(ofLink: spotlight)].latest
        abandonDue(row)
        let audience = audiences.wakeLineup(
            index, as: lineups.wake(row), lineups.topicIndices(of: row), showing: latest, lineupRules,
            trackedMax: trackedMax)
        if !state.flags.isDisjoint(with: .awaitingVisit), let lineup = audience.lineup {
            lineup.awaitsNews = true
            if let wakeUp = lineup.wakeUp { timers.cancel(wakeUp) }
            lineup.wakeUp = timers.insert(.lineup(index), due: .always)
        }
        if state.flags.contains(.inFlight) { addPushInFlight(of: state, row, to: audience) }
        return audience
    }

    /// Adds the push in flight of a lineup of one member to its audience, with the news that it carries.
    private func addPushInFlight(of state: LoneLineup, _ row: Int, to audience: Audience) {
        lineups.take(row, through: state.sent)
        let missed = lineups.taken.compactMap(\.news.alert).filter {
            !isRepeat($0, row)
        }
        audience.addPushInFlight(
            state.displayHash, since: store[state.member].delivered, displayHashBefore: state.displayHashBefore,
            missed: missed, freshness: reporter.freshness.indexOfLineups(), at: state.publishedAt)
        count(owed: 1, in: audience)
        for (_, news) in lineups.taken {
            reporter.publications.addAudience(to: news.publication.serial)
            track(news.publication.serial, in: audience)
        }
        // Each of these is tracked for this audience, so none is complete.
        for serial in lineups.exhausted { _ = reporter.publications.complete(serial, at: state.publishedAt) }
    }

    /// Puts the audience to rest if it has one member with nothing pending. Most lineups, and most topics with one follower, are at rest
    /// nearly always.
    func rest(_ index: AudienceIndex) {
        let audience = audiences[index]
        guard audience !== audiences.resting, audience !== audiences.restingFollower, audience.isResting else { return }
        let slot = audience.order.members[0]
        guard store[slot].flags.isEmpty, store[slot].alerted >= audience.alerts.newest, !carriedAlerts.contains(slot)
        else {
            return
        }
        guard let lineup = audience.lineup else {
            let latest = topics[audience.topics[0]].latest
            guard audience.canRest(showing: latest, stamp: store[slot].stamp) else { return }
            audiences.restFollower(index)
            return
        }
        guard lineup.deferred.isEmpty, !lineup.awaitsNews, let state = audience.restingLineup else { return }
        lanes.abandon(audience)
        lineups.rest(state)
        audiences.restLineup(index)
    }

    // MARK: Lanes

    /// Pauses the audience's sweep until `due`.
    func park(_ audience: Audience, _ index: AudienceIndex, due: MonotonicTime) {
        lanes.park(audience, until: timers.insert(.audience(index), due: due))
    }

    /// Ends the pause of the audience's sweep.
    func unpark(_ audience: Audience) {
        if let timer = audience.lane.parked { timers.cancel(timer) }
        lanes.unpark(audience)
    }

    /// Queues a visit to an activity with a pending push. The sweep makes the visit if its cursor has still to reach the activity: queued visits go
    /// first, and would starve the sweep if each round trip brought a version. Only a visit for a missed alert is queued in any case.
    func queueVisit(_ slot: ActivitySlot) {
        let audience = awake(store[slot].audience)
        let isAhead = audience.order.isUnvisited(Int(store.positions[Int(slot.rawValue)]))
        // The alert of a push that failed delays no other activity.
        let missesAlert = store[slot].failures.count == 0 && missesAlert(slot, of: audience)
        if !store[slot].flags.contains(.queued), missesAlert || !isAhead {
            store[slot].flags.insert(.queued)
            audience.queueVisit(slot, isUrgent: missesAlert, isLate: store[slot].failures.count > 0)
        }
        lanes.enqueue(audience)
    }

    func missesAlert(_ slot: ActivitySlot, of audience: Audience) -> Bool {
        store[slot].alerted < audience.alerts.newest || carriedAlerts.contains(slot)
    }

    /// Returns whether a member of the audience may carry alerts along.
    func hasCarriers(_ audience: Audience) -> Bool {
        audience.lineup == nil ? carriedAlerts.hasFollowers : !carriedAlerts.isEmpty
    }

    // MARK: Lineups

    /// Returns the row of an audience's lineup; `nil` for the followers of a topic.
    func lineupRow(ofAudience index: AudienceIndex) -> Int? {
        lineups.loneRow(ofAudience: index) ?? audiences[index].lineup?.row
    }

    /// Queues the visit of a lineup of one member.
    ///
    /// - Parameter isFirst: whether the visit goes before those that are due already.
    func queue(_ row: Int, lane: Int, isFirst: Bool = false) {
        if lineups[lone: row].flags.contains(.isDue) {
            guard lane < Int(lineups[lone: row].lane) || isFirst else { return }
            // A goal that came while a push was in flight does not wait for the rotations that are due.
            abandonDue(row)
        }
        lineups[lone: row].flags.insert(.isDue)
        lineups[lone: row].lane = UInt8(lane)
        dueLineups[lane].append(row, isFirst: isFirst)
        lanes.enqueue(dueLineups[lane])
    }

    /// Removes the lineup's entry from the due lineups, if it has one.
    func abandonDue(_ row: Int) {
        guard let lane = lineups.takeDue(row) else { return }
        dueLineups[lane].abandon { [lineups] in lineups.isDue($0, lane: lane) }
    }

    /// Returns whether a lineup had an alert with the same cause and text by another of its topics before.
    func isRepeat(_ issue: IssuedAlert, _ row: Int) -> Bool {
        if lineups.isRepeat(issue, row) { return true }
        return topics.resumed.hasAlerts && topics.resumed.concern(lineupBornAt: lineups.born(row))
            && topics.resumed.isRepeat(issue, in: lineups.topicIndices(of: row))
    }

    /// Returns the alert of news, if it is new to the lineup of a row. A visit, and a look for the alerts that need claims, must find the same ones.
    ///
    /// - Parameter position: index of the news' topic among the topics of the lineup.
    @inline(__always)
    func newAlert(of fact: TopicLineups.Fact, _ row: Int, position: Int) -> IssuedAlert? {
        guard fact.hasAlert, let issue = lineups.alert(fact, row, position: position), !isRepeat(issue, row) else {
            return nil
        }
        return issue
    }

    /// Adds a publication to those that the lineup's next version carries.
    func deferPublication(_ serial: UInt64, for lineup: Lineup) {
        if lineup.deferred.isEmpty { counts.noteDeferred() }
        if let overtaken = lineup.deferPublication(serial, capacity: trackedMax) { reporter.overtake(overtaken) }
    }

    /// Removes and returns the publications that wait for the lineup's next version.
    func takeDeferred(of lineup: Lineup) -> [UInt64] {
        guard !lineup.deferred.isEmpty else { return [] }
        counts.noteTaken()
        return lineup.takeDeferred()
    }

    func completeExhausted(at moment: Moment) {
        for serial in lineups.exhausted { reporter.complete(serial, at: moment) }
    }
}
