/// The outcome of one push.
@usableFromInline package enum DeliveryOutcome: Sendable, Equatable {
    /// APNs has accepted the push, which says nothing about the phone.
    case accepted
    /// The token will never work again (410, `BadDeviceToken`, `DeviceTokenNotForTopic`).
    case deadToken
    /// Too many pushes went to this token (429): the activity backs off, then gets the newest state.
    case throttled
    /// The push was not processed, because of itself or its token (a 5xx answer, or a reset for another reason than a refused stream):
    /// the activity backs off, then gets the newest state with its alert.
    case serviceError
    /// The push was certainly not processed, for a reason other than its token (refused stream, above a GOAWAY's last stream, a
    /// configuration fault): it may be sent again at once, with its alert.
    case notProcessed
    /// APNs refused the push for a reason that sending it again does not fix: a bug of ours.
    case refused
    /// The push was sent, and no answer will come (connection lost, timeout): it may or may not have arrived.
    case uncertain

    /// Is `true` when the push certainly reached no device.
    var isUnprocessed: Bool { self != .accepted && self != .uncertain }
}

@usableFromInline package struct DeliveryCompletion: Sendable {
    @usableFromInline package let slot: ActivitySlot
    @usableFromInline package let generation: UInt32
    @usableFromInline package let outcome: DeliveryOutcome

    @usableFromInline package init(slot: ActivitySlot, generation: UInt32, outcome: DeliveryOutcome) {
        self.slot = slot
        self.generation = generation
        self.outcome = outcome
    }
}
