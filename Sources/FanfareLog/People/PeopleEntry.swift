package import FanfareModel

/// Change of a person's card, as a call or a shard asks for it. A `PeopleRegister` makes it a change of rows.
package enum PeopleEntry: Sendable, Equatable {
    /// The card exists on a phone. A known card keeps the fields that the entry leaves open, and its age unless it is a new card.
    case follow(Card)
    /// A push is to make the card appear; its token is the start token.
    case start(Card)
    case move(ActivityID, AudienceKey, joinedAt: FeedTime? = nil)
    /// The card has that token. A starting card is on its phone since `shownAt`, by the wall clock; `takenAt` is log time.
    case replaceToken(ActivityID, [UInt8], shownAt: FeedTime? = nil, takenAt: FeedTime? = nil)
    case setPreferences(ActivityID, Preferences)
    /// The card is to be ended.
    case unfollow(ActivityID)
    /// The card with the id of these bits is over, unless its token has another `keyedHash`.
    case removed(UInt64, token: UInt64)
}

extension PeopleEntry {
    /// Returns the entry with the log time at which it was taken.
    package func taken(at now: FeedTime) -> PeopleEntry {
        switch self {
        case .follow(var card):
            card.joinedAt = now
            return .follow(card)
        case .start(var card):
            card.joinedAt = now
            return .start(card)
        case .move(let id, let audience, _): return .move(id, audience, joinedAt: now)
        case .replaceToken(let id, let token, let shownAt, _):
            return .replaceToken(id, token, shownAt: shownAt, takenAt: now)
        case .setPreferences, .unfollow, .removed: return self
        }
    }
}
