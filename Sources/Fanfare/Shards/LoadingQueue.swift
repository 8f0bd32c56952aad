import Dispatch
package import FanfareFanOut
import FanfareLoop

/// Activities on their way from the thread that reads them to their shard. The reader blocks while the shard is behind. A shard whose loop does not
/// run yet blocks while the queue is empty (`take`); one that serves already does not (`next`).
package final class LoadingQueue: Sendable {
    /// The engine cannot be created; another error has the reason.
    struct Abandoned: Error {}

    private struct State {
        var batches: [[ShardCommand]] = []
        var isAbandoned = false
        var isClosed = false
        var onFilled: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let filled = DispatchSemaphore(value: 0)
    /// The semaphore begins at zero and is raised in `init`, because Dispatch traps if a semaphore is released below its initial value.
    private let room = DispatchSemaphore(value: 0)

    /// Activities per batch: some 60 KB, enough to be worth waking a thread.
    package static let batchMax = 256
    package static let batchesMax = 16

    /// - Parameter batchesMax: batches that wait for the shard at most; another number is for simulations.
    package init(batchesMax: Int = LoadingQueue.batchesMax) { for _ in 0..<batchesMax { room.signal() } }

    /// Sets the closure that is called with each batch, and at their end, for a shard that does not block.
    package func wake(_ onFilled: @escaping @Sendable () -> Void) { state.withLock { $0.onFilled = onFilled } }

    /// Takes a batch out of `batch`, and blocks until there is room. The shard alone has it then.
    ///
    /// - Returns: `false` if the queue is closed and the batch discarded.
    @discardableResult
    package func put(_ batch: inout [ShardCommand]) -> Bool {
        room.wait()
        let isTaken = state.withLock { state in
            guard !state.isClosed else { return false }
            state.batches.append([])
            swap(&state.batches[state.batches.count - 1], &batch)
            return true
        }
        if isTaken { signalFilled() } else { room.signal() }
        return isTaken
    }

    /// Marks the end of the batches.
    package func finish() { signalFilled() }

    private func signalFilled() {
        filled.signal()
        state.withLock(\.onFilled)?()
    }

    /// Marks the end of the batches and discards the waiting ones.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.batches = []
        }
        filled.signal()
    }

    /// Batches that the shard has not taken yet.
    var batchCount: Int { state.withLock(\.batches.count) }
    var isAbandoned: Bool { state.withLock(\.isAbandoned) }
    /// Is `true` if the shard takes no more.
    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Waits for the next batch.
    ///
    /// - Returns: the batch; `nil` at the end.
    func take() -> [ShardCommand]? {
        filled.wait()
        return removeFirst()
    }

    package enum Next {
        case batch([ShardCommand])
        /// The reader has not read on yet.
        case nothing
        case end
    }

    /// Takes the next batch without waiting for it.
    package func next() -> Next {
        guard filled.wait(timeout: .now()) == .success else { return .nothing }
        return removeFirst().map(Next.batch) ?? .end
    }

    private func removeFirst() -> [ShardCommand]? {
        let batch = state.withLock { $0.batches.isEmpty ? nil : $0.batches.removeFirst() }
        if batch != nil { room.signal() }
        return batch
    }

    /// Closes the queue, so that the reader never blocks again. Called by the shard when it takes no more.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.batches = []
        }
        room.signal()
    }
}
