package import FanfareModel

/// A card as the store keeps it: an activity of a subscriber, and everything that outlives the process.
package struct Card: Sendable, Equatable {
    /// Part of its life that a card has reached. A number never changes its meaning, because stores of earlier releases contain it.
    package enum Phase: UInt8, Sendable, CaseIterable {
        /// A start was made durable, and no update token has been reported yet.
        case starting
        case shown
        /// The person has unfollowed, and the outcome of the end is not durable yet.
        case leaving
    }

    /// The backend's id of the subscriber; `nil` for one that is named by the token.
    package var subscriber: String?
    /// The app's id of the activity; `nil` for one that is named by the token.
    package var activity: String?
    /// Update token, raw bytes. It is shown nowhere, because it lets the app's key push to the phone.
    package var token: [UInt8]
    /// Number of the token, counting up for each new one of the card. A report of a dead token names it.
    package var generation: UInt64 = 0
    package var audience: AudienceKey
    package var preferences: Preferences?
    /// App of the card. `nil`, as in rows of an import, of an engine that pushes to no app and of an earlier release: the first app of the engine
    /// that loads the card.
    package var app: AppID?
    /// Time at which the card appeared on the phone.
    package var startedAt: FeedTime
    /// Age at which a card is about to be renewed or ended, half an hour before the system ends it.
    static let ageMax = Duration.seconds(7 * 3600 + 1800)
    /// Log time at which the card joined its audience, or was first to be started; `nil` for an imported card.
    package var joinedAt: FeedTime?
    package var phase = Phase.shown
    /// Request of a card that is starting; `nil` for a card of an earlier release.
    package var request: StartRequest?

    package init(
        subscriber: String? = nil, activity: String? = nil, token: [UInt8], audience: AudienceKey,
        startedAt: FeedTime
    ) {
        self.subscriber = subscriber
        self.activity = activity
        self.token = token
        self.audience = audience
        self.startedAt = startedAt
    }
}

extension Card {
    /// Number of slices of the people, whatever the shards. A slice is loaded as a whole.
    package static let slices = 64

    /// Slice of a subscriber; without an id, slice of the token. Chosen ids can fill one slice, which only costs time at a start.
    package static func slice(ofSubscriber id: String?, token: [UInt8]) -> Int {
        Int((id.map { $0.utf8.fnv1a } ?? token.fnv1a) % UInt64(slices))
    }

    /// Name of the card: cards of one slice with equal names are the same, and the one inserted last counts.
    package var name: CardName {
        CardName(id: activity.map { Array($0.utf8) } ?? token, isToken: activity == nil, app: app)
    }

    /// Returns the card as an engine loads it.
    package func subscription(_ key: CardKey? = nil) -> Subscription {
        let named = ActivityID(token.keyedHash)
        var subscription = Subscription(
            audience: audience, activity: activity.map { ActivityID($0) } ?? named,
            subscriber: subscriber?.utf8.keyedHash ?? named.rawValue, token: token, preferences: preferences, app: app,
            startedAt: startedAt, joinedAt: joinedAt)
        subscription.serial = key?.serial
        return subscription
    }
}

/// Name by which a card is found again.
package struct CardName: Hashable, Sendable {
    let id: [UInt8]
    let isToken: Bool
    let app: AppID?

    /// The name without its app: equal for cards of the same id in any app.
    var inAnyApp: CardName { CardName(id: id, isToken: isToken, app: nil) }
}

/// Place of a card in a store. A serial is never reused.
package struct CardKey: Hashable, Sendable {
    package var slice: Int
    package var serial: UInt64

    package init(slice: Int, serial: UInt64) {
        self.slice = slice
        self.serial = serial
    }
}
