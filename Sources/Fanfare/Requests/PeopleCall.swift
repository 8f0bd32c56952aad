package import FanfareFanOut
package import FanfareLog
package import FanfareModel

/// Call of a program for a subscriber's card, which makes the entry that says how the call changes the card in the store.
package struct PeopleCall {
    let subscriber: SubscriberID
    /// The engine's first app, to which a card belongs if the call names no app; `nil` for an engine that pushes to no app.
    let firstApp: AppID?
    /// Wall clock time of the call.
    let now: FeedTime

    package init(subscriber: SubscriberID, firstApp: AppID?, now: FeedTime) {
        (self.subscriber, self.firstApp, self.now) = (subscriber, firstApp, now)
    }

    /// Returns the entry of a follow; `nil` if the activity's id has no text.
    package func entry(_ subscription: Subscription) -> PeopleEntry? {
        guard let activity = subscription.activity.text else { return nil }
        var card = card(
            activity, subscription.audience, token: subscription.token, startedAt: subscription.startedAt)
        card.preferences = subscription.preferences
        return .follow(card)
    }

    /// Returns the entry of a call that a shard carries out; `nil` if the call changes no row.
    package func entry(_ command: ShardCommand) -> PeopleEntry? {
        switch command {
        case .start(let request, let audience):
            var card = card(request.activity, audience, token: request.token, startedAt: nil)
            (card.phase, card.request) = (.starting, request)
            return .start(card)
        case .move(let id, let audience): return .move(id, audience)
        case .replaceToken(let id, let token): return .replaceToken(id, token, shownAt: now)
        case .setPreferences(let id, let preferences): return .setPreferences(id, preferences)
        case .unfollow(let id): return .unfollow(id)
        default: return nil
        }
    }

    private func card(
        _ activity: String, _ audience: AudienceKey, token: [UInt8], startedAt: FeedTime?
    ) -> Card {
        // An impossible time counts as now, as it does in the core.
        let began = startedAt.flatMap { StartDate.isPossible($0, now: now) ? $0 : nil } ?? now
        var card = Card(
            subscriber: subscriber.rawValue, activity: activity, token: token, audience: audience, startedAt: began)
        // Another engine on this store may have its apps in another order.
        card.app = subscriber.app ?? firstApp
        return card
    }
}
