package import FanfareLoop
import FanfareModel

/// Checkpoints on their way from a loop to the disk, on a thread of their own: neither the loop nor the log's commits wait for them. A
/// checkpoint that cannot be written is given up, and costs nothing but a longer restart. Confined to the loop's thread.
package final class CheckpointQueue {
    private enum Job: Sendable {
        case begin(CheckpointHead)
        case rows([[UInt8]], size: ByteCount)
        case finish
        case abandon
        case close
    }

    private struct State {
        var jobs: [Job] = []
        /// Size of the rows that are not written yet.
        var size = ByteCount.zero
        var ended: [Result<LogPosition, LogError>] = []
    }

    private final class Shared: Sendable {
        let state = Locked(State())
        let thread = StoreThread()
    }

    private let shared = Shared()
    private let wakeup: Wakeup
    /// Called on the loop when a checkpoint has ended: with the position up to which no restart needs entries, or the reason why it was given up.
    package var onEnd: (Result<LogPosition, LogError>) -> Void = { _ in }
    /// Called on the loop when rows have been written after `isFull`.
    package var onRoom: () -> Void = {}

    /// Size of the rows that may wait for the disk.
    private static let sizeMax = ByteCount.mebibytes(8)

    /// - Parameter store: used by the queue's thread alone from here on.
    package init(_ store: any CheckpointStore, loop: Loop) throws(LoopError) {
        var wake: () -> Void = {}
        wakeup = try Wakeup(loop: loop) { wake() }
        let signal = wakeup.signal
        do throws(LoopError) {
            try shared.thread.start(name: "checkpoint") { [shared] in
                CheckpointQueue.run(store, shared) { signal.signal() }
            }
        } catch {
            wakeup.close()
            throw error
        }
        wake = { [unowned self] in drainResults() }
    }

    /// Is `true` if no more rows are to be made for now.
    package var isFull: Bool { shared.state.withLock { $0.size > CheckpointQueue.sizeMax } }

    package func begin(_ head: CheckpointHead) { put(.begin(head)) }

    package func append(_ rows: [[UInt8]]) {
        guard !rows.isEmpty else { return }
        put(.rows(rows, size: .bytes(rows.reduce(0) { $0 + $1.count })))
    }

    /// Ends the checkpoint. `onEnd` follows.
    package func finish() { put(.finish) }
    package func abandon() { put(.abandon) }

    /// Ends the thread after its last work and waits for it, because the folder may be used again. An unfinished checkpoint is given up.
    package func close(within timeout: Duration = .seconds(5)) {
        put(.close)
        shared.thread.join(within: timeout)
        wakeup.close()
        // The closures' owners may own this queue.
        onEnd = { _ in }
        onRoom = {}
    }

    private func put(_ job: Job) {
        shared.state.withLock {
            if case .rows(_, let size) = job { $0.size += size }
            $0.jobs.append(job)
        }
        shared.thread.wake()
    }

    private func drainResults() {
        let ended = shared.state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
        for result in ended { onEnd(result) }
        onRoom()
    }

    private static func run(_ store: any CheckpointStore, _ shared: Shared, _ wake: () -> Void) {
        var isBroken = true
        defer { store.abandon() }
        while true {
            shared.thread.waitForWork()
            let jobs = shared.state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            for job in jobs {
                do throws(LogError) {
                    switch job {
                    case .close: return
                    case .begin(let head):
                        isBroken = false
                        try store.begin(head)
                    case .rows(let rows, let size):
                        defer { shared.state.withLock { $0.size -= size } }
                        if !isBroken { try store.append(rows) }
                    case .finish:
                        guard !isBroken else { break }
                        isBroken = true
                        let position = try store.finish()
                        shared.state.withLock { $0.ended.append(.success(position)) }
                    case .abandon:
                        isBroken = true
                        store.abandon()
                    }
                } catch {
                    isBroken = true
                    store.abandon()
                    shared.state.withLock { $0.ended.append(.failure(error)) }
                }
            }
            wake()
        }
    }
}
