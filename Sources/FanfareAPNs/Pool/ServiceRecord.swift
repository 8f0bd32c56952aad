import FanfareModel

/// Record of the answers on all connections, which shows whether the service works, whether a failure is evidence against it, and how much may be
/// pulled meanwhile.
struct ServiceRecord {
    /// An answer that every push would get, because of a wrong configuration or from a server that is not APNs.
    struct CommonFailure: Equatable {
        let evidence: FailureEvidence
        /// `true` if the activity had not failed before, or no push is answered well.
        let isEvidence: Bool
        /// `true` if the failure concerns all activities, as far as is known.
        let isEverybodys: Bool
    }

    private(set) var gate = PullGate()
    private var suspects = Suspects()
    private var throttling = Throttling()
    var health = PoolHealth()

    /// `true` while pushes are accepted, as far as is known, and the gate is open.
    var isWell: Bool { gate.isOpen && health.trouble == nil }

    // MARK: The gate

    mutating func pass(to now: MonotonicTime) { gate.pass(to: now) }

    /// Returns the number of further pushes that may be sent now.
    mutating func room(at now: MonotonicTime) -> Int { gate.room(at: now) }

    mutating func noteSent(_ count: Int, at now: MonotonicTime) { gate.sent(count, at: now) }

    /// Records that a push is in flight no more, whatever came of it.
    mutating func ended(_ request: SentRequest) { gate.ended(sentAt: request.sentAt) }

    /// Closes the gate until a person may have acted.
    mutating func shut(at now: MonotonicTime) { gate.shut(at: now) }

    /// Permits one push at once, because the cause of the closing may have been repaired.
    mutating func tryNow(at now: MonotonicTime) { gate.tryNow(at: now) }

    /// Forgets the evidence about the former key.
    mutating func changeKey() { gate.changeKey() }

    // MARK: Answers

    /// Records that the service works and accepts our JWT.
    ///
    /// - Returns: the activity's earlier failure, if it was on one connection only.
    mutating func answered(_ request: SentRequest) -> Suspects.Failure? {
        gate.answered(sentAt: request.sentAt)
        let failure = suspects.isEmpty ? nil : suspects.clear(request.slot)
        health.answered()
        return failure
    }

    /// Records an answer 429.
    ///
    /// - Parameter answered: answers of any kind so far, without this one.
    /// - Returns: `true` if operators need a report that most tokens are throttled.
    mutating func noteThrottled(answered: UInt64, at now: MonotonicTime) -> Bool {
        throttling.note(answered: answered, at: now)
    }

    /// Returns `true` while nothing but failures arrives. A single activity that fails permanently, while no other is due,
    /// is no evidence.
    private func servesNobody(at now: MonotonicTime) -> Bool { suspects.count > 1 && gate.isDrought(at: now) }

    /// Records a failed push and returns its evidence.
    ///
    /// - Parameter connection: serial of the connection.
    mutating func fail(_ request: SentRequest, on connection: UInt64) -> FailureEvidence {
        suspects.fail(request.slot, on: connection)
    }

    /// Records a push that was reset, by the peer or by us after a timeout.
    mutating func failReset(
        _ request: SentRequest, on connection: UInt64, isOverdue: Bool, at now: MonotonicTime
    ) -> FailureEvidence {
        let evidence = suspects.fail(request.slot, on: connection)
        // While no push is answered well, the remaining activities may all have met two broken connections, and this may be the third.
        return evidence == .activity && isOverdue && servesNobody(at: now) ? .connection : evidence
    }

    /// Records an answer that would be the same for every push.
    mutating func failAlike(
        _ request: SentRequest, on connection: UInt64, at now: MonotonicTime
    ) -> CommonFailure {
        let evidence = suspects.fail(request.slot, on: connection)
        let isEvidence = evidence == .service || servesNobody(at: now)
        return CommonFailure(
            evidence: evidence, isEvidence: isEvidence, isEverybodys: isEvidence || !gate.hasWorked)
    }

    /// Records a final answer that is not believed.
    ///
    /// - Returns: `true` if another connection has answered the same for the activity.
    mutating func isConfirmed(_ request: SentRequest, on connection: UInt64) -> Bool {
        suspects.fail(request.slot, on: connection, isDisbelief: true) == .activity
    }

    /// Clears an activity whose push was refused for good.
    mutating func clear(_ request: SentRequest) { suspects.clear(request.slot) }

    // MARK: Trouble

    /// Records a failed push for which the service may be responsible.
    ///
    /// - Returns: `true` if that is a trouble of the service.
    mutating func noteTrouble(
        _ evidence: FailureEvidence, of request: SentRequest, at now: MonotonicTime,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        let hasClosed =
            gate.trouble(isEvidence: evidence == .service, sentAt: request.sentAt, at: now, using: &random) != nil
        return hasClosed && evidence == .service || servesNobody(at: now)
    }

    /// Records an answer that says that we are misconfigured.
    ///
    /// - Parameters:
    ///   - connection: serial of the connection.
    ///   - connections: number of open connections.
    /// - Returns: `true` if the fault stops all pushes.
    mutating func fault(
        of request: SentRequest, isEvidence: Bool, on connection: UInt64, of connections: Int,
        at now: MonotonicTime, using random: inout some RandomNumberGenerator
    ) -> Bool {
        gate.fault(
            isEvidence: isEvidence, on: connection, of: connections, sentAt: request.sentAt, at: now, using: &random)
    }

    // MARK: For tests

    /// Describes a contradiction in the gate; `nil` if there is none.
    func violation() -> String? { gate.violation() }
}
