package import FanfareLoop

/// Thread that appends to a log, so that no loop waits for a disk. Entries that come during a sync are the next batch.
///
/// The thread retries a batch each second until it is written: a full disk may be freed. No later entry overtakes it. An entry that the log refuses
/// for good, for example a too large one, is left out, and later entries follow.
package final class LogWriter: Sendable {
    private struct Waiting {
        var entries: [LogEntry]
        var then: @Sendable () -> Void
        var refused: @Sendable (LogError) -> Void
    }

    private struct State {
        var waiting: [Waiting] = []
        var isClosed = false
        /// Position up to which the log is to be trimmed; 0 if it is not.
        var trimmed: LogPosition = 0
    }

    /// State that the thread shares with the owner.
    private final class Shared: Sendable {
        let state = Locked(State())
        let thread = StoreThread()
        let meter = CommitMeter()

        func note(_ log: any Log) {
            meter.note(log.diskSize, rows: Int(log.end + 1 - log.start), newest: log.end)
        }
    }

    private let shared = Shared()
    /// Figures of the log, for any thread.
    package var meter: CommitMeter { shared.meter }

    /// - Parameters:
    ///   - log: used by the writer's thread alone from here on.
    ///   - report: called on the writer's thread with a line for operators when writing fails, and when it works again.
    package init(_ log: any Log, report: @escaping @Sendable (String) -> Void) throws(LoopError) {
        shared.note(log)
        try shared.thread.start(name: "log") { [shared] in LogWriter.run(log, shared, report) }
    }

    deinit { close() }

    /// Appends entries after all earlier ones.
    ///
    /// - Parameters:
    ///   - then: called on the writer's thread once the entries are durable; never if the writer is closed before.
    ///   - refused: called instead if the log refuses one of the entries for good. The entries before it are durable.
    package func append(
        _ entries: [LogEntry], then: @escaping @Sendable () -> Void,
        refused: @escaping @Sendable (LogError) -> Void = { _ in }
    ) {
        shared.state.withLock {
            $0.waiting.append(Waiting(entries: entries, then: then, refused: refused))
        }
        shared.thread.wake()
    }

    /// Removes entries up to that position, with later appends.
    package func trim(through position: LogPosition) { shared.state.withLock { $0.trimmed = position } }

    /// Ends the thread after its present batch. Waiting entries are dropped.
    package func close() {
        let isFirst = shared.state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isFirst { shared.thread.close() }
    }

    /// Blocks until the thread has ended, after `close`.
    ///
    /// - Returns: `false` if it has not ended in that time, because the disk does not answer.
    @discardableResult package func join(within timeout: Duration) -> Bool { shared.thread.join(within: timeout) }

    private static func run(_ log: any Log, _ shared: Shared, _ report: @Sendable (String) -> Void) {
        // A caller of `join` may open the folder again.
        defer { log.close() }
        while true {
            shared.thread.waitForWork()
            let (batch, isClosed, trimmed) = shared.state.withLock { state in
                defer {
                    state.waiting.removeAll(keepingCapacity: true)
                    state.trimmed = 0
                }
                return (state.waiting, state.isClosed, state.trimmed)
            }
            if trimmed > 0 { log.trim(through: trimmed) }
            if isClosed { return }
            guard !batch.isEmpty else { continue }
            guard write(batch, to: log, shared, report) else { return }
        }
    }

    /// - Returns: `false` if the writer was closed before the entries could be written.
    private static func write(
        _ batch: [Waiting], to log: any Log, _ shared: Shared, _ report: @Sendable (String) -> Void
    ) -> Bool {
        switch append(batch.flatMap(\.entries)[...], to: log, shared, report) {
        case .closed: return false
        case .durable:
            for waiting in batch { waiting.then() }
        case .refused(let error, let count):
            // The calls whose entries are all among the first are durable; the next one has the refused entry.
            var durable = count
            guard
                let index = batch.firstIndex(where: { waiting in
                    durable -= waiting.entries.count
                    return durable < 0
                })
            else { return true }
            for waiting in batch[..<index] { waiting.then() }
            report("\(error); it is left out")
            batch[index].refused(error)
            return write(Array(batch[(index + 1)...]), to: log, shared, report)
        }
        return true
    }

    private enum AppendResult {
        case durable, closed
        /// The log refuses the entry after the first `count`, which are durable.
        case refused(LogError, count: Int)
    }

    private static func append(
        _ entries: ArraySlice<LogEntry>, to log: any Log, _ shared: Shared, _ report: @Sendable (String) -> Void
    ) -> AppendResult {
        guard !entries.isEmpty else { return .durable }
        shared.meter.begin()
        let first = log.end
        var hasFailed = false
        while true {
            let done = Int(log.end - first)
            do throws(LogError) {
                try log.append(Array(entries.dropFirst(done)))
                end(log, shared)
                if hasFailed { report("the store takes entries again") }
                return .durable
            } catch {
                if error.isFinal {
                    end(log, shared)
                    return .refused(error, count: Int(log.end - first))
                }
                shared.meter.fail(error)
                if !hasFailed {
                    report("\(error); new events wait until it takes them, and pushes of earlier ones go on")
                }
                hasFailed = true
            }
            guard shared.thread.waitToRetry() else {
                shared.meter.giveUp()
                return .closed
            }
        }
    }

    private static func end(_ log: any Log, _ shared: Shared) {
        shared.meter.end()
        shared.note(log)
    }
}
