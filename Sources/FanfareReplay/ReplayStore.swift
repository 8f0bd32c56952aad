import Fanfare
import FanfareFeeds
package import FanfareLog
import FanfareLoop
import FanfareModel

/// Store of a replay: a folder with the log of all decided items.
package struct StoreOptions: Sendable {
    package var folder: String
    /// The replay's rules as a rules file (`Rules.toml`). In a folder that was written under other rules they hold from its end on.
    package var rules: String
    /// Number of entries between two checkpoints of a live feed's log, at least.
    package var checkpointInterval = Checkpointer.defaultInterval

    package init(folder: String, rules: String) {
        self.folder = folder
        self.rules = rules
    }
}

/// Makes a replay's items durable before they are decided, and gives back the items of earlier runs. Confined to the replay's loop.
final class ReplayStore {
    private let log: any Log
    private let isLive: Bool
    /// Items that are being made durable. The replay takes no others during that.
    let commits: CommitQueue
    /// Checkpoints of a live feed's log, once it has been read; `nil` for files, whose items are compared with the log from the first one on.
    private(set) var checkpoints: (queue: CheckpointQueue, writer: Checkpointer)?
    private let loop: Loop
    /// Number of the last item taken from a recorded feed, from 1.
    private var item: UInt64 = 0
    fileprivate(set) var recalled = 0

    /// - Parameter log: a log that this object alone uses from here on.
    init(_ log: any Log, isLive: Bool, loop: Loop) throws {
        self.log = log
        self.isLive = isLive
        self.loop = loop
        commits = try CommitQueue(log, loop: loop)
    }

    // MARK: - Recall

    private static let notOfFiles = LogError(
        "the store was written from standard input or by a program; give the replay of files a new folder")

    /// Reads the items of earlier runs, before anything is appended, and moves the source past them.
    func recall(from source: inout any ReplaySource, into core: CoreRecall) throws(LogError) {
        if !isLive { try refuseCheckpoint() }
        let target = ReplayRecall(store: self, core: core, source: source)
        defer { source = target.source }
        try log.recall(under: core.logged, into: target)
    }

    /// Refuses a log with a checkpoint, for a replay of files: none has written one, and the feed's items could not be compared with the entries
    /// before it. The log may have no entry after the checkpoint.
    private func refuseCheckpoint() throws(LogError) {
        // The recall reports the checkpoints that it skips.
        if try log.newestCheckpoint(report: { _ in }).head != nil { throw ReplayStore.notOfFiles }
    }

    /// Begins to write checkpoints of later decisions.
    ///
    /// - Parameter report: called with lines for operators.
    func keepCheckpoints(
        of core: EngineCore, rules: LogRules, interval: LogPosition, report: @escaping (String) -> Void
    ) throws {
        let queue = try CheckpointQueue(log.checkpoints, loop: loop)
        do {
            let writer = try Checkpointer(core, log, sink: queue, rules: rules, interval: interval)
            writer.onReport = report
            writer.onTrim = { [commits] in commits.trim(through: $0) }
            // The run before may have ended before it heard of its last checkpoint.
            try writer.trimBehindOlder(log)
            queue.onEnd = { writer.end($0) }
            checkpoints = (queue, writer)
        } catch {
            queue.close()
            throw error
        }
    }

    /// Counts of the log. A replay changes no card and makes no claims.
    var counts: StoreCounts { StoreCounts(log: commits.meter, entriesWaiting: commits.waitingCount) }

    func close() {
        checkpoints?.queue.close()
        commits.close()
    }

    /// Recall that follows the feed.
    private final class ReplayRecall: RecallTarget {
        private unowned let store: ReplayStore
        private let core: CoreRecall
        var source: any ReplaySource

        init(store: ReplayStore, core: CoreRecall, source: any ReplaySource) {
            (self.store, self.core, self.source) = (store, core, source)
        }

        func adopt(_ rules: LogRules, at position: LogPosition, now: FeedTime) throws(LogError) {
            try core.adopt(rules, at: position, now: now)
        }
        func restore(_ row: [UInt8]) throws(SerialError) { try core.restore(row) }
        func endRestoring() throws(SerialError) { try core.endRestoring() }
        func report(_ line: String) { core.report(line) }
        func decide(_ entry: LogEntry, at position: LogPosition) throws(LogError) {
            try store.follow(entry, at: position, in: &source)
            store.recalled += 1
            core.decide(entry, at: position)
        }
    }

    /// Moves the source past an entry's item, which must be the item that the log has.
    fileprivate func follow(
        _ entry: LogEntry, at position: LogPosition, in source: inout any ReplaySource
    ) throws(LogError) {
        guard entry.item > 0 else {
            guard !isLive, entry.isOfFeed else { return }
            throw ReplayStore.notOfFiles
        }
        while item < entry.item, let (_, next) = source.peek() {
            source.advance()
            item += 1
            guard item == entry.item else { continue }
            if entry.skippedAt != nil { return }
            switch (next, entry.body) {
            case (.event(let event), .event(let logged, _)) where event == logged: return
            case (.rejected(let rejection), .rejection(let logged)) where rejection == logged: return
            default: break
            }
            break
        }
        throw LogError(
            "item \(entry.item) of the feed is not the one that the store has as entry \(position); give the feed that the "
                + "store was written from, or a new folder")
    }

    // MARK: - Appending

    /// Returns the entry of an item that has just been taken from the source; `nil` for a notice, which changes nothing.
    func entry(of next: FeedItem, now: FeedTime, wall: FeedTime?) -> LogEntry? {
        item += 1
        let item = isLive ? 0 : item
        return switch next {
        case .event(let event): LogEntry(now: now, item: item, .event(event, wall: wall))
        case .rejected(let rejection): LogEntry(now: now, item: item, .rejection(rejection))
        case .noticed: nil
        }
    }
}

extension LogEntry {
    /// Is `true` for an entry that an item of a feed made.
    fileprivate var isOfFeed: Bool {
        switch body {
        case .event, .rejection: true
        case .rules, .tick, .feedEnd: false
        }
    }
}
