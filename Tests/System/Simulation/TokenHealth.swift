import FanfareFanOut
import FanfareModel

/// The trouble of a phone's token: the oracle of waits.
struct TokenHealth {
    /// Fault of its token.
    var sickness: Sickness?
    /// Time of the last trouble of a push to it.
    private(set) var troubledAt: MonotonicTime?
    /// Time until which its own trouble delays it, at least.
    private(set) var waitsUntil = MonotonicTime.always
    private(set) var isThrottled = false
    /// Is `true` if its token was answered as dead while the guard was shut.
    var isHeld = false
    /// Is `true` if it got a new token while the guard was shut.
    var wasHeld = false

    /// Forgets the trouble of a token that was replaced.
    mutating func recover() { (isHeld, waitsUntil, troubledAt, sickness) = (false, .always, nil, nil) }

    mutating func sent() { isThrottled = false }

    /// - Parameter isServed: `true` if the push went to the token that the shard has.
    mutating func answered(_ outcome: DeliveryOutcome, isServed: Bool, isHeld: Bool, at now: MonotonicTime) {
        self.isHeld = isHeld
        if outcome != .accepted, isServed { troubledAt = now }
        switch outcome {
        case .throttled, .serviceError:
            isThrottled = true
            if isServed { waitsUntil = now + .seconds(1) }
        case .notProcessed: isThrottled = false
        case .deadToken: if !isServed || isHeld { isThrottled = isHeld }
        case .accepted, .uncertain, .refused: break
        }
    }
}
