package import FanfareModel
internal import Glibc

/// Log in a folder, by LMDB: each `append` is one transaction with one sync, or one for each 16 MB. A crash of the process or of the
/// machine leaves all of its entries or the first of them (spec of the store: `docs/store.md`).
///
/// One process writes to a folder at a time; others may read it. `Sendable` is unchecked because `Log` confines it to one thread at a time.
package final class LMDBLog: Log, @unchecked Sendable {
    package let folder: String
    /// `nil` after a write that failed, until the next one.
    private var environment: LMDBEnvironment?
    private let isReadOnly: Bool
    private let mapSize: ByteCount
    /// Lock of the folder; `nil` for a reader, and once closed.
    private var lock: StoreFolder?
    package private(set) var end: LogPosition
    package private(set) var start: LogPosition
    package let checkpoints: any CheckpointStore
    package private(set) var diskSize = DiskSize()
    /// Position up to which entries are to be removed.
    private var trimmed: LogPosition = 0
    /// Number of entries that are removed with an append at least: under a millisecond.
    private static let removedPerAppend: LogPosition = 2048
    private var skipped: SkippedEntries
    private var progress: RecallProgress?
    package private(set) var notices: [String] = []
    /// Number of processes in a row that end at one entry before it is set aside.
    private static let deathsMax = 2
    /// Number of entries that are set aside without an operator: more would be discarded for a fault of this release.
    private static let skippedMax = 3
    /// Size of the rows after which a transaction ends; tests make it small.
    var batchSize = RowBatch.sizeMax

    /// Address space at first; doubled whenever it is full.
    package static let mapSizeFirst = ByteCount.mebibytes(1 << 10)

    /// Opens the log of a folder.
    ///
    /// - Parameters:
    ///   - folder: created with mode 700 if it is missing, unless the log is only read.
    ///   - isReadOnly: `true` for a reader beside the process that writes.
    package init(
        folder: String, isReadOnly: Bool = false, mapSize: ByteCount = LMDBLog.mapSizeFirst
    ) throws(LogError) {
        self.folder = folder
        self.isReadOnly = isReadOnly
        self.mapSize = mapSize
        lock = isReadOnly ? nil : try StoreFolder(folder)
        skipped = try SkippedEntries(folder: folder)
        checkpoints = CheckpointFolder(folder: folder)
        do throws(LMDBEnvironment.Failure) {
            let opened = try LMDBEnvironment(folder: folder, mapSize: mapSize, isReadOnly: isReadOnly)
            environment = opened
            end = try opened.lastKey()
            start = try opened.firstKey()
            diskSize.note(in: opened)
        } catch {
            throw LogError(
                "\(folder): cannot be opened as a store: \(error.reason) (\(error.call))", error.causeOfReading)
        }
        guard let lock else { return }
        try CheckpointFolder(folder: folder).removePartial()
        try StoreFolder.syncNames(folder)
        progress = lock.makeProgress()
        try noteDeath()
    }

    deinit { close() }

    /// Closes LMDB before the lock, because one process must not open an environment twice.
    package func close() {
        environment = nil
        progress = nil
        lock = nil
    }

    package func append(_ entries: [LogEntry]) throws(LogError) {
        guard !entries.isEmpty else { return }
        var rows: [[UInt8]] = []
        var size = ByteCount.zero
        for entry in entries {
            let row = entry.bytes(at: end + 1 + LogPosition(rows.count))
            guard row.count <= LogEntry.sizeMax.bytes else {
                try append(rows)
                throw LogError(
                    "an entry of \(row.count) bytes is too large for the store, which takes \(LogEntry.sizeMax.bytes)",
                    .entry)
            }
            rows.append(row)
            size += .bytes(row.count)
            if size >= batchSize {
                try append(rows)
                rows.removeAll(keepingCapacity: true)
                size = .zero
            }
        }
        try append(rows)
    }

    /// Appends the rows in one transaction.
    private func append(_ rows: [[UInt8]]) throws(LogError) {
        guard !rows.isEmpty else { return }
        do throws(LMDBEnvironment.Failure) {
            let environment = try reopened()
            let last = try environment.lastKey()
            // A commit that reported a failure may have been written, without being durable.
            if last == end + LogPosition(rows.count) {
                try environment.sync()
            } else {
                guard last == end else {
                    throw LMDBEnvironment.Failure(call: "entry \(last) is last, not \(end)", code: EIO)
                }
                var changes = removals(beside: rows.count)
                let removed = LogPosition(changes.count)
                changes += rows.enumerated().map { .init(key: end + 1 + UInt64($0), row: $1, isLast: true) }
                try environment.write(changes)
                start += removed
                diskSize.note(changes, in: environment)
            }
        } catch {
            // LMDB refuses all further writes of an environment after some failures, so the next try opens it anew.
            environment = nil
            throw LogError("\(folder): cannot be written: \(error.reason) (\(error.call()))")
        }
        end += LogPosition(rows.count)
    }

    package func checksum(at position: LogPosition) throws(LogError) -> UInt32? {
        try batch(from: position, most: 1).rows.first.flatMap {
            $0.position == position ? $0.bytes.contentChecksum : nil
        }
    }

    package func trim(through position: LogPosition) { trimmed = max(trimmed, position) }

    /// Removes the trimmed entries at once, for a folder without appends.
    private func removeTrimmed() throws(LogError) {
        do throws(LMDBEnvironment.Failure) {
            while true {
                let changes = removals(beside: 0)
                guard !changes.isEmpty else { return }
                try reopened().write(changes)
                start += LogPosition(changes.count)
            }
        } catch {
            environment = nil
            throw LogError("\(folder): cannot be written: \(error.reason) (\(error.call()))")
        }
    }

    /// Removals for a transaction: more than its appends, so that the log shrinks.
    private func removals(beside count: Int) -> [LMDBEnvironment.Change] {
        let through = min(trimmed, end > 0 ? end - 1 : 0)
        guard start <= through else { return [] }
        let most = max(LMDBLog.removedPerAppend, 2 * LogPosition(count))
        return (start...min(through, start + most - 1)).map { .init(key: $0, row: nil) }
    }

    private func reopened() throws(LMDBEnvironment.Failure) -> LMDBEnvironment {
        if let environment { return environment }
        let opened = try LMDBEnvironment(
            folder: folder, mapSize: mapSize, isReadOnly: isReadOnly, isOpenedAgain: true)
        start = try opened.firstKey()
        environment = opened
        diskSize.note(in: opened)
        return opened
    }

    package func read(
        from position: LogPosition, _ body: (LogPosition, LogEntry) throws(LogError) -> Bool
    ) throws(LogError) {
        var next = max(start, position)
        var before: FeedTime?
        while true {
            let batch = try batch(from: next)
            for (found, row) in batch.rows {
                // The writing process may have trimmed the log.
                if isReadOnly, found > next, try firstPosition() > next { next = found }
                guard found == next else {
                    throw LogError("\(folder): entry \(next) is missing; restore the folder from a backup", .damaged)
                }
                next += 1
                let entry =
                    skipped.contains(row, at: found)
                    ? try substitute(for: row, at: found, after: before) : try entry(row, at: found)
                before = entry.now
                guard try body(found, entry) else { return }
            }
            guard batch.isFull else { return }
        }
    }

    private func firstPosition() throws(LogError) -> LogPosition {
        do throws(LMDBEnvironment.Failure) { return try reopened().firstKey() } catch { throw unreadable(error) }
    }

    /// Returns the rows from that position on, until the batch is full or the log ends.
    func batch(from position: LogPosition, most: Int = RowBatch.rowsMax) throws(LogError) -> RowBatch {
        var batch = RowBatch(most: most, sizeMax: batchSize)
        do throws(LMDBEnvironment.Failure) {
            try unsafe reopened().scan(from: position) { found, row in
                unsafe batch.append(Array(row), at: found)
                return !batch.isFull
            }
        } catch {
            throw unreadable(error)
        }
        return batch
    }

    private func unreadable(_ error: LMDBEnvironment.Failure) -> LogError {
        LogError("\(folder): cannot be read: \(error.reason) (\(error.call))", error.causeOfReading)
    }

    private func entry(_ row: [UInt8], at position: LogPosition) throws(LogError) -> LogEntry {
        do throws(SerialError) {
            return try LogEntry(row, at: position)
        } catch {
            let remedy = error.remedy + (error.isOfNewerRelease ? "" : ", or set the entry aside (fanfare log skip)")
            throw LogError(
                "\(folder): entry \(position): \(error); \(remedy)",
                error.isOfNewerRelease ? .newerRelease : .damaged)
        }
    }

    // MARK: - Entries that are set aside

    package func noticesOfSkipped(through position: LogPosition) -> [String] {
        skipped.positions.filter { $0 <= position }.map {
            "entry \($0) of the store is set aside, and the checkpoint has what was taken in its place: its topic is paused unless an operator "
                + "has ordered `resume`"
        }
    }

    package func noteDeciding(_ position: LogPosition?) {
        if let position { progress?.begin(position) } else { progress?.end() }
    }

    /// Sets aside the entry at which several processes in a row have ended: no restart would get past it.
    private func noteDeath() throws(LogError) {
        guard let (position, deaths) = progress?.takeDeath(), position <= end else { return }
        guard deaths >= LMDBLog.deathsMax else {
            notices.append(
                "the process before this one ended while it decided entry \(position) of the store; if this one does, too, the next one "
                    + "sets that entry aside")
            return
        }
        let words = "\(deaths) processes in a row ended while they decided entry \(position) of the store"
        guard let row = try batch(from: position, most: 1).rows.first?.bytes else { return }
        if skipped.contains(row, at: position) {
            notices.append(words + ", though it is set aside: time that passes is enough; use another release")
        } else if skipped.count >= LMDBLog.skippedMax {
            notices.append(
                words
                    + "; it is not set aside, because \(skipped.count) others are: use another release, or set it aside by hand "
                    + "(fanfare log skip)")
        } else {
            notices.append(words)
            // The entry is set aside for this process alone if the disk takes nothing.
            do throws(LogError) { try skipped.insert(row, at: position, in: folder) } catch {
                notices.append("\(error)")
            }
        }
    }

    /// Sets an entry aside, for good: readers of the log take `LogEntry.skipped(at:)` in its place. No process may write to the folder.
    ///
    /// - Returns: the entry in its place.
    package static func skip(_ position: LogPosition, in folder: String) throws(LogError) -> LogEntry {
        // A folder without a log is not made.
        let log = try LMDBLog(folder: folder, isReadOnly: true)
        guard (1...max(1, log.end)).contains(position), log.end > 0 else {
            throw LogError("\(folder): has no entry \(position); its last one is \(log.end)", .entry)
        }
        let owner = try StoreFolder(folder)
        defer { withExtendedLifetime(owner) {} }
        if let checkpoint = try log.newestCheckpoint(report: { _ in }).head, position <= checkpoint.position {
            throw LogError(
                "\(folder): what entry \(position) has led to is in the checkpoint of entry \(checkpoint.position), which a restart begins "
                    + "with; correct the topic instead", .entry)
        }
        var skipped = try SkippedEntries(folder: folder)
        guard let row = try log.batch(from: position, most: 1).rows.first, row.position == position else {
            throw LogError("\(folder): entry \(position) is missing; restore the folder from a backup", .damaged)
        }
        let entry = try log.substitute(for: row.bytes, at: position, after: nil)
        try skipped.insert(row.bytes, at: position, in: folder)
        owner.makeProgress()?.forget()
        return entry
    }

    /// Removes all entries before a folder's newest checkpoint. No process may write to the folder.
    ///
    /// - Returns: the number of entries that were removed, and the position of the checkpoint.
    package static func trim(_ folder: String) throws(LogError) -> (removed: LogPosition, checkpoint: LogPosition) {
        // A folder without a log is not made.
        _ = try LMDBLog(folder: folder, isReadOnly: true)
        let log = try LMDBLog(folder: folder)
        if let head = try log.newestCheckpoint(report: { _ in }).head {
            let start = log.start
            // The entry at the checkpoint's position identifies its log.
            log.trim(through: head.position - 1)
            try log.removeTrimmed()
            return (log.start - start, head.position)
        }
        throw LogError(
            "\(folder): has no checkpoint yet. A program and a replay of a live feed write one after many entries; a replay of files "
                + "keeps its whole log", .entry)
    }

    /// Returns the substitute of an entry that was set aside.
    ///
    /// - Parameter before: log time of the entry before, if it is known.
    private func substitute(
        for row: [UInt8], at position: LogPosition, after before: FeedTime?
    ) throws(LogError) -> LogEntry {
        let entry: LogEntry
        do throws(LogError) { entry = try self.entry(row, at: position) } catch {
            guard error.cause == .damaged else { throw error }
            if position == 1 || LogEntry.looksLikeRules(row) { throw rulesStay(position) }
            // Nothing is known of a damaged entry, not even its log time.
            var time = before
            if time == nil { time = try self.time(before: position) }
            return LogEntry(now: time ?? FeedTime.plausible.lowerBound, .tick).skipped(at: position)
        }
        if case .rules = entry.body {
            throw rulesStay(position)
        }
        return entry.skipped(at: position)
    }

    private func rulesStay(_ position: LogPosition) -> LogError {
        LogError(
            "\(folder): entry \(position) has the rules that what follows was decided by, and cannot be left out",
            .entry)
    }

    /// Returns the log time of the last entry before the position that can be read.
    private func time(before position: LogPosition) throws(LogError) -> FeedTime? {
        for earlier in stride(from: Int(position) - 1, through: Int(start), by: -1) {
            let row = try batch(from: LogPosition(earlier), most: 1).rows.first
            if let row, let entry = try? LogEntry(row.bytes, at: row.position) { return entry.now }
        }
        return nil
    }
}
