import Dispatch
import FanfareLoop
import FanfareModel

/// What one thread makes and another one may wait for, one at a time. What is made while nobody waits is told to nobody later.
final class Progress: Sendable {
    private let isAwaited = Locked(false)
    private let signal = DispatchSemaphore(value: 0)

    /// After what `wait` looks at has changed.
    func made() { if stopWaiting() { signal.signal() } }

    /// - Parameters:
    ///   - patience: gives up when nothing was made for so long; `nil`: never.
    ///   - wake: called each time before it waits.
    /// - Returns: whether it is done.
    func wait(_ patience: Duration?, until isDone: () -> Bool, wake: () -> Void) -> Bool {
        while true {
            // Before it looks: what is made after that is told.
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

    /// What is told at this moment must not be left for whoever waits next.
    private func withdraw() { if !stopWaiting() { signal.wait() } }

    /// - Returns: whether somebody waited.
    private func stopWaiting() -> Bool {
        isAwaited.withLock { isAwaited in
            defer { isAwaited = false }
            return isAwaited
        }
    }
}
