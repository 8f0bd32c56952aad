import FanfareLoop

/// Single answer from the core to one task, which may stop waiting for it. Any thread.
final class Reply<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Value?, Never>)
        case given(Value?)
    }

    private let state = Locked(State.pending)

    /// Gives the answer; only the first call counts.
    func give(_ value: Value?) {
        let awaiting = state.withLock { state -> CheckedContinuation<Value?, Never>? in
            switch state {
            case .pending:
                state = .given(value)
                return nil
            case .awaited(let continuation):
                state = .given(value)
                return continuation
            case .given: return nil
            }
        }
        awaiting?.resume(returning: value)
    }

    /// Waits for the answer. Called once.
    ///
    /// - Returns: the answer; `nil` if the task is cancelled first.
    func value() async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let given = state.withLock { state -> Value?? in
                    if case .given(let value) = state { return .some(value) }
                    state = .awaited(continuation)
                    return .none
                }
                if let given { continuation.resume(returning: given) }
            }
        } onCancel: {
            give(nil)
        }
    }
}
