import FanfareModel
import FanfareQueues

/// The activities of a shard, the audiences and lineups they belong to, and the lanes in which audiences with pending pushes stand.
///
/// Each change of a member keeps the counts of pending pushes right. The activity's whole life, and the content of the versions, are
/// the concern of other parts.
final class Membership {
    /// Numbers of members by their state, over all audiences; starts that are due count, too.
    struct MemberCounts {
        /// Members with a pending push, and starts whose audience has something to show.
        fileprivate(set) var owed = 0
        /// Members whose newest version was refused for good.
        fileprivate(set) var refused = 0
    }

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
    private(set) var membersOfLineups = 0
    /// Number of lineups with changes that wait for their minimum interval.
    @safe @exclusivity(unchecked) private(set) var deferredLineups = 0

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

    /// Publishes a new version to all members of the audience, including those whose last version was refused.
    func publish(
        _ version: AudienceVersion, in audience: Audience, alerting alert: IssuedAlert?, freshness: Int,
        at now: MonotonicTime
    ) {
        let before = (owed: audience.owed, refused: audience.refused)
        audience.publish(version, alerting: alert, freshness: freshness, at: now)
        // The sweep restarts at its cursor, and claims name no claimed member again.
        if claims.isKept { audience.claimFront.restart(members: audience.order.count, blocks: claims.limits.blocks) }
        counts.owed += audience.owed - before.owed
        counts.refused += audience.refused - before.refused
        noteUnfinished(audience)
    }

    func hasToken(_ token: [UInt8], _ slot: ActivitySlot) -> Bool {
        store.tokens[store[slot].token].elementsEqual(token)
    }

    /// Adds an activity to an audience. A joiner has missed nothing: it gets the current state once, silently, and no earlier alerts.
    ///
    /// - Parameter shown: the content that the activity's start has shown, if any; the activity has missed later versions and alerts.
    func join(_ slot: ActivitySlot, _ index: AudienceIndex, having shown: PendingStart.Shown? = nil) {
        let audience = awake(index)
        store[slot].audience = index
        claims.forget(slot)
        store[slot].alerted = shown?.alerted ?? audience.target
        store.alertMemory.forget(slot)
        if let shown, let displayHash = shown.displayHash {
            store[slot].delivered = shown.version
            audience.ledger.join(having: shown.version, displayHash: displayHash)
        } else {
            store[slot].delivered = audience.target
            audience.ledger.join()
            if audience.target > 0 { store[slot].flags.insert(.needsPush) }
        }
        let missesAlert = store[slot].alerted < audience.alerts.newest
        if audience.lineup == nil, !missesAlert, !isOwed(store[slot], audience) {
            // No push is pending for the joiner. So its audience can rest at once, and followers of topics that have not begun take little memory.
            audience.order.joinVisited(slot, positions: &store.positions)
        } else {
            audience.order.join(slot, positions: &store.positions)
            if missesAlert { audience.noteMissingAlert() }
        }
        audiences.noteSize(audience, at: index)
        if audience.lineup != nil {
            membersOfLineups += 1
        } else if reporter.completions.before != nil {
            reporter.completions.noteJoined(index, &audience.completionPlace)
        }
        count(store[slot], 1, in: audience)
        lanes.enqueue(audience)
    }

    /// Takes the activity out of its audience. A push in flight goes on, but its version belongs to the audience that was left: `sending` is
    /// cleared so that it is not compared with the next audience's versions.
    func leaveAudience(_ slot: ActivitySlot, at moment: Moment) {
        let activity = store[slot]
        guard activity.audience != .none else { return }
        let audience = awake(activity.audience)
        count(activity, -1, in: audience)
        if audience.lineup != nil { membersOfLineups -= 1 }
        audience.order.leave(at: Int(store.positions[Int(slot.rawValue)]), positions: &store.positions)
        if activity.flags.contains(.inFlight), activity.sending != 0 { audience.ledger.conclude(1, activity.sending) }
        audience.ledger.remove(activity.delivered)
        store[slot].audience = AudienceIndex.none
        if activity.flags.contains(.queued) {
            audience.abandonVisit {
                store[$0].flags.contains(.queued) && store[$0].audience == activity.audience
            }
        }
        audiences.noteLoss(at: activity.audience)
        store[slot].flags.subtract([.needsPush, .queued])
        store[slot].sending = 0
        store[slot].sendingAlert = activity.flags.contains(.inFlight) ? activity.sendingAlert.withoutAlert : .none
        reportCompleted(audience, at: moment)
        freeAudience(activity.audience, at: moment)
    }

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
        audience.owed += owed
        audience.refused += refused
        counts.owed += owed
        counts.refused += refused
        guard reporter.completions.isKept else { return }
        if owed > 0 || refused > 0 {
            noteUnfinished(audience)
        } else {
            noteCompletion(of: audience)
        }
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

