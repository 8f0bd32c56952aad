import FanfareCore

/// The activities whose last push came to nothing, although nothing was wrong with it: answered 5xx, reset, or refused for what
/// every push should have been refused for.
///
/// One failure may be the service's fault, the connection's or the token's. Whoever fails again, and on another connection, has
/// shown that it is the token's: then the failure says nothing about the service any more. So a thousand tokens that fail for
/// good are a thousand witnesses once, and none later. Bounded by the activities there are.
struct Suspects {
    /// What a failure is evidence of.
    enum Evidence: Equatable {
        /// The service, or the connection: this activity has not failed before.
        case service
        /// The connection: nobody knows of this activity on another one.
        case connection
        /// The activity alone.
        case activity
    }

    /// The connection that the only failure so far was on; `nil` for who has failed on two.
    private var failedOn: [ActivitySlot: UInt64?] = [:]

    var isEmpty: Bool { failedOn.isEmpty }
    /// Activities.
    var count: Int { failedOn.count }

    /// - Parameter connection: names it for the life of the pool.
    mutating func fail(_ slot: ActivitySlot, on connection: UInt64) -> Evidence {
        guard let before = failedOn[slot] else {
            failedOn[slot] = .some(connection)
            return .service
        }
        if before == connection { return .connection }
        failedOn[slot] = .some(nil)
        return .activity
    }

    /// An answer that is about the token, or none about anything bad. A slot that another activity has taken over is cleared alike.
    ///
    /// - Returns: the connection that it had failed on, where that was one.
    @discardableResult
    mutating func clear(_ slot: ActivitySlot) -> UInt64? { failedOn.removeValue(forKey: slot) ?? nil }
}
