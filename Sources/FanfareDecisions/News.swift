import FanfareModel

/// An event that changed something visible, on its way out.
struct News {
    let event: FeedEvent
    let entry: LedgerEntry?
    /// How much older it is than the newest of its topic, where it is; late, where that is more than the rules let pass.
    let age: Duration?
    let lateBy: Duration?
    /// The topic's state without it.
    let before: JSONObject
    var reason = "visible change"
    /// Passes whatever the interval says.
    var mustPass = false
    /// Nothing of the topic had been heard or shown before the event, or its feed catches up with log time.
    var isBacklog = false

    var cause: String { event.cause }
}
