import FanfareLoop
package import FanfareModel
import Synchronization

/// Figures of one part of a store, which the part's thread writes and any thread reads: also while the disk takes nothing, and without the core,
/// whose questions wait for the disk. A commit costs two clock reads and three locks, on the part's own thread.
package final class CommitMeter: Sendable {
    private let current = Locked(CommitFigures())
    /// Entries or claims that are not durable, as the owner's loop has noted.
    private let waitingCount = Atomic(0)

    /// The clock by which commits are measured.
    package static var now: MonotonicTime { MonotonicTime(nanoseconds: Clock.monotonicNanoseconds()) }

    package var figures: CommitFigures { current.withLock(\.self) }
    package var waiting: Int { waitingCount.load(ordering: .relaxed) }

    package init() {}

    /// Notes how many entries or claims are not durable.
    package func noteWaiting(_ count: Int) { waitingCount.store(count, ordering: .relaxed) }

    // MARK: The thread

    func begin() {
        let now = CommitMeter.now
        current.withLock { $0.begin(at: now) }
    }

    func fail(_ error: LogError) {
        let reason = "\(error)"
        current.withLock { $0.fail(reason) }
    }

    func end() {
        let now = CommitMeter.now
        current.withLock { $0.end(at: now) }
    }

    /// Notes that the thread ends without its present commit, which the disk refuses.
    func giveUp() { current.withLock { $0.giveUp() } }

    /// Notes what the part has.
    func note(_ size: DiskSize, rows: Int? = nil, newest: LogPosition = 0) {
        current.withLock { $0.note(size, rows: rows, newest: newest) }
    }
}