    /// Notes once more for the core that all followers of a topic have its newest version, if they do, because some of them have joined.
    func noteCompletionForJoiners(_ index: AudienceIndex) {
        guard audiences[index] !== audiences.vacant, audiences[index] !== audiences.resting else { return }
        let audience = awake(index)
        audience.completionPlace.isForJoiners = true
        noteCompletion(of: audience)
        rest(index)
    }

    /// Notes that an activity counts as a joiner from now on, as it does in the store.
    func noteJoined(_ slot: ActivitySlot) {
        let index = store[slot].audience
        guard reporter.completions.isKept, index != .none, audiences[index] !== audiences.resting else { return }
        let audience = awake(index)
        if audience.lineup == nil { reporter.completions.noteJoined(index, &audience.completionPlace) }
        rest(index)
    }

    /// Notes that an activity is in its stored audience.
    func forgetAbsence(of slot: ActivitySlot) {
        guard claims.isKept, !reporter.completions.absentees.isEmpty else { return }
        reporter.completions.forgetAbsence(of: claims.mark(of: slot))
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

    /// Notes that an activity waits, because its push has failed or its token may be dead.
    func noteSuspension(of slot: ActivitySlot) {
        let index = store[slot].audience
        guard reporter.completions.takesLoneFailures, index != .none else { return }
        let audience = audiences[index]
        guard audience.lineup == nil, audience.order.count == 1, audience.order.members[0] == slot else { return }
        reporter.completions.noteUnfinished(index, &audience.completionPlace)
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

    /// Makes the newest version of its audience pending for a member that may lack it.
    func repeatNewest(_ slot: ActivitySlot) {
        let index = store[slot].audience
        guard index != .none, awake(index).target > 0 else { return }
        recount(slot, in: awake(index)) { $0.flags.insert(.needsPush) }
        queueVisit(slot)
    }

    /// Changes the numbers of members that are in this activity's state.
    func count(_ activity: Activity, _ change: Int, in audience: Audience) {
        if isOwed(activity, audience) {
            count(owed: change, in: audience)
        } else if isRefused(activity, audience) {
            count(refused: change, in: audience)
        }
    }

    /// Separates the followers of a topic that is over from its id: they may still lack its end, and do not get the next topic with that id.
    /// Followers to which nothing has been published followed after the end, and wait for the next topic.
    func detach(_ topic: TopicIndex) {
        guard topics[topic].isOver, let followers = topics[topic].followers, awake(followers).target > 0 else {
            return
        }
        awake(followers).topics = [topics.detach(topic)]
    }

    /// Tracks a publication that the audience's newest version carries.
    func track(_ serial: UInt64, in audience: Audience) {
        if let overtaken = audience.track(serial) { reporter.overtake(overtaken) }
    }

    func reportCompleted(_ audience: Audience, at moment: Moment) {
        while let serial = audience.takeCompleted() { reporter.complete(serial, at: moment) }
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
        if version != delivered { audience.ledger.advance(count, from: delivered, to: version) }
        if version == audience.target { self.count(owed: -count, in: audience) }
        reportCompleted(audience, at: moment)
    }

    /// Removes the audience if it has no members and no activity needs it otherwise. Its waiting publications are complete, and topics
    /// that are no longer needed are removed with it.
    func freeAudience(_ index: AudienceIndex, at moment: Moment) {
        let audience = awake(index)
        guard audience !== audiences.vacant, audience.order.count == 0, audience.externalReferences == 0 else { return }
        if let lineup = audience.lineup {
            freeLineup(lineup, audience, at: moment)
        } else {
            topics[audience.topics[0]].followers = nil
        }
        if let parked = audience.lane.unpark() { timers.cancel(parked) }
        lanes.abandon(audience)
        audiences.free(index)
        for topic in audience.topics { topics.release(topic) }
    }

    private func freeLineup(_ lineup: Lineup, _ audience: Audience, at moment: Moment) {
        for serial in takeDeferred(of: lineup) { reporter.complete(serial, at: moment) }
        lineups.take(lineup.row)
        completeExhausted(at: moment)
        // A topic whose last lineup this is has no lineups to visit any more.
        for topic in audience.topics { if let news = lineups[topic], news.order.count == 1 { lanes.abandon(news) } }
        lineups.remove(lineup.row)
        for topic in audience.topics { topics[topic].lineups -= 1 }
        if let wakeUp = lineup.wakeUp { timers.cancel(wakeUp) }
    }

    /// Adds a publication to those that the lineup's next version carries. The list is bounded like `TrackedPublications`: those that have waited
    /// longest stay.
    func deferPublication(_ serial: UInt64, for lineup: Lineup) {
        if lineup.deferred.isEmpty { deferredLineups += 1 }
        if lineup.deferred.count == trackedMax { reporter.overtake(lineup.deferred.removeLast()) }
        lineup.deferred.append(serial)
    }

    /// Removes and returns the publications that wait for the lineup's next version.
    func takeDeferred(of lineup: Lineup) -> [UInt64] {
        guard !lineup.deferred.isEmpty else { return [] }
        deferredLineups -= 1
        defer { lineup.deferred = [] }
        return lineup.deferred
    }

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
        let audience = lineups.wake(row, lineupRules, latest: latest, trackedMax: trackedMax)
        audiences[index] = audience
        if !state.flags.isDisjoint(with: .awaitingVisit), let lineup = audience.lineup {
            lineup.awaitsNews = true
            if let wakeUp = lineup.wakeUp { timers.cancel(wakeUp) }
            lineup.wakeUp = timers.insert(.lineup(index), due: .always)
        }
        if state.flags.contains(.inFlight) { addPushInFlight(of: state, row, to: audience) }
        return audience
    }

    // The parts are named here, because a method of the store would be called with a copy of all its parts.
    func slot(of id: ActivityID) -> ActivitySlot? { store.slots.find(id, in: store.activities) }

    /// Returns whether a lineup had an alert with the same cause and text by another of its topics before.
    func isRepeat(_ issue: IssuedAlert, _ row: Int) -> Bool {
        if lineups.isRepeat(issue, row) { return true }
        return topics.resumed.hasAlerts && topics.resumed.concern(lineupBornAt: lineups.born(row))
            && topics.resumed.isRepeat(issue, in: lineups.topicIndices(of: row))
    }

    /// Returns whether a member of the audience may carry alerts along.
    func hasCarriers(_ audience: Audience) -> Bool {
        audience.lineup == nil ? carriedAlerts.hasFollowers : !carriedAlerts.isEmpty
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

    /// Adds the push in flight of a lineup of one member to its audience, with the news that it carries.
    private func addPushInFlight(of state: LineupTable.Lone, _ row: Int, to audience: Audience) {
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
            if claims.isKept { audience.claimFront.goOn() }
            audiences.restFollower(index)
            return
        }
        guard lineup.deferred.isEmpty, !lineup.awaitsNews else { return }
        lanes.abandon(audience)
        lineups.rest(lineup.row, audience, lineup)
        audiences[index] = audiences.resting
    }

    /// Restores the alerts from before the lineup rested, for questions about them.
    func completeHistory(of audience: Audience) {
        guard let lineup = audience.lineup, lineup.historyIsShort else { return }
        lineup.historyIsShort = false
        let known = audience.alerts.pending.map(\.issue)
        audience.restoreAlerts(lineups.alertsTaken(lineup.row).filter { taken in !known.contains { $0 === taken } })
    }

    /// Keeps an audience for an activity that is not a member: one whose start waits or has been sent, or whose last state is to be sent.
    func retainAudience(_ index: AudienceIndex) { awake(index).externalReferences += 1 }

    /// Releases an audience that `retainAudience` keeps.
    func releaseAudience(_ index: AudienceIndex, at moment: Moment) {
        awake(index).externalReferences -= 1
        freeAudience(index, at: moment)
    }

    func completeExhausted(at moment: Moment) {
        for serial in lineups.exhausted { reporter.complete(serial, at: moment) }
    }

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

    /// Returns `nil` if the token has a valid length.
    func refusal(of token: [UInt8]) -> CommandRefusal? {
        (1...Subscription.tokenSizeMax.bytes).contains(token.count) ? nil : .token
    }

    /// Returns `nil` if an activity can show this audience's topics.
    func refusal(of key: AudienceKey) -> CommandRefusal? {
        switch key {
        case .topic(let id):
            guard id.isValid else { return .topic }
            return topics.hasRoom(for: 1) || topics.index(of: id) != nil ? nil : .tooManyTopics
        case .lineup(let ids, _):
            guard (1...AudienceKey.topicsMax).contains(ids.count), Set(ids).count == ids.count else { return .lineup }
            guard ids.allSatisfy(\.isValid) else { return .topic }
            func isUnknown(_ id: TopicID) -> Bool { topics.index(of: id) == nil }
            return topics.hasRoom(for: ids.count) || topics.hasRoom(for: ids.count(where: isUnknown))
                ? nil : .tooManyTopics
        }
    }
}
