import FanfareLog
import FanfareModel

/// Entries of an engine with a store, which say how a call changes a card.
extension Engine {
    /// Returns the request; with its entry if there is a store, and the id has its text.
    func kept(_ request: CoreRequest, as entry: @autoclosure () -> PeopleEntry?) -> CoreRequest {
        guard core.inbox.hasStore, let entry = entry() else { return request }
        return .person(entry, request, nil)
    }

    /// Returns the call of a subscriber at this moment.
    func call(of subscriber: SubscriberID) -> PeopleCall {
        PeopleCall(
            subscriber: subscriber, firstApp: core.apps.first,
            now: FeedTime(milliseconds: core.clock.wallMilliseconds()))
    }
}
