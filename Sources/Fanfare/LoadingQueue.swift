import Dispatch
import FanfareFanOut
import FanfareLoop

/// Activities on their way from the thread that reads them to the shard that is to have them, while an engine starts and no loop
/// runs yet: so both sides block, the reader while the shard is behind, the shard while there is nothing to do.
final class LoadingQueue: Sendable {
    /// The engine cannot be made: somebody else says why.
    struct Abandoned: Error {}

    private struct State {
        var batches: [[ShardCommand]] = []
        var isAbandoned = false
        var isClosed = false
    }

    private let state = Locked(State())
    private let filled = DispatchSemaphore(value: 0)
    /// Begins at zero, because Dispatch wants a semaphore to have gone back to its beginning when it goes.
    private let room = DispatchSemaphore(value: 0)

    /// Some 60 KB a batch, and a batch is worth waking a thread for.
    static let batchMax = 256
    static let batchesMax = 16

    init() { for _ in 0..<LoadingQueue.batchesMax { room.signal() } }

    /// Waits for room; what a shard no longer takes is dropped.
    func put(_ batch: [ShardCommand]) {
        room.wait()
        let isTaken = state.withLock { state in
            if !state.isClosed { state.batches.append(batch) }
            return !state.isClosed
        }
        if isTaken { filled.signal() } else { room.signal() }
    }

    /// Nothing more comes.
    func finish() { filled.signal() }

    /// Nothing more comes, and what has come is of no use.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.batches = []
        }
        filled.signal()
    }

    /// Batches that the shard has still to take.
    var waiting: Int { state.withLock(\.batches.count) }
    var isAbandoned: Bool { state.withLock(\.isAbandoned) }

    /// Waits for the next batch.
    ///
    /// - Returns: `nil` at the end.
    func take() -> [ShardCommand]? {
        filled.wait()
        let batch = state.withLock { $0.batches.isEmpty ? nil : $0.batches.removeFirst() }
        if batch != nil { room.signal() }
        return batch
    }

    /// By the shard, when it takes no more: nobody waits for it.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.batches = []
        }
        room.signal()
    }
}
