import Fanfare
import FanfareDecisions
import FanfareLog
import FanfareModel
import Foundation

/// The store of a season's engine, in a folder and on the season's thread: log, checkpoints, people and claims, in virtual time.
///
/// Entries become durable in batches. A core of the store then decides them as the log has them, writes checkpoints beside that as an engine does, and
/// trims the log. Each card has a row, which goes when the shard has no card for it. Claims are answered at once, because no season has a crash, and are
/// written in batches. Completions are not kept.
final class SeasonStore {
    private let folder: String
    private let leaks: StoreLeaks
    private let log: LMDBLog
    private let rows: SeasonRows
    private let claims: SeasonClaims
    private let core: EngineCore
    private let checkpoints: CheckpointWriter
    private let checkpointer: Checkpointer
    /// Entries of the next commit.
    private var held: [LogEntry] = []
    private let batchMax: Int
    /// Number of the day, from 1.
    private var day = 1
    private var figures = StoreFigures()
    /// First line for operators; a season has nothing that operators should be told of its store.
    private var report: String?

    /// Number of checkpoints of a day, at most.
    private static let checkpointsPerDay = 8
    /// Number of entries of a commit, at most.
    private static let batchSizeMax = 4096

    /// - Parameters:
    ///   - folder: a new folder.
    ///   - rules: the rules of the season's own core.
    init(folder: String, rules: Rules, topicsPerDay: Int, leaks: StoreLeaks) throws {
        self.folder = folder
        self.leaks = leaks
        let log = try LMDBLog(folder: folder)
        guard log.end == 0 else { throw LogError("\(folder) has a store; a season needs a new folder", .entry) }
        let core = EngineCore(deciding: rules, isLive: false)
        try core.recall(log, under: rules)
        (self.log, self.core) = (log, core)
        let interval = max(64, topicsPerDay * DayPlan.steps / SeasonStore.checkpointsPerDay)
        batchMax = min(SeasonStore.batchSizeMax, interval / 4)
        rows = SeasonRows(try LMDBPeopleStore(store: folder), batchMax: batchMax, leaks: leaks.rows)
        claims = SeasonClaims(try ClaimFolder(store: folder), batchMax: batchMax, leaks: leaks.claims)
        checkpoints = CheckpointWriter(log.checkpoints)
        checkpointer = try Checkpointer(
            core, log, sink: checkpoints, rules: SeasonStore.rules(of: log), interval: LogPosition(interval))
        checkpointer.onTrim = { [unowned self] in trim(through: $0) }
        checkpointer.onReport = { [unowned self] in report = report ?? $0 }
    }

    /// Returns the rules that the first recall has given the log.
    private static func rules(of log: LMDBLog) throws -> LogRules {
        var rules: LogRules?
        try log.read(from: 1) { (_, entry) throws(LogError) in
            if case .rules(let text, let version) = entry.body {
                rules = LogRules(text: text, decisionVersion: version)
            }
            return false
        }
        guard let rules else { throw LogError("a new log does not begin with its rules", .damaged) }
        return rules
    }

    /// Number of topics that a restart would know.
    var topicCount: Int { core.topics.count }

    // MARK: Entries

    /// Takes an event that the season's own core has decided at that log time.
    func take(_ event: FeedEvent, at now: FeedTime) throws {
        held.append(LogEntry(now: now, .event(event, wall: nil)))
        if held.count >= batchMax { try commit() }
    }

    private func commit() throws {
        guard !held.isEmpty else { return }
        let first = log.end + 1
        try log.append(held)
        held.removeAll(keepingCapacity: true)
        figures.entries = max(figures.entries, Int(log.end + 1 - log.start))
        try log.read(from: first) { (_, entry) throws(LogError) in
            decide(entry)
            return true
        }
    }

    private func decide(_ entry: LogEntry) {
        core.apply(entry)
        checkpointer.noteDecided(entry)
        _ = checkpointer.run()
        guard let end = checkpoints.takeEnd() else { return }
        checkpointer.end(end)
        figures.checkpointBytes = max(figures.checkpointBytes, sizeOfCheckpoints)
    }

    private func trim(through position: LogPosition) {
        let kept = LogPosition(leaks.entries * day)
        log.trim(through: position - min(position, kept))
    }

    // MARK: Rows

    /// Takes a change of a card that the shard has taken at that log time.
    func take(_ change: PeopleEntry, at now: FeedTime) throws { try rows.take(change.taken(at: now)) }

    /// Takes a card that is over.
    ///
    /// - Parameters:
    ///   - id: bits of the activity's id.
    ///   - token: `keyedHash` of the token that it had.
    func takeRemoval(of id: UInt64, token: UInt64, at now: FeedTime) throws {
        if rows.keepsLeak() { return }
        try take(.removed(id, token: token), at: now)
    }

    // MARK: Claims

    /// Takes a request for claims that the shard has made at that log time.
    func take(_ claims: [AlertClaim], starts: [StartMark], at now: FeedTime) throws {
        try self.claims.take(claims, starts: starts, at: now)
    }

    // MARK: The morning

    /// Ends the day: everything becomes durable and is decided.
    ///
    /// - Returns: the figures of the day.
    func endDay(at now: FeedTime) throws -> StoreFigures {
        held.append(LogEntry(now: now, .tick))
        try commit()
        try rows.write()
        try claims.write(at: now)
        if let report { throw LogError(report, .system) }
        figures.rows = try rows.count()
        figures.claims = try claims.count()
        figures.fileBytes = try bytes(of: "data.mdb") + bytes(of: "people/data.mdb") + bytes(of: "claims/data.mdb")
        defer {
            figures = StoreFigures(checkpointBytes: sizeOfCheckpoints)
            rows.beginDay()
            claims.beginDay()
            day += 1
        }
        return figures
    }

    private func bytes(of name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
        return (attributes[.size] as? Int) ?? 0
    }

    private var sizeOfCheckpoints: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix("checkpoint-") }.reduce(0) { $0 + ((try? bytes(of: $1)) ?? 0) }
    }
}

/// Writes checkpoints at once, where an engine has a thread for that.
private final class CheckpointWriter: CheckpointSink {
    private let store: any CheckpointStore
    /// First fault of the checkpoint that is being written.
    private var fault: LogError?
    private var end: Result<LogPosition, LogError>?

    init(_ store: any CheckpointStore) { self.store = store }

    var isFull: Bool { false }

    func begin(_ head: CheckpointHead) {
        fault = nil
        write { (store) throws(LogError) in try store.begin(head) }
    }

    func append(_ rows: [[UInt8]]) { write { (store) throws(LogError) in try store.append(rows) } }

    func finish() {
        var position: LogPosition = 0
        write { (store) throws(LogError) in position = try store.finish() }
        if let fault { end = .failure(fault) } else { end = .success(position) }
    }

    func abandon() { store.abandon() }

    private func write(_ body: (any CheckpointStore) throws(LogError) -> Void) {
        guard fault == nil else { return }
        do throws(LogError) { try body(store) } catch { fault = error }
    }

    /// Removes and returns the end of the checkpoint that was finished last: the position up to which the log may be trimmed, or a fault.
    func takeEnd() -> Result<LogPosition, LogError>? {
        defer { end = nil }
        return end
    }
}
