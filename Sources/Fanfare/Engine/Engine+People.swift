import FanfareFanOut
import FanfareLog
import FanfareModel

/// Entries of an engine with a store, which say how a call changes a card.
extension Engine {
    /// Returns the request; with its entry if there is a store, and the id has its text.
    func kept(_ request: CoreRequest, as entry: @autoclosure () -> PeopleEntry?) -> CoreRequest {
        guard core.inbox.hasStore, let entry = entry() else { return request }
        return .person(entry, request, nil)
    }

    func entry(_ subscription: Subscription, _ subscriber: SubscriberID) -> PeopleEntry? {
        guard let activity = subscription.activity.text else { return nil }
        var card = card(
            of: subscriber, activity, subscription.audience, token: subscription.token,
            startedAt: subscription.startedAt)
        card.preferences = subscription.preferences
        return .follow(card)
    }

    func entry(_ command: ShardCommand, _ subscriber: SubscriberID) -> PeopleEntry? {
        switch command {
        case .start(let request, let audience):
            var card = card(of: subscriber, request.activity, audience, token: request.token, startedAt: nil)
            (card.phase, card.request) = (.starting, request)
            return .start(card)
        case .move(let id, let audience): return .move(id, audience)
        case .replaceToken(let id, let token):
            return .replaceToken(id, token, shownAt: core.clock.wall)
        case .prefer(let id, let preferences): return .prefer(id, preferences)
        case .unfollow(let id): return .unfollow(id)
        default: return nil
        }
    }

    private func card(
        of subscriber: SubscriberID, _ activity: String, _ audience: AudienceKey, token: [UInt8],
        startedAt: FeedTime?
    ) -> Card {
        let now = core.clock.wall
        // An impossible time counts as now, as it does in the core.
        let began = startedAt.flatMap { StartDate.isPossible($0, now: now) ? $0 : nil } ?? now
        var card = Card(
            subscriber: subscriber.rawValue, activity: activity, token: token, audience: audience, startedAt: began)
        // Another engine on this store may have its apps in another order.
        card.app = subscriber.app ?? core.apps.first
        return card
    }
}
