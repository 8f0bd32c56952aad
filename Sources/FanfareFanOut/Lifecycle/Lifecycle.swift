import FanfareModel
import FanfareQueues

/// The activities of a shard from their first request to their removal: starts, renewals, departures, and the times at which their ages
/// are checked.
///
/// An activity lasts eight hours at most; then the system ends it, whatever it shows (rule L1, spec §3.4, documented). So the shard ends it
/// earlier, with its newest state, or renews it if the topic's rules allow: another activity is started, and the old one ends when the new
/// one's token has registered, because an accepted start is not yet a card.
final class Lifecycle {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let enrolment: Enrolment
    /// Leaving activities whose private end is due: an audience without members, so that the lanes serve them.
    let departures = Audience(topics: [], trackedMax: 1, priority: .immediate)
    var starts = StartCoordinator()
    var renewals = RenewalBook()
    /// Index of the audience whose newest state ends an activity for its age, by activity. It is kept until the end is accepted.
    var lastStates: [ActivitySlot: AudienceIndex] = [:]
    var ageScanner: AgeScanner
    private var cardAges = CardAges()
    /// Number of activities that have left their audience and await the outcome of their private end.
    private(set) var leaving = 0

    init(_ reporter: FeedbackReporter, _ membership: Membership, _ enrolment: Enrolment, lifetime: Duration) {
        self.reporter = reporter
        self.membership = membership
        self.enrolment = enrolment
        ageScanner = AgeScanner(lifetime: lifetime.boundedNanoseconds)
    }

    /// Describes a wrong count of activities that leave, or a violated invariant of one of the parts; `nil` if there is none.
    func violation() -> String? {
        let activities = membership.store.activities
        let found = activities.count { $0.flags.intersection([.leaving, .tokenless]) == .leaving }
        guard found == leaving else { return "\(leaving) activities that leave are counted, there are \(found)" }
        return ageScanner.violation(hasActivities: membership.store.count > 0, slots: activities.count)
            ?? renewals.violation(slotOf: { membership.slot(of: $0) }) ?? starts.violation()
            ?? departures.violation()
    }

    func setPreferences(_ preferences: Preferences, for slot: ActivitySlot) {
        membership.store.setPreferences(of: slot, to: preferences)
        if let successor = successor(of: slot) { membership.store.setPreferences(of: successor, to: preferences) }
    }

    func unfollow(_ id: ActivityID, at moment: Moment) {
        guard let slot = slot(of: id) else {
            if let mark = id.mark { reporter.completions.forgetAbsence(of: mark) }
            return
        }
        guard !membership.store[slot].flags.contains(.leaving) else { return endSilently(slot, at: moment) }
        if let successor = successor(of: slot) { unfollowStart(successor, at: moment) }
        if membership.store[slot].flags.contains(.tokenless) {
            unfollowStart(slot, at: moment)
        } else {
            depart(slot, at: moment)
        }
    }

    /// Takes the activity out of its audience and queues its private end, after which it is removed.
    func depart(_ slot: ActivitySlot, at moment: Moment) {
        membership.carriedAlerts.remove(slot)
        enrolment.leave(slot, at: moment)
        membership.store[slot].flags.insert(.leaving)
        noteLeaving(slot)
    }

    /// Counts an activity that belongs to no audience, and queues its private end.
    func noteLeaving(_ slot: ActivitySlot) {
        leaving += 1
        queueDeparture(slot)
    }

    /// Gives up the private end of an activity that becomes a member again.
    func takeBack(_ slot: ActivitySlot) {
        abandonDeparture(slot)
        membership.store[slot].flags.remove(.leaving)
        leaving -= 1
    }

    /// Returns whether the activity shows the former topic with this id, and is to get that topic's end.
    func awaitsEnd(_ slot: ActivitySlot, of key: AudienceKey) -> Bool {
        guard case .topic(let id) = key else { return false }
        let index = starts[slot]?.audience ?? membership.store[slot].audience
        guard index != .none, membership.awake(index).lineup == nil,
            membership.awake(index).target > 0
        else {
            return false
        }
        let topic = membership.topics[membership.awake(index).topics[0]]
        return topic.id == id && topic.isOver
    }

