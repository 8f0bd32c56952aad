import FanfareModel
import FanfareQueues

/// Content of `ShardCommand.follow`.
struct Follow {
    let id: ActivityID
    let audience: AudienceKey
    let token: [UInt8]
    let preferences: Preferences?
    let startedAt: FeedTime?
    /// Deliveries of the process before this one, if the activity is loaded.
    let earlier: EarlierDelivery?
}

/// Handles follows: of new activities, of known ones, and under names whose cards are being ended by an unfollow, for their age, or by the end of
/// their topics.
///
/// A follow with another token means another card: the old card is still ended under its own token, without a name, and the new
/// one is a new activity. A follow with the same token takes an unfollow back, unless the end has left: the card is then gone, and
/// this is reported. A name that has been handed over to a renewed card means that card.
final class Follows {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let enrolment: Enrolment
    private let publisher: TopicPublisher
    private let lifecycle: Lifecycle
    private let moves: Moves
    private let starter: Starter
    private let governor: SubscriberGovernor
    /// Stamp from which the use of limits counts of all cards of a loading, so that cards in the same state share their pushes' decisions; `nil` before
    /// the loading.
    @safe @exclusivity(unchecked) private var usedSince: UInt32?

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ enrolment: Enrolment, _ publisher: TopicPublisher,
        _ lifecycle: Lifecycle, _ moves: Moves, _ starter: Starter, _ governor: SubscriberGovernor
    ) {
        self.reporter = reporter
        self.membership = membership
        self.enrolment = enrolment
        self.publisher = publisher
        self.lifecycle = lifecycle
        self.moves = moves
        self.starter = starter
        self.governor = governor
    }

    func follow(_ new: Follow, at moment: Moment) {
        join(new, at: moment)
        lifecycle.noteStored(new.id, new.audience, token: new.token)
        if new.earlier?.hasJoinedLast == true, let slot = membership.slot(of: new.id) { enrolment.noteJoined(slot) }
    }

    private func join(_ new: Follow, at moment: Moment) {
        if let refusal = CommandRefusal(token: new.token) ?? membership.topics.refusal(of: new.audience) {
            if let slot = lifecycle.slot(of: new.id) { moves.cancel(slot) }
            return reporter.refuse(new.id, refusal)
        }
        guard !returns(new, at: moment) else { return }
        // The token of a renewed card may come late (spec §11, observed): it belongs to the old card, the rest of the command to its successor.
        if let card = membership.slot(of: new.id) {
            if !membership.hasToken(new.token, card) { enrolment.noteJoined(card) }
            starter.takeToken(new.token, of: card, startedAt: new.startedAt, at: moment)
        }
        if let slot = lifecycle.slot(of: new.id) {
            membership.claims.rename(slot, new.id.mark)
            if let preferences = new.preferences { lifecycle.setPreferences(preferences, for: slot) }
            moves.move(slot, to: new.audience, at: moment)
            // The last one of several loads of an activity counts.
            if let earlier = new.earlier, !earlier.hasNewest { repeatNewest(slot) }
        } else {
            insert(new, at: moment)
        }
    }

    private func insert(_ new: Follow, at moment: Moment) {
        let missed = new.earlier.map { missedInLineup(new.audience, having: $0, at: moment) } ?? []
        let index = publisher.audienceIndex(new.audience, missing: missed, at: moment)
        let slot = lifecycle.insertActivity(new.id, token: new.token, startedAt: new.startedAt, at: moment)
        if let preferences = new.preferences { membership.store.setPreferences(of: slot, to: preferences) }
        if new.earlier?.isStored == true { spendHalf(of: slot, at: moment) }
        enrolment.join(
            slot, index, having: new.earlier.flatMap { shown(by: index, having: $0, missing: missed, at: moment) })
        let audience = membership.awake(index)
        // An audience without a version shows nothing, so the card has missed nothing there. The sweep comes to the card, which has joined just now.
        if !missed.isEmpty, audience.target > 0 {
            _ = membership.carriedAlerts.carry(
                CarriedAlerts.Entry(pending: missed), by: slot, at: membership.store[slot].alerted,
                isFollower: audience.lineup == nil)
        }
        membership.rest(index)
    }

    /// Makes the limits of a card half spent.
    private func spendHalf(of slot: ActivitySlot, at moment: Moment) {
        let use = governor.halfSpent(membership.store.preferences(of: slot))
        membership.store[slot].begin(with: use, from: usedSince ?? Follows.stamp(before: moment))
    }

    private static func stamp(before moment: Moment) -> UInt32 { UInt32(moment.stampSecond - 1) }

    /// Makes the newest version of its audience pending for a member that may lack it.
    private func repeatNewest(_ slot: ActivitySlot) {
        let index = membership.store[slot].audience
        guard index != .none, membership.awake(index).target > 0 else { return }
        membership.recount(slot, in: membership.awake(index)) { $0.flags.insert(.needsPush) }
        membership.queueVisit(slot)
    }

    // MARK: Loading

    /// Notes that the store's cards are loaded from now on.
    func beginLoading(at moment: Moment) {
        usedSince = Follows.stamp(before: moment)
        membership.topics.resumed.begin(at: moment.monotonic)
        reporter.completions.beginLoading()
    }

    /// Notes that all cards of the store are loaded.
    func endLoading(at moment: Moment) {
        reporter.completions.endLoading()
        reporter.completions.list(membership.lineups.shownTopics)
        membership.topics.resumed.end(newest: membership.lineups.endBirths(), at: moment.monotonic)
    }

    /// Returns the version that a loaded card has had. Unlike a joiner, such a card may show the newest state, and may have missed alerts. The
    /// members of a lineup carry missed alerts along.
    ///
    /// - Parameter alerts: alerts that the card has missed of its lineup's topics.
    private func shown(
        by index: AudienceIndex, having earlier: EarlierDelivery, missing alerts: [PendingAlert], at moment: Moment
    ) -> PendingStart.Shown? {
        let audience = membership.awake(index)
        guard audience.lineup == nil else {
            return alerts.isEmpty ? shown(byLineup: audience, having: earlier, at: moment) : nil
        }
        let topic = audience.topics[0]
        let hadNewest = earlier.hasNewest && membership.topics.resumed.hasHolders(topic)
        let missed = audience.alerts.pending.first {
            $0.isCarried(at: moment) && ResumedTopics.concerns($0.issue, earlier, hadNewest: hadNewest)
        }
        // A card that has missed an alert gets a push for it, even if its state is current.
        let isCurrent =
            hadNewest && missed == nil
            && membership.topics[topic].latest.map { membership.topics.resumed.isShown($0, topic) } == true
        return PendingStart.Shown(
            version: audience.target, displayHash: isCurrent ? audience.versions.newestDisplayHash : nil,
            alerted: missed.map { $0.version - 1 } ?? audience.target)
    }

    /// Returns the version that a loaded member of a lineup shows: the newest one, if the store says so of just the topics of which there is a
    /// publication. The end of a lineup follows in any case.
    private func shown(
        byLineup audience: Audience, having earlier: EarlierDelivery, at moment: Moment
    ) -> PendingStart.Shown? {
        guard earlier.hasNewest, audience.target > 0, audience.event == .update else { return nil }
        var published = 0
        for topic in audience.topics {
            guard let latest = membership.topics[topic].latest else { continue }
            guard membership.topics.resumed.isShownInLineups(latest, topic) else { return nil }
            published += 1
        }
        guard published == earlier.topicsShown, !hasLostRow(audience, at: moment),
            hasSpotlightAtRest(audience, at: moment)
        else { return nil }
        return PendingStart.Shown(
            version: audience.target, displayHash: audience.versions.newestDisplayHash, alerted: audience.target)
    }

    /// Returns whether a row has left the lineup during the loading, and may still be on the cards that are loaded now. While no topic is live, a row
    /// stays on the cards until the next news.
    private func hasLostRow(_ audience: Audience, at moment: Moment) -> Bool {
        let (began, now) = (membership.topics.resumed.loadedSince, moment.monotonic)
        var (hasLost, hasLive) = (false, false)
        for topic in audience.topics {
            let face = membership.topics.faces[topic.place]
            if began < face.goneAt, face.goneAt <= now { hasLost = true }
            if face.topic(at: now).life == .live { hasLive = true }
        }
        return hasLost && hasLive
    }

    /// Returns whether the spotlight of a lineup is where the store says that all members have it, or a cycle moves it on: an alert that another
    /// member has missed may have moved it.
    private func hasSpotlightAtRest(_ audience: Audience, at moment: Moment) -> Bool {
        guard let lineup = audience.lineup else { return true }
        let rotation = Rotation(membership.lineupRules, pinned: lineup.rotation.pinned, at: moment.monotonic)
        let topics = audience.topics.map { membership.topics.faces[$0.place].topic(at: moment.monotonic) }
        if membership.lineupRules.round != nil, rotation.goesRound(topics) { return true }
        return rotation.wanted(topics, now: moment.monotonic) == lineup.publishedSpotlight
    }

    /// Returns the alerts that a loaded card has missed of its lineup's topics, the oldest first.
    private func missedInLineup(
        _ key: AudienceKey, having earlier: EarlierDelivery, at moment: Moment
    ) -> [PendingAlert] {
        let resumed = membership.topics.resumed
        guard case .lineup(let ids, _) = key, resumed.hasAlerts else { return [] }
        let topics = ids.compactMap { membership.topics.index(of: $0) }
        var missed: [PendingAlert] = []
        for topic in topics {
            // One fact may be in two topics of a lineup.
            for alert in resumed.alerts(of: topic, at: moment)
            where ResumedTopics.concerns(alert.issue, earlier) && !resumed.isRepeat(alert.issue, in: topics) {
                missed.append(alert)
            }
        }
        missed.sort { $0.alert.grantedAt < $1.alert.grantedAt }
        return Array(missed.kept)
    }

    /// Handles a follow under a name whose card is being ended.
    ///
    /// - Returns: whether nothing more is to be done; otherwise the activity is new under this name, or known and to be moved.
    private func returns(_ new: Follow, at moment: Moment) -> Bool {
        guard let slot = lifecycle.slot(of: new.id) else { return false }
        let flags = membership.store[slot].flags
        guard !flags.isDisjoint(with: [.leaving, .ending]) || lifecycle.awaitsEnd(slot, of: new.audience) else {
            return false
        }
        guard !flags.contains(.tokenless) else {
            // The token of a card whose start is on its way may come late; that card must still be ended, by its own id alone.
            if lifecycle.renewals.isHandedOver(new.id) {
                lifecycle.renewals.removeNames(of: slot)
                _ = lifecycle.starts.takeRenewed(by: slot)
            }
            return false
        }
        // The former card may still lack its end.
        let former = lifecycle.renewals.isHandedOver(new.id) ? membership.slot(of: new.id) : nil
        if membership.hasToken(new.token, slot) {
            if flags.contains(.ending) || !flags.contains(.leaving) || lifecycle.lastStates[slot] != nil {
                noteEnded(slot, new.id)
            } else {
                takeBack(slot, in: publisher.audienceIndex(new.audience, at: moment))
                if let preferences = new.preferences { lifecycle.setPreferences(preferences, for: slot) }
            }
            return true
        }
        guard lifecycle.successor(of: slot) == nil, former.map({ !membership.hasToken(new.token, $0) }) ?? true else {
            noteEnded(slot, new.id)
            return true
        }
        detachName(slot, at: moment)
        if let former { detachName(former, at: moment) }
        return false
    }

    /// Reports that the card of an activity that was followed again is over: the end of that card is on its way.
    private func noteEnded(_ slot: ActivitySlot, _ id: ActivityID) {
        moves.cancel(slot)
        reporter.report(.ended, of: id)
    }

    /// Makes the activity a member again; its end has not left.
    private func takeBack(_ slot: ActivitySlot, in audience: AudienceIndex) {
        lifecycle.takeBack(slot)
        enrolment.join(slot, audience)
    }

    private func detachName(_ slot: ActivitySlot, at moment: Moment) {
        lifecycle.forgetAbsence(of: slot)
        moves.cancel(slot)
        lifecycle.renewals.removeNames(of: slot)
        membership.store.rename(slot, to: reporter.surrogates.add { membership.slot(of: $0) != nil })
        guard !membership.store[slot].flags.contains(.leaving) else { return }
        // An end of its former audience is in flight or pending. If that one fails, the activity's own end shows the same state.
        let audience = membership.store[slot].audience
        lifecycle.lastStates[slot] = audience
        enrolment.retain(audience)
        lifecycle.depart(slot, at: moment)
    }
}
