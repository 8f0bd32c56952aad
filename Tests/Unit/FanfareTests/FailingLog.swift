import FanfareLog
import FanfareLoop
import FanfareModel

/// Log that takes nothing while it is told so, like a full disk, or that does not return.
///
/// `Sendable` is unchecked: the memory is the engine's own, one thread at a time.
final class FailingLog: Log, @unchecked Sendable {
    let memory = MemoryLog()
    let fails = Locked(false)
    var end: LogPosition { memory.end }
    var start: LogPosition { memory.start }
    var checkpoints: any CheckpointStore { memory.checkpoints }
    func trim(through position: LogPosition) { memory.trim(through: position) }
    func checksum(at position: LogPosition) -> UInt32? { memory.checksum(at: position) }

    func append(_ entries: [LogEntry]) throws(LogError) {
        if fails.withLock({ $0 }) { throw LogError("the disk is full") }
        memory.append(entries)
    }

    func read(
        from position: LogPosition, _ body: (LogPosition, LogEntry) throws(LogError) -> Bool
    ) throws(LogError) { try memory.read(from: position, body) }
}
