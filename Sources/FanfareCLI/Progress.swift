import Dispatch
import FanfareLoop
import FanfareModel

/// Lets one thread at a time wait for the progress of another thread. Progress made while no thread waits is not remembered.
final class Progress: Sendable {
    private let isAwaited = Locked(false)
    private let signal = DispatchSemaphore(value: 0)

    /// Reports progress. To be called after the state that `wait` checks has changed.
    func made() { if stopWaiting() { signal.signal() } }

    /// - Parameters:
    ///   - patience: longest time without progress; `nil` means no limit.
    ///   - wake: called before each wait.
    /// - Returns: `true` once `isDone` is; `false` after `patience` without progress.
    func wait(_ patience: Duration?, until isDone: () -> Bool, wake: () -> Void) -> Bool {
        while true {
            // Set before the check, so that progress made after the check is signalled.
            isAwaited.withLock { $0 = true }
            guard !isDone() else {
                withdraw()
                return true
            }
            wake()
            let limit = patience.map { DispatchTime.now() + .milliseconds(Int($0.milliseconds)) } ?? .distantFuture
            guard signal.wait(timeout: limit) == .timedOut else { continue }
            withdraw()
            return isDone()
        }
    }

    /// Takes back the announcement. A signal sent in the meantime is consumed here, so that it does not end the next wait early.
    private func withdraw() { if !stopWaiting() { signal.wait() } }

    /// - Returns: `true` if a thread was waiting.
    private func stopWaiting() -> Bool {
        isAwaited.withLock { isAwaited in
            defer { isAwaited = false }
            return isAwaited
        }
    }
}
