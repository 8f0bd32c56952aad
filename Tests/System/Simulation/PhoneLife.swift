import FanfareFanOut
import FanfareModel

/// The card from its beginning to its end: the oracle of ages, ends and deaths.
struct PhoneLife {
    /// Time at which the card appeared, as the shard knows it.
    var beganAt = MonotonicTime(nanoseconds: 0)
    var isExpired = false
    /// Is `true` if its name means the successor, whose card may still be pending.
    var isReplaced = false
    /// Is `true` if it ended before the system's eight hours were over: a successor is then unwanted.
    var isEndedEarly = false
    var hasLeft = false
    private(set) var isEnding = false
    /// Is `true` when the service has certainly taken an end, or the token is dead: nothing may follow.
    var isGone = false
    var isDead = false
    /// Is `true` if the shard has removed it and must report that once.
    private(set) var isRemoved = false
    var deathReports = 0

    /// Is `true` until the shard, the person or the service is done with it.
    var goesOn: Bool { !isExpired && !hasLeft && !isDead && !isGone }

    mutating func sent(_ event: Payload.Event) { isEnding = event == .end }

    /// - Parameters:
    ///   - isServed: `true` if the push went to the token that the shard has.
    ///   - isLast: `true` if nothing follows the push, though it was refused: the card stays on the phone until the system removes it.
    mutating func answered(_ flight: Flight, isServed: Bool, isHeld: Bool, isLast: Bool) {
        isEnding = false
        switch flight.outcome {
        case .accepted: if flight.payload.event == .end { isGone = true }
        // A dead answer for a replaced token says nothing about the new one.
        case .deadToken: if isServed, !isHeld { (isGone, isRemoved) = (true, true) }
        case .refused: if isLast { isGone = true }
        case .throttled, .serviceError, .notProcessed, .uncertain: break
        }
    }
}
