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

    /// What an activity has come to so far.
    struct Failure: Equatable {
        /// The one of its first failure, named for the life of the pool.
        let connection: UInt64
        /// All of it were answers that were not believed, where the others count as they come.
        fileprivate(set) var isDisbelief: Bool
        fileprivate(set) var isOnTwo = false

        init(connection: UInt64, isDisbelief: Bool) {
            self.connection = connection
            self.isDisbelief = isDisbelief
        }
    }

    private var failures: [ActivitySlot: Failure] = [:]

    var isEmpty: Bool { failures.isEmpty }
    /// Activities.
    var count: Int { failures.count }

    /// - Parameter isDisbelief: an answer that ends what the activity gets, and is not believed. That another connection has failed
    ///   otherwise says nothing about it.
    mutating func fail(_ slot: ActivitySlot, on connection: UInt64, isDisbelief: Bool = false) -> Evidence {
        guard let before = failures[slot], before.isDisbelief || !isDisbelief else {
            failures[slot] = Failure(connection: connection, isDisbelief: isDisbelief)
            return .service
        }
        if !before.isOnTwo, before.connection == connection { return .connection }
        failures[slot]?.isOnTwo = true
        failures[slot]?.isDisbelief = isDisbelief
        return .activity
    }

    /// An answer that is about the token, or none about anything bad. A slot that another activity has taken over is cleared alike.
    ///
    /// - Returns: its failure, where that was on one connection.
    @discardableResult
    mutating func clear(_ slot: ActivitySlot) -> Failure? {
        guard let failure = failures.removeValue(forKey: slot), !failure.isOnTwo else { return nil }
        return failure
    }
}
