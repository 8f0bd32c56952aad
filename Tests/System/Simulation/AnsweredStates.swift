import FanfareFanOut
import FanfareModel

/// The states that the service has taken or refused: the oracle of versions that must not come again.
struct AnsweredStates {
    /// State of the last accepted push.
    var accepted: [UInt8]?
    /// Newest publication of its phone's audience when the last accepted push left.
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
    ///   - serial: newest publication of its phone's audience when the push left.
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
