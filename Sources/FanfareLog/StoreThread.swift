internal import Dispatch
internal import FanfareLoop
internal import FanfareModel

/// Thread of its own on which the calls of a part of a store block, so that no loop waits for a disk. Its owner wakes it and ends it.
final class StoreThread: Sendable {
    private let work = DispatchSemaphore(value: 0)
    private let closing = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    private static let retryWait = DispatchTimeInterval.seconds(1)

    /// - Parameter body: runs on the thread until the owner has closed it.
    func start(name: String, _ body: @escaping @Sendable () -> Void) throws(LoopError) {
        try DetachedThread.run(name: name) { [ended] in
            body()
            ended.signal()
        }
    }

    /// Ends a `waitForWork`, the present one or the next.
    func wake() { work.signal() }

    /// Ends the waits of the thread, once. The owner has noted before that the thread is to end.
    func close() {
        closing.signal()
        work.signal()
    }

    /// Blocks until the thread has ended, after `close`: its files may be opened again then.
    ///
    /// - Returns: `false` if it has not ended in that time, because the disk does not answer.
    @discardableResult func join(within timeout: Duration) -> Bool {
        let milliseconds = Int(clamping: timeout.milliseconds)
        return ended.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
    }

    // MARK: The thread

    func waitForWork() { work.wait() }

    /// Blocks until the next retry of a refused write: a full disk may be freed.
    ///
    /// - Returns: `false` if the thread is to end instead.
    func waitToRetry() -> Bool { closing.wait(timeout: .now() + StoreThread.retryWait) != .success }
}
