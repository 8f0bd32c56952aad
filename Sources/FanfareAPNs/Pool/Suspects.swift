import FanfareFanOut

/// Activities whose last push failed although nothing was wrong with it: it was answered 5xx, reset, or refused for a reason
/// for which every push should have been refused.
///
/// One failure may be the fault of the service, the connection or the token. An activity that fails again, on another connection, has shown that its
/// token is the cause: its failure no longer says anything about the service. So a thousand tokens that fail for good are evidence a thousand times,
/// and never again. The number of activities bounds the table.
struct Suspects {
    /// Failures of an activity so far.
    struct Failure: Equatable {
        /// Serial of the connection on which the activity first failed.
        let connection: UInt64
        /// `true` if every failure was a final answer that was not believed; other failures count at once.
        fileprivate(set) var isDisbelief: Bool
        fileprivate(set) var isOnTwo = false

        init(connection: UInt64, isDisbelief: Bool) {
            self.connection = connection
            self.isDisbelief = isDisbelief
        }
    }

    private var failures: [ActivitySlot: Failure] = [:]

    var isEmpty: Bool { failures.isEmpty }
    /// Number of suspected activities.
    var count: Int { failures.count }

    /// Records a failure and returns its evidence.
    ///
    /// - Parameter isDisbelief: `true` for a final answer that is not believed. Another connection's failure of another kind
    ///   says nothing about it.
    mutating func fail(_ slot: ActivitySlot, on connection: UInt64, isDisbelief: Bool = false) -> FailureEvidence {
        guard let before = failures[slot], before.isDisbelief || !isDisbelief else {
            failures[slot] = Failure(connection: connection, isDisbelief: isDisbelief)
            return .service
        }
        if !before.isOnTwo, before.connection == connection { return .connection }
        failures[slot]?.isOnTwo = true
        failures[slot]?.isDisbelief = isDisbelief
        return .activity
    }

    /// Clears an activity after a good answer, or one about its token. A slot that another activity has taken over is cleared alike.
    ///
    /// - Returns: the activity's failure, if it was on one connection only.
    @discardableResult
    mutating func clear(_ slot: ActivitySlot) -> Failure? {
        guard let failure = failures.removeValue(forKey: slot), !failure.isOnTwo else { return nil }
        return failure
    }
}
