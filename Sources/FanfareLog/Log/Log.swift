/// Sequence of entries that is only appended to. Its calls block; they are for a thread of its own (`LogWriter`), or for the time
/// before anything runs. Confined to one thread at a time.
package protocol Log: AnyObject, Sendable {
    /// Position of the newest entry; 0 if there is none.
    var end: LogPosition { get }
    /// Position of the oldest entry that was not removed; 1 before the first.
    var start: LogPosition { get }
    /// Checkpoints of the log. Another thread may use them, one at a time.
    var checkpoints: any CheckpointStore { get }

    /// Appends the entries, and returns when all are durable. After an error only the entries up to `end` are appended and durable.
    func append(_ entries: [LogEntry]) throws(LogError)

    /// Calls the closure with each entry from that position on, in order, until it returns `false`. Begins with `start` at the earliest.
    func read(
        from position: LogPosition, _ body: (LogPosition, LogEntry) throws(LogError) -> Bool
    ) throws(LogError)

    /// Returns the checksum of an entry's row; `nil` if there is no such entry.
    func checksum(at position: LogPosition) throws(LogError) -> UInt32?

    /// Removes the entries up to that position, now or with later appends. The newest entry stays.
    func trim(through position: LogPosition)

    /// Notes that a restart is about to decide this entry; `nil` once it has decided it.
    func noteDeciding(_ position: LogPosition?)

    /// Bytes of the log's file. Of the thread that appends.
    var diskSize: DiskSize { get }

    /// Lines for operators from the opening of the log.
    var notices: [String] { get }

    /// Lines for operators about entries up to that position that are set aside.
    func noticesOfSkipped(through position: LogPosition) -> [String]

    /// Releases the folder and other resources. Only `end` is used afterwards.
    func close()
}

extension Log {
    package func close() {}
    package var diskSize: DiskSize { DiskSize() }
    package func noteDeciding(_ position: LogPosition?) {}
    package var notices: [String] { [] }
    package func noticesOfSkipped(through position: LogPosition) -> [String] { [] }
}

/// Log in memory, as durable as the process.
///
/// `Sendable` is unchecked because `Log` confines it to one thread at a time.
package final class MemoryLog: Log, @unchecked Sendable {
    private var entries: [LogEntry] = []
    package private(set) var start: LogPosition = 1
    private let memory = MemoryCheckpoints()

    package init() {}

    package var end: LogPosition { start - 1 + LogPosition(entries.count) }
    package var checkpoints: any CheckpointStore { memory }

    package func append(_ new: [LogEntry]) { entries += new }

    package func checksum(at position: LogPosition) -> UInt32? {
        start <= position && position <= end ? entries[Int(position - start)].checksum(at: position) : nil
    }

    package func trim(through position: LogPosition) {
        guard position >= start else { return }
        let count = min(Int(position - start + 1), entries.count - 1)
        entries.removeFirst(max(0, count))
        start += LogPosition(max(0, count))
    }

    package func read(
        from position: LogPosition, _ body: (LogPosition, LogEntry) throws(LogError) -> Bool
    ) throws(LogError) {
        guard position <= end else { return }
        for index in Int(max(start, position) - start)..<entries.count {
            guard try body(start + LogPosition(index), entries[index]) else { return }
        }
    }
}
