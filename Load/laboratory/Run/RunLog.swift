import Fanfare
import FanfareDecisions
import FanfareLog
import FanfareModel
import FanfareRules
import Foundation

/// Log, in a temporary folder of its own, of what a run's engine decides, so that another engine goes on after it. An entry is durable before
/// it is decided, as in an engine with a store; unlike there, the core's thread waits for the disk. Confined to that thread.
final class RunLog {
    private let folder: String
    private let rules = Rules.builtIn
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

    /// Lets a new core decide again what the log has, and nothing of it is told.
    func recall(into core: EngineCore) throws {
        let logged = LogRules(text: rules.toml, decisionVersion: DecisionCore.version)
        try log.recall(
            under: logged,
            adopt: { (position, text, now) throws(LogError) in
                try core.adopt(text, at: position, now: now, present: (logged.text, rules))
            },
            { _, entry in core.apply(entry) })
    }
}
