import FanfareFanOut

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

    /// The only one so far of an activity.
    struct Failure: Equatable {
        /// Names it for the life of the pool.
        let connection: UInt64
        /// An answer that was not believed, where the others count as they come.
        let isDisbelief: Bool
    }

    /// `nil` for who has failed on two connections.
    private var failures: [ActivitySlot: Failure?] = [:]

    var isEmpty: Bool { failures.isEmpty }
    /// Activities.
    var count: Int { failures.count }

    mutating func fail(_ slot: ActivitySlot, on connection: UInt64, isDisbelief: Bool = false) -> Evidence {
        guard let before = failures[slot] else {
            failures[slot] = .some(Failure(connection: connection, isDisbelief: isDisbelief))
            return .service
        }
        if before?.connection == connection { return .connection }
        failures[slot] = .some(nil)
        return .activity
    }

    /// An answer that is about the token, or none about anything bad. A slot that another activity has taken over is cleared alike.
    ///
    /// - Returns: its failure, where that was on one connection.
    @discardableResult
    mutating func clear(_ slot: ActivitySlot) -> Failure? { failures.removeValue(forKey: slot) ?? nil }
}