    func remove(_ slot: ActivitySlot, at moment: Moment) {
        if membership.store[slot].flags.intersection([.leaving, .tokenless]) == .leaving { leaving -= 1 }
        // A store has the start token that came last, also if the start went to another one.
        let startToken = starts[slot]?.request.token[...]
        forgetRenewal(slot, at: moment)
        forgetStart(slot, at: moment)
        membership.carriedAlerts.remove(slot)
        enrolment.leave(slot, at: moment)
        let id = membership.store[slot].id
        // A stored card under a lost name is another card.
        if !reporter.surrogates.contains(id), !reporter.completions.absentees.isEmpty {
            let token = startToken ?? membership.store.tokens[membership.store[slot].token]
            reporter.completions.forgetAbsence(of: membership.claims.mark(of: slot), token: token.keyedHash)
        }
        reporter.reportRemoval(of: id, token: startToken ?? membership.store.tokens[membership.store[slot].token])
        reporter.surrogates.remove(id)
        membership.store.remove(slot)
    }

    /// Inserts an activity that is new to the shard.
    ///
    /// - Parameter startedAt: date at which the card appeared on its phone; `nil`: just now.
    func insertActivity(
        _ id: ActivityID, token: [UInt8], startedAt: FeedTime? = nil, at moment: Moment
    ) -> ActivitySlot {
        let slot = membership.store.insert(id, token: token)
        membership.claims.name(slot, ActivityMark(id, token: token))
        note(startedAt: startedAt, of: slot, at: moment)
        return slot
    }

    /// Notes the start of a card that its app has started.
    func note(startedAt: FeedTime?, of slot: ActivitySlot, at moment: Moment) {
        followClock(at: moment)
        membership.store[slot].startedAt = cardAges.start(startedAt, at: moment)
        let wait = max(0, ageScanner.renewAge - age(of: slot, at: moment))
        let due = moment.monotonic.advanced(byNanoseconds: wait)
        ageScanner.expect(due)
        scheduleAgeScan(at: due)
    }

    /// Adopts the moment's wall clock if it is trusted more than the one adopted before. The scan then checks all cards, because a card whose start
    /// is a date may be old.
    func followClock(at moment: Moment) {
        guard cardAges.follow(moment) else { return }
        ageScanner.revisit(at: moment.monotonic)
        scheduleAgeScan(at: moment.monotonic)
    }

    /// Ensures that the scan goes on at `due` or earlier.
    func scheduleAgeScan(at due: MonotonicTime) {
        guard ageScanner.needsTimer(at: due) else { return }
        if let timer = ageScanner.timer { membership.timers.cancel(timer.entry) }
        ageScanner.set(AgeScanner.Timer(due: due, entry: membership.timers.insert(.ageScan, due: due)))
    }

    /// Makes the pending end of an activity a silent one without new content, because the person does not want the activity any more. Does
    /// nothing unless it is being ended for its age.
    private func endSilently(_ slot: ActivitySlot, at moment: Moment) {
        guard let audience = lastStates.removeValue(forKey: slot) else { return }
        membership.carriedAlerts.remove(slot)
        enrolment.release(audience, at: moment)
    }

    /// Returns whether the activity has lost its name to another one.
    func hasLostName(_ slot: ActivitySlot) -> Bool { reporter.surrogates.contains(membership.store[slot].id) }

    /// Returns the age of an activity in nanoseconds.
    func age(of slot: ActivitySlot, at moment: Moment) -> Int64 {
        cardAges.age(of: membership.store[slot].startedAt, at: moment)
    }

    /// Makes the scan check an old activity again, after a change that affects its end or renewal.
    func lookAgain(at slot: ActivitySlot, at moment: Moment) {
        guard age(of: slot, at: moment) >= ageScanner.renewAge else { return }
        ageScanner.revisit(at: moment.monotonic)
        scheduleAgeScan(at: moment.monotonic)
    }

    // MARK: The store's cards

    /// Notes, after a call, the audience that the store has for an activity. Here, the activity may be in another audience, or in none.
    ///
    /// - Parameter token: the token of a follow, which the store keeps even if the shard refuses the follow.
    func noteStored(_ id: ActivityID, _ key: AudienceKey, token: [UInt8]? = nil) {
        guard reporter.completions.isKept, membership.claims.isKept else { return }
        guard let slot = slot(of: id) else {
            if let token {
                reporter.completions.noteAbsence(of: ActivityMark(id, token: token), from: key, token: token.keyedHash)
            } else if let mark = id.mark, reporter.completions.absentees.contains(mark) {
                reporter.completions.noteAbsence(of: mark, from: key)
            }
            return
        }
        let mark = id.mark ?? membership.claims.mark(of: slot)
        if !follows(slot, key) {
            reporter.completions.noteAbsence(of: mark, from: key, token: token?.keyedHash)
        } else if !membership.store[slot].flags.contains(.tokenless) {
            reporter.completions.forgetAbsence(of: mark)
        } else if reporter.completions.absentees.contains(mark) {
            // The store has the card as shown, and its start is on its way here.
            reporter.completions.noteAbsence(of: mark, from: key)
        }
    }

