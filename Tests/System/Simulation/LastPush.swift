import FanfareFanOut
import FanfareModel

/// The push sent last to a phone: the oracle of the order of stamps, and of repeats.
struct LastPush {
    /// Number of its pushes in flight; more than one is a violation.
    private(set) var flying = 0
    private(set) var stamp: Int64 = 0
    private(set) var state: [UInt8] = []
    /// Is `true` if it may be repeated unchanged: it was not accepted, or its outcome is uncertain.
    var mayRepeat = true
    /// Newest publication of its audience when it was sent.
    private(set) var serial: UInt64 = 0
    private(set) var sentAt = MonotonicTime.always
    private(set) var answeredAt = MonotonicTime.always
    /// Is `true` if it had an alert and no alert was published while it was in flight.
    var alertStandsAlone = false

    mutating func sent(_ payload: Payload, newest serial: UInt64, at moment: Moment) {
        flying += 1
        // A push that the phone drops for its stamp does not count for the order of stamps.
        if Screen.takes(payload.stamp, at: moment) { stamp = payload.stamp }
        state = payload.state
        mayRepeat = false
        self.serial = serial
        sentAt = moment.monotonic
        alertStandsAlone = payload.alert != nil && payload.event == .update
    }

    /// - Parameter isLast: `true` if nothing follows it, though it was refused.
    mutating func answered(_ outcome: DeliveryOutcome, isLast: Bool, at now: MonotonicTime) {
        flying -= 1
        answeredAt = now
        // After a refusal no push is due before a newer state, which may look the same.
        if outcome != .accepted, !isLast { mayRepeat = true }
    }
}
