import Dispatch
import FanfareFanOut
import FanfareLoop

/// Activities on their way from the thread that reads them to their shard, while an engine starts and no loop runs yet. Therefore both sides
/// block: the reader while the shard is behind, the shard while the queue is empty.
final class LoadingQueue: Sendable {
    /// The engine cannot be created; another error has the reason.
    struct Abandoned: Error {}

    private struct State {
        var batches: [[ShardCommand]] = []
        var isAbandoned = false
        var isClosed = false
    }

    private let state = Locked(State())
    private let filled = DispatchSemaphore(value: 0)
    /// Begins at zero and is raised in `init`, because Dispatch traps if a semaphore is released below its initial value.
    private let room = DispatchSemaphore(value: 0)

    /// Activities per batch: some 60 KB, enough to be worth waking a thread.
    static let batchMax = 256
    static let batchesMax = 16

    init() { for _ in 0..<LoadingQueue.batchesMax { room.signal() } }

    /// Adds a batch and blocks until there is room. A batch for a closed queue is discarded.
    func put(_ batch: [ShardCommand]) {
        room.wait()
        let isTaken = state.withLock { state in
            if !state.isClosed { state.batches.append(batch) }
            return !state.isClosed
        }
        if isTaken { filled.signal() } else { room.signal() }
    }

    /// Marks the end of the batches.
    func finish() { filled.signal() }

    /// Marks the end of the batches and discards those that wait.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.batches = []
        }
        filled.signal()
    }

    /// Batches that the shard has not taken yet.
    var waiting: Int { state.withLock(\.batches.count) }
    var isAbandoned: Bool { state.withLock(\.isAbandoned) }

    /// Waits for the next batch.
    ///
    /// - Returns: the batch; `nil` at the end.
    func take() -> [ShardCommand]? {
        filled.wait()
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