    /// Returns whether the activity is in the audience of this key, or its start is to bring it there.
    private func follows(_ slot: ActivitySlot, _ key: AudienceKey) -> Bool {
        isMember(of: starts[slot]?.audience ?? membership.store[slot].audience, by: key)
    }

    /// Returns whether an audience is the one of this key.
    func isMember(of index: AudienceIndex, by key: AudienceKey) -> Bool {
        guard index != .none else { return false }
        switch key {
        case .topic(let id):
            guard let topic = membership.topics.index(of: id) else { return false }
            return membership.topics[topic].followers == index
        case .lineup(let picks, let favourite):
            guard let row = membership.lineupRow(ofAudience: index) else { return false }
            let members = membership.lineupRules.order == .schedule ? picks.sorted(by: TopicID.precedes) : picks
            return membership.lineups.pinned(of: row) == favourite.flatMap { members.firstIndex(of: $0) }
                && membership.lineups.topicIndices(of: row).elementsEqual(members) { membership.topics[$0].id == $1 }
        }
    }

    /// Notes that an activity has joined an audience without a call. It may be the audience that the store has for the activity.
    func noteFollowing(_ slot: ActivitySlot) {
        guard membership.claims.isKept, !reporter.completions.absentees.isEmpty,
            let key = reporter.completions.absentees.audience(of: membership.claims.mark(of: slot)), follows(slot, key)
        else { return }
        forgetAbsence(of: slot)
    }

    /// Notes that an activity is in its stored audience.
    func forgetAbsence(of slot: ActivitySlot) {
        guard membership.claims.isKept, !reporter.completions.absentees.isEmpty else { return }
        reporter.completions.forgetAbsence(of: membership.claims.mark(of: slot))
    }

    /// Returns the activity that is to take this one's place, while its token is not known.
    func successor(of slot: ActivitySlot) -> ActivitySlot? {
        renewals.successor(of: slot).flatMap { membership.slot(of: $0) }
    }

    /// Notes the alerts that the old card has had, or that are in flight to it, so that the new card does not repeat them.
    func copyAlerts(of old: ActivitySlot, to slot: ActivitySlot) {
        let card = membership.store[old]
        guard let start = starts[slot], card.audience == start.audience else { return }
        let sending = card.flags.contains(.inFlight) ? card.sending : 0
        starts.noteAlerts(through: max(card.alerted, sending), of: slot)
    }

    /// Reports the renewal by an activity, once: as far as is known, the new card exists and the old one does not.
    func reportRenewal(by slot: ActivitySlot) {
        if let old = starts.takeRenewed(by: slot) {
            reporter.report(.renewed(as: membership.store.name(of: slot)), of: old)
        }
    }

    /// Returns the activity with a name, or the one that has taken its place.
    func slot(of id: ActivityID) -> ActivitySlot? { membership.slot(of: renewals.card(of: id)) }

    /// Reports whether an activity that was removed is known, because a follow or a start has come since.
    func checkRemoval(of id: ActivityID, token: UInt64) {
        guard let slot = membership.slot(of: id) else {
            return reporter.reportRemovalCheck(of: id, token: token, isOver: true)
        }
        let start = starts[slot]
        let known = start?.request.token.keyedHash ?? membership.store.tokens[membership.store[slot].token].keyedHash
        // A start that was taken back has no row in the store: a row belongs to a later request, which was refused.
        let isTakenBack = start != nil && membership.store[slot].flags.contains(.leaving)
        reporter.reportRemovalCheck(of: id, token: token, isOver: known != token || isTakenBack)
    }

    /// Removes the renewal record of an activity that is being removed, and hands its name over or cancels its successor.
    private func forgetRenewal(_ slot: ActivitySlot, at moment: Moment) {
        if let audience = lastStates.removeValue(forKey: slot) { enrolment.release(audience, at: moment) }
        if let successor = successor(of: slot) {
            // The system ended the old card, not the person: the new one is started, however long that takes.
            let isOutlived = age(of: slot, at: moment) >= ageScanner.lifetime
            starts.setOutlivesOld(successor, isOutlived)
            // A person who has ended the old card wants no new one; but the new one may already be on the phone.
            if isOutlived || starts[successor]?.phase == .sent {
                renewals.handOver(slot, to: successor)
                copyAlerts(of: slot, to: successor)
                if mayBeThere(successor) { reportRenewal(by: successor) }
            } else {
                fail(successor, .over, at: moment)
            }
        }
        renewals.remove(slot)
        renewals.removeNames(of: slot)
    }

