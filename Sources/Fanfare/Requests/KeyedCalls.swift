import FanfareModel

/// Calls with idempotency keys: the core carries out one call of a key, and the others get its place. Confined to the core's thread.
struct KeyedCalls {
    private let core: EngineCore
    private let reports: CoreReports

    init(_ core: EngineCore, _ reports: CoreReports) { (self.core, self.reports) = (core, reports) }

    /// Finds a call's key. A call whose key is that of a call with another content is answered, and reported if nobody waits for the answer.
    ///
    /// - Parameters:
    ///   - position: place of the call's receipt.
    ///   - isDecided: `false` if the call gets an entry.
    func find(
        _ key: CallKey, _ answer: KeyedAcknowledgement?, at now: FeedTime, position: UInt64, isDecided: Bool
    ) -> KnownKeys.Finding {
        let dropped = core.keys.dropped
        let finding = core.keys.take(key, at: now, position: position, isDecided: isDecided)
        if core.keys.dropped > dropped {
            reports.report(
                "more than \(KnownKeys.callsMax) calls with idempotency keys came within 24 hours, and the oldest keys are forgotten: a call "
                    + "that repeats one of them is carried out again")
        }
        guard case .differs(let call) = finding else { return finding }
        if let answer {
            answer(.differs(call))
        } else {
            reports.report(
                "a call has the idempotency key of another one with another content, so it is not carried out",
                with: ": key \(String(reflecting: key.key.description))")
        }
        return finding
    }

    /// Returns the first call for whose entry a repeated call waits once more when its turn has come; `nil` if it does not wait any longer.
    func awaited(_ call: KnownKeys.Call) -> KnownKeys.Call? { core.keys.awaited(call) }

    /// Answers a repeated call, after the entry of the first call.
    ///
    /// - Parameter isStopping: `true` once a stop is requested, which may give the entry of the first call up.
    func answer(repeated call: KnownKeys.Call, _ answer: KeyedAcknowledgement?, isStopping: Bool) {
        let first = core.keys.endWait(for: call)
        answer?(first.isDecided ? .repeated(first) : isStopping ? .stopped : .dropped)
    }
}
