import FanfareModel

/// The part of a payload that depends on the receiver: the event, the stamp, the alerts that it carries, and the start.
struct PayloadRequest {
    let event: Payload.Event
    let stamp: Int64
    /// The alerts that the payload carries: indices into `missed`.
    var selection: AlertSelection?
    var missed: ArraySlice<PendingAlert> = []
    var priority = Priority.immediate
    /// A start, with its alert; it carries no missed alerts.
    var start: (payload: Payload.Start, alert: AlertText?)?
}