    /// Queues the activity's private end.
    func queueDeparture(_ slot: ActivitySlot) {
        guard membership.store[slot].flags.isDisjoint(with: [.inFlight, .suspended, .queued]) else { return }
        membership.store[slot].flags.insert(.queued)
        departures.queueVisit(slot, isUrgent: false, isLate: membership.store[slot].failures.count > 0)
        membership.lanes.enqueue(departures)
    }

    /// Removes the activity's private end from its queue.
    func abandonDeparture(_ slot: ActivitySlot) {
        guard membership.store[slot].flags.contains(.queued) else { return }
        membership.store[slot].flags.remove(.queued)
        departures.abandonVisit(isWanted: isDeparting, isUrgent: { _ in false })
    }

    func nextDeparture() -> ActivitySlot? {
        guard let slot = departures.nextRevisit(isUrgent: { _ in false }), isDeparting(slot) else { return nil }
        membership.store[slot].flags.remove(.queued)
        return slot
    }

    private func isDeparting(_ slot: ActivitySlot) -> Bool {
        membership.store[slot].flags.isSuperset(of: [.queued, .leaving])
    }

    /// Makes the activity's start due in its audience, which sends it as soon as it has a version.
    func enqueueStart(_ slot: ActivitySlot) {
        guard let index = starts[slot]?.audience else { return }
        starts.enqueue(slot)
        let audience = membership.awake(index)
        audience.addStart(
            slot, isLate: membership.store[slot].failures.count > 0, positions: &membership.store.positions)
        if audience.target > 0 { membership.count(owed: 1, in: audience) }
        membership.lanes.enqueue(audience)
    }

    /// Removes a start that is due from its audience's line.
    func dequeueStart(_ slot: ActivitySlot) {
        guard let start = starts[slot], start.phase == .due else { return }
        let audience = membership.awake(start.audience)
        audience.removeStart(
            at: Int(membership.store.positions[Int(slot.rawValue)]), isLate: membership.store[slot].failures.count > 0,
            positions: &membership.store.positions)
        if audience.target > 0 { membership.count(owed: -1, in: audience) }
    }

    /// Returns whether the activity's start was accepted, or may have been.
    private func mayBeThere(_ slot: ActivitySlot) -> Bool {
        starts[slot]?.phase == .sent && !membership.store[slot].flags.contains(.inFlight)
    }

    /// Ends the wait of a start, which is due again.
    func wakeStart(_ slot: ActivitySlot) {
        dequeueStart(slot)
        enqueueStart(slot)
    }

    func fail(_ slot: ActivitySlot, _ failure: StartFailure, at moment: Moment) {
        failRenewal(by: slot, at: moment)
        if !membership.store[slot].flags.contains(.leaving) {
            reporter.report(.notStarted(failure), of: membership.store.name(of: slot))
            if let start = starts[slot], start.outlivesOld, let old = start.renews {
                reporter.report(.expired, of: old)
            }
        }
        remove(slot, at: moment)
    }

    /// Notes that the renewal by an activity has failed, so that the old activity is ended for its age.
    private func failRenewal(by slot: ActivitySlot, at moment: Moment) {
        guard let old = starts[slot]?.renews.flatMap({ membership.slot(of: $0) }) else { return }
        renewals.fail(old)
        lookAgain(at: old, at: moment)
    }

    /// Removes the record of a start whose token has been reported, or whose activity is being removed.
    func forgetStart(_ slot: ActivitySlot, at moment: Moment) {
        guard membership.store[slot].flags.contains(.tokenless) else { return }
        dequeueStart(slot)
        if let audience = starts.remove(slot)?.audience { enrolment.release(audience, at: moment) }
        membership.store[slot].flags.remove(.tokenless)
    }

    /// Unfollows an activity without an update token. If its start may have been accepted, the end has to wait for the token.
    private func unfollowStart(_ slot: ActivitySlot, at moment: Moment) {
        failRenewal(by: slot, at: moment)
        if starts[slot]?.phase == .sent {
            membership.store[slot].flags.insert(.leaving)
        } else {
            remove(slot, at: moment)
        }
    }

    func duePush(of slot: ActivitySlot) -> DuePush {
        let activity = membership.store[slot]
        // A start that has been answered is not awaited: only its token shows that the card exists, and the token may never come.
        if activity.flags.contains(.tokenless) {
            let isDue =
                switch starts[slot]?.phase {
                case .due: starts[slot].map { membership.awake($0.audience).target > 0 } ?? false
                case .suspended, .claiming: true
                case .sent: activity.flags.contains(.inFlight)
                case nil: false
                }
            return isDue ? .pending : .none
        }
        if activity.flags.contains(.leaving) { return .pending }
        guard activity.flags.contains(.needsPush) else { return .none }
        return membership.isRefused(activity, membership.awake(activity.audience)) ? .refused : .pending
    }
}
