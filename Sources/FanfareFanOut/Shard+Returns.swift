import FanfareModel

/// A follow under a name whose card is being ended: by an unfollow, for its age, or by the end of its topic.
///
/// A follow with another token means another card: the old card is still ended under its own token, without a name, and the new
/// one is a new activity. A follow with the same token takes an unfollow back, unless the end has left: the card is then gone, and
/// this is reported. A name that has been handed over to a renewed card means that card.
extension Shard {
    /// Handles a follow under a name whose card is being ended.
    ///
    /// - Returns: whether nothing more is to be done; otherwise the activity is new under this name, or known and to be moved.
    func returns(
        _ id: ActivityID, _ key: AudienceKey, token: [UInt8], _ preferences: Preferences?, at moment: Moment
    ) -> Bool {
        guard let slot = slot(of: id) else { return false }
        let flags = store[slot].flags
        guard !flags.isDisjoint(with: [.leaving, .ending]) || awaitsEnd(slot, of: key) else { return false }
        guard !flags.contains(.tokenless) else {
            // The token of a card whose start is on its way may come late; that card must still be ended, by its own id alone.
            if renewals.isHandedOver(id) {
                renewals.removeNames(of: slot)
                _ = starts.takeRenewed(by: slot)
            }
            return false
        }
        // The card before it may still lack its end.
        let former = renewals.isHandedOver(id) ? store.slot(of: id) : nil
        if hasToken(token, slot) {
            if flags.contains(.ending) || !flags.contains(.leaving) || lastStates[slot] != nil {
                report(.ended, of: id)
            } else {
                takeBack(slot, in: audienceIndex(key, at: moment))
                if let preferences { prefer(preferences, for: slot) }
            }
            return true
        }
        guard successor(of: slot) == nil, former.map({ !hasToken(token, $0) }) ?? true else {
            report(.ended, of: id)
            return true
        }
        partFromName(slot, at: moment)
        if let former { partFromName(former, at: moment) }
        return false
    }

    /// Makes the activity a member again; its end has not left.
    private func takeBack(_ slot: ActivitySlot, in audience: Int) {
        abandonDeparture(slot)
        store[slot].flags.remove(.leaving)
        leaving -= 1
        join(slot, audience)
    }

    private func partFromName(_ slot: ActivitySlot, at moment: Moment) {
        renewals.removeNames(of: slot)
        store.rename(slot, to: nameless.add { store.slot(of: $0) != nil })
        guard !store[slot].flags.contains(.leaving) else { return }
        // An end of its former audience is in flight or pending. If that one fails, the activity's own end shows the same state.
        let audience = Int(store[slot].audience)
        lastStates[slot] = audience
        expect(in: audience)
        depart(slot, at: moment)
    }
}

/// Ids that the shard gives to activities that have lost their names to others, until these activities are gone.
struct Nameless {
    private var ids: Set<ActivityID> = []
    private var given: UInt64 = 0

    mutating func add(isTaken: (ActivityID) -> Bool) -> ActivityID {
        while true {
            given += 1
            let id = ActivityID((~given).mixed)
            if !isTaken(id), ids.insert(id).inserted { return id }
        }
    }

    mutating func remove(_ id: ActivityID) { if !ids.isEmpty { ids.remove(id) } }
    func contains(_ id: ActivityID) -> Bool { !ids.isEmpty && ids.contains(id) }
}
