import FanfareModel

/// An event that changed something visible, on its way to publication.
struct VisibleChange {
    let event: FeedEvent
    let entry: LedgerEntry?
    /// Age relative to the topic's newest event; `nil` if this is the newest. `lateBy` is the same if the rules count it as late.
    let age: Duration?
    let lateBy: Duration?
    /// Content state of the topic without the event.
    let before: JSONObject
    var reason = "visible change"
    /// Publishes the change regardless of the minimum interval.
    var mustPass = false
    /// Is `true` when nothing of the topic was received or shown before the event, or while its feed catches up with log time.
    var isBacklog = false

    var cause: String { event.cause }
}
