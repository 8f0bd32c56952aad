package import FanfareModel

/// Change of a person's card, as a call or a shard asks for it. A `PeopleRegister` makes it a change of rows.
package enum PeopleEntry: Sendable, Equatable {
    /// The card exists on a phone, as this. A known card keeps what the entry leaves open, and its age unless it is a new card.
    case follow(Card)
    /// A push is to make the card appear; its token is the start token.
    case start(Card)
    case move(ActivityID, AudienceKey, joinedAt: FeedTime? = nil)
    case replaceToken(ActivityID, [UInt8], takenAt: FeedTime? = nil)
    case prefer(ActivityID, Preferences)
    /// The card is to be ended.
    case unfollow(ActivityID)
    /// The card with the id of these bits is over, unless it has got another token than the one with this `keyedHash`.
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
        case .replaceToken(let id, let token, _): return .replaceToken(id, token, takenAt: now)
        case .prefer, .unfollow, .removed: return self
        }
    }
}
