package import FanfareLog

/// Answer to a caller that has given a key.
package enum KeyedAnswer: Sendable {
    /// The call was taken, and its entry is durable; `nil` if the store does not keep its change.
    case taken(LogPosition?)
    case repeated(KnownKeys.Call)
    /// The first call with the key had another content.
    case differs(KnownKeys.Call)
    /// Too many keys came while the repeated call waited, and that of the first call was dropped: nobody knows what became of the first call.
    case dropped
    /// The engine stops before the entry is known to be durable.
    case stopped
}

/// Acknowledgement of a call with a key.
package typealias KeyedAcknowledgement = @Sendable (KeyedAnswer) -> Void
