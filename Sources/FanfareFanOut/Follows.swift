import FanfareModel

/// Follows: of new activities, of known ones, and under names whose cards are being ended by an unfollow, for their age, or by the
/// end of their topics.
///
/// A follow with another token means another card: the old card is still ended under its own token, without a name, and the new
/// one is a new activity. A follow with the same token takes an unfollow back, unless the end has left: the card is then gone, and
/// this is reported. A name that has been handed over to a renewed card means that card.
final class Follows {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let publisher: TopicPublisher
    private let lifecycle: Lifecycle
    private let moves: Moves
    private let starter: Starter

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ publisher: TopicPublisher,
        _ lifecycle: Lifecycle, _ moves: Moves, _ starter: Starter
    ) {
        self.reporter = reporter
        self.membership = membership
        self.publisher = publisher
        self.lifecycle = lifecycle
        self.moves = moves
        self.starter = starter
    }

    func follow(
        _ id: ActivityID, _ key: AudienceKey, token: [UInt8], _ preferences: Preferences?, startedAt: FeedTime?,
        at moment: Moment
    ) {
        join(id, key, token: token, preferences, startedAt: startedAt, at: moment)
        lifecycle.noteStored(id, key, token: token)
    }

    /// Notes what an activity that has followed has had from an earlier process.
    func note(_ id: ActivityID, _ earlier: EarlierDelivery) {
        guard earlier != EarlierDelivery() || publisher.earlier.hasHolders, let slot = membership.slot(of: id) else {
            return
        }
        publisher.earlier.note(slot, earlier)
        if earlier.hasJoinedLast { membership.noteJoined(slot) }
    }

    private func join(
        _ id: ActivityID, _ key: AudienceKey, token: [UInt8], _ preferences: Preferences?, startedAt: FeedTime?,
        at moment: Moment
    ) {
        if let refusal = membership.refusal(of: token) ?? membership.refusal(of: key) {
            if let slot = lifecycle.slot(of: id) { moves.cancel(slot) }
            return reporter.refuse(id, refusal)
        }
        guard !returns(id, key, token: token, preferences, at: moment) else { return }
        // The token of a renewed card may come late (spec §11, observed): it belongs to the old card, the rest of the command to its successor.
        if let card = membership.slot(of: id) {
            if !membership.hasToken(token, card) { membership.noteJoined(card) }
            starter.takeToken(token, of: card, startedAt: startedAt, at: moment)
        }
        if let slot = lifecycle.slot(of: id) {
            membership.claims.rename(slot, id.mark)
            if let preferences { lifecycle.prefer(preferences, for: slot) }
            moves.move(slot, to: key, at: moment)
        } else {
            let index = publisher.audienceIndex(key, at: moment)
            let slot = lifecycle.insertActivity(id, token: token, startedAt: startedAt, at: moment)
            if let preferences { membership.store.setPreferences(of: slot, to: preferences) }
            membership.join(slot, index)
            membership.rest(index)
        }
    }

    /// Handles a follow under a name whose card is being ended.
    ///
    /// - Returns: whether nothing more is to be done; otherwise the activity is new under this name, or known and to be moved.
    private func returns(
        _ id: ActivityID, _ key: AudienceKey, token: [UInt8], _ preferences: Preferences?, at moment: Moment
    ) -> Bool {
        guard let slot = lifecycle.slot(of: id) else { return false }
        let flags = membership.store[slot].flags
        guard !flags.isDisjoint(with: [.leaving, .ending]) || lifecycle.awaitsEnd(slot, of: key) else { return false }
        guard !flags.contains(.tokenless) else {
            // The token of a card whose start is on its way may come late; that card must still be ended, by its own id alone.
            if lifecycle.renewals.isHandedOver(id) {
                lifecycle.renewals.removeNames(of: slot)
                _ = lifecycle.starts.takeRenewed(by: slot)
            }
            return false
        }
        // The card before it may still lack its end.
        let former = lifecycle.renewals.isHandedOver(id) ? membership.slot(of: id) : nil
        if membership.hasToken(token, slot) {
            if flags.contains(.ending) || !flags.contains(.leaving) || lifecycle.lastStates[slot] != nil {
                noteEnded(slot, id)
            } else {
                takeBack(slot, in: publisher.audienceIndex(key, at: moment))
                if let preferences { lifecycle.prefer(preferences, for: slot) }
            }
            return true
        }
        guard lifecycle.successor(of: slot) == nil, former.map({ !membership.hasToken(token, $0) }) ?? true else {
            noteEnded(slot, id)
            return true
        }
        detachName(slot, at: moment)
        if let former { detachName(former, at: moment) }
        return false
    }

    /// Tells that the card of an activity that was followed again is over: its end is on its way.
    private func noteEnded(_ slot: ActivitySlot, _ id: ActivityID) {
        moves.cancel(slot)
        reporter.report(.ended, of: id)
    }

    /// Makes the activity a member again; its end has not left.
    private func takeBack(_ slot: ActivitySlot, in audience: AudienceIndex) {
        lifecycle.abandonDeparture(slot)
        membership.store[slot].flags.remove(.leaving)
        lifecycle.leaving -= 1
        membership.join(slot, audience)
    }

    private func detachName(_ slot: ActivitySlot, at moment: Moment) {
        membership.forgetAbsence(of: slot)
        moves.cancel(slot)
        lifecycle.renewals.removeNames(of: slot)
        membership.store.rename(slot, to: reporter.surrogates.add { membership.slot(of: $0) != nil })
        guard !membership.store[slot].flags.contains(.leaving) else { return }
        // An end of its former audience is in flight or pending. If that one fails, the activity's own end shows the same state.
        let audience = membership.store[slot].audience
        lifecycle.lastStates[slot] = audience
        membership.retainAudience(audience)
        lifecycle.depart(slot, at: moment)
    }
}
