package import FanfareLoop

/// Entries between a loop and the disk. A `CommitQueue` gives entries back when they are durable, in order, and its owner decides only entries that
/// it has got back: so no push leaves before its entry is durable. Confined to the loop's thread.
package final class CommitQueue {
    private let log: any Log
    private let writer: LogWriter
    private let reports = Locked<[String]>([])
    private let wakeup: Wakeup
    private let isDurable = Locked(false)
    /// Entries that are being made durable, in order; empty while there are none.
    private var pending: [LogEntry] = []
    /// Is `true` while entries are being made durable.
    package private(set) var isCommitting = false
    /// Number of entries that are being made durable.
    package var waitingCount: Int { pending.count }
    /// Figures of the log, for any thread.
    package var meter: CommitMeter { writer.meter }
    /// Called on the loop with entries that have become durable, in order, and the position of the first one.
    package var onDurable: ([LogEntry], LogPosition) -> Void = { _, _ in }
    /// Called on the loop with lines for operators.
    package var onReport: (String) -> Void = { _ in }

    /// - Parameter log: a log without another user while entries are being made durable.
    package init(_ log: any Log, loop: Loop) throws(LoopError) {
        self.log = log
        var wake: () -> Void = {}
        wakeup = try Wakeup(loop: loop) { wake() }
        let signal = wakeup.signal
        do throws(LoopError) {
            writer = try LogWriter(log) { [reports] line in
                reports.withLock { $0.append(line) }
                signal.signal()
            }
        } catch {
            wakeup.close()
            throw error
        }
        wake = { [unowned self] in drainResults() }
    }

    /// Makes entries durable; `onDurable` follows. Nothing else may be appended before that.
    package func append(_ entries: [LogEntry]) {
        guard !entries.isEmpty else { return }
        precondition(!isCommitting, "entries are being made durable")
        pending = entries
        isCommitting = true
        let signal = wakeup.signal
        writer.append(entries) { [isDurable] in
            isDurable.withLock { $0 = true }
            signal.signal()
        }
    }

    /// Removes entries up to that position, with later appends.
    package func trim(through position: LogPosition) { writer.trim(through: position) }

    /// Ends the writing thread and waits for it, because a disk may hang. Entries that are not durable yet are dropped.
    package func close(within timeout: Duration = .seconds(5)) {
        writer.close()
        writer.join(within: timeout)
        pending = []
        isCommitting = false
        drainResults()
        wakeup.close()
    }

    private func drainResults() {
        let lines = reports.withLock { lines in
            defer { lines = [] }
            return lines
        }
        for line in lines { onReport(line) }
        let isDurable = isDurable.withLock { flag in
            defer { flag = false }
            return flag
        }
        guard isDurable, isCommitting else { return }
        let entries = pending
        pending = []
        isCommitting = false
        // The writer rests until the next append, so the log's end may be read.
        onDurable(entries, log.end + 1 - LogPosition(entries.count))
    }
}
