import FanfareFanOut
import FanfareLineup
import FanfareModel

extension Phone {
    /// The states that the service has taken or refused: the oracle of versions that must not come again.
    struct States {
        /// State of the last accepted push.
        var accepted: [UInt8]?
        /// Newest publication of its audience when the last accepted push left.
        private(set) var acceptedSerial: UInt64 = 0
        /// Serial of the newest state, if the service has refused it for good: no push is due before a newer state.
        private(set) var refusedSerial: UInt64?
        /// Serial of the newest state that was ever refused.
        private(set) var lastRefused: UInt64 = 0
        private(set) var refusedState: [UInt8]?
        /// Is `true` if the state sent last is pending once more after any answer.
        private var isOwedAgain = false

        mutating func oweAgain(isFlying: Bool) { (refusedSerial, isOwedAgain) = (nil, isFlying) }

        mutating func sent() { (refusedSerial, isOwedAgain) = (nil, false) }

        /// - Parameters:
        ///   - serial: newest publication of its audience when the push left.
        ///   - isLast: `true` if nothing follows the push, though it was refused.
        mutating func answered(_ flight: Flight, of serial: UInt64, isLast: Bool) {
            if flight.outcome == .accepted { (accepted, acceptedSerial) = (flight.payload.state, serial) }
            if flight.outcome == .refused, !isLast { refused(flight.payload.state, of: serial) }
        }

        /// Notes that the service has refused a state for good.
        mutating func refused(_ state: [UInt8], of serial: UInt64) {
            if !isOwedAgain { refusedSerial = serial }
            lastRefused = max(lastRefused, serial)
            refusedState = state
        }
    }

    /// The push sent last: the oracle of the order of stamps, and of repeats.
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

    /// States that a lineup has shown since it was joined: the oracle of its spotlight.
    struct LineupCard {
        /// The lineup of the last push; `nil` before the first.
        var last: LineupContentState<Match>?
        var rotation = RotationJudge()
    }
}
