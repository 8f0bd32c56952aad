import FanfareFanOut
import FanfareModel

extension Sight {
    /// The judges of starts, ends and states, of every push, in the order in which they are asked.
    static let cardJudges: [any PushJudge] = [
        StartJudge(), EndJudge(), PrivateEndJudge(), NewestStateJudge(), GatheringJudge(),
    ]
}

/// A card gets nothing but its start before the shard has its token.
struct UpdateTokenJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        sight.payload.event == .start || sight.phone.hasToken ? nil : "a push to a card without a token (L7)"
    }
}

/// A card is started once, for somebody who wants it, and not when what it would show is over.
struct StartJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        let payload = sight.payload
        guard payload.event == .start else { return nil }
        guard let card = sight.phone.card, let served = sight.phone.served else {
            return "a start that nobody has asked for (L5)"
        }
        if card.isOut { return "a second start (L7)" }
        if sight.succession.isUnwanted { return "a new card for somebody who has ended the old one" }
        if payload.alert?.title != "Start" || payload.priority != .immediate || payload.start?.collapseID == nil {
            return "a start that phones ignore"
        }
        return sight.states.isSeenToBeOver(served, for: sight.phone.following) ? "a start of what is over" : nil
    }
}

/// A card of a topic that goes on ends only for its age, and not while its successor has no token.
struct EndJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        guard sight.payload.event == .end, let served = sight.phone.served else { return nil }
        if let violation = premature(sight, of: served) { return violation }
        guard sight.isEndWithoutState else { return nil }
        // An end for the age of a card that never had a state.
        guard !sight.published.hasNews(for: sight.phone.following), sight.isUnseen || sight.isDismissed else {
            return "an end without a state"
        }
        return nil
    }

    private func premature(_ sight: Sight, of served: AudienceKey) -> String? {
        let (phone, published) = (sight.phone, sight.published)
        // A nameless phone gets the end of what it showed when another card took its name.
        if published.isOver(served, for: phone.following) || phone.naming.isDetached { return nil }
        if published.mayBeOver(served, for: phone.following) { return nil }
        if sight.succession.isUnderWay { return "it ends before the new card has its token (L1)" }
        return sight.age.isAlmostOver ? nil : "it ends though it goes on (L1)"
    }
}

/// Who has been unfollowed gets one private end, which takes the card away at once.
struct PrivateEndJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        guard sight.phone.served == nil else { return nil }
        if sight.payload.event != .end
            || !sight.isUnseen && sight.payload.dismissalDate ?? .max > sight.moment.wallSeconds
        {
            return "something else than one private end after an unfollow"
        }
        return nil
    }
}

/// A push has the newest state of what the phone shows.
struct NewestStateJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        guard let served = sight.phone.served, !sight.isEndWithoutState else { return nil }
        return sight.states.judge(
            sight.payload, carrying: sight.carried, shown: served, for: sight.phone, after: sight.history)
    }
}

/// Alerts of a lineup are gathered. Says nothing of lineups that may have another member, which may have waited for the first alert.
struct GatheringJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        guard sight.isAlone, case .lineup(let topics, _) = sight.phone.served else { return nil }
        return sight.states.lineups.gathering(sight.payload, lineup: topics, after: sight.history.last)
    }
}
