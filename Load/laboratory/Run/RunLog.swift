import Fanfare
import FanfareDecisions
import FanfareLog
import FanfareModel
import Foundation

/// Log, in a temporary folder of its own, of what a run's engine decides, so that another engine goes on after it. An entry is durable before
/// it is decided, as in an engine with a store; unlike there, the core's thread waits for the disk. Confined to that thread.
final class RunLog {
    private let folder: String
    private var log: LMDBLog

    init() throws {
        folder = NSTemporaryDirectory() + "fanfare-load-\(UUID().uuidString)"
        log = try LMDBLog(folder: folder)
    }

    deinit {
        log.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Makes events durable, with one sync.
    func append(_ events: [FeedEvent], at now: FeedTime) throws {
        try log.append(events.map { LogEntry(now: now, .event($0, wall: nil)) })
    }

    /// Makes durable that time has passed, before the timers fire that are due.
    func appendTick(at now: FeedTime) throws { try log.append([LogEntry(now: now, .tick)]) }

    /// Opens the folder again, as another process does.
    func reopen() throws {
        log.close()
        log = try LMDBLog(folder: folder)
    }

    /// Lets a new core decide again what the log has. Its shards get what each topic shows now.
    func recall(into core: EngineCore) throws { try core.recall(log, under: .builtIn) }
}
