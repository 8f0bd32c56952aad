internal import Glibc

/// Log in a folder, by LMDB: each `append` is one transaction with one sync, or one for each 16 MB. A crash of the process or of the
/// machine leaves all of its entries or the first of them (spec of the store: `docs/store.md`).
///
/// One process writes to a folder at a time; others may read it meanwhile. `Sendable` is unchecked because `Log` confines it to one
/// thread at a time.
package final class LMDBLog: Log, @unchecked Sendable {
    package let folder: String
    /// `nil` after a write that failed, until the next one.
    private var environment: LMDBEnvironment?
    private let isReadOnly: Bool
    private let mapBytes: Int
    /// Lock of the folder; `nil` for a reader, and once closed.
    private var lock: StoreFolder?
    package private(set) var end: LogPosition
    private var appends = 0
    /// Number of appends after which readers that have died are looked for.
    private static let readerCheckInterval = 1000
    /// Bytes of entries after which a transaction ends, so that memory does not grow with a batch.
    private static let transactionBytes = 16 << 20
    /// Rows per transaction of a reader. A transaction that stays open, behind a pager for example, keeps LMDB from using pages again.
    private static let rowsPerRead = 1000

    /// Address space at first; doubled whenever it is full.
    package static let mapBytesFirst = 1 << 30

    /// Opens the log of a folder.
    ///
    /// - Parameters:
    ///   - folder: created with mode 700 if it is missing, unless the log is only read.
    ///   - isReadOnly: `true` for a reader beside the process that writes.
    package init(
        folder: String, isReadOnly: Bool = false, mapBytes: Int = LMDBLog.mapBytesFirst
    ) throws(LogError) {
        self.folder = folder
        self.isReadOnly = isReadOnly
        self.mapBytes = mapBytes
        lock = isReadOnly ? nil : try StoreFolder(folder)
        do throws(LMDBEnvironment.Failure) {
            let opened = try LMDBEnvironment(folder: folder, mapBytes: mapBytes, isReadOnly: isReadOnly)
            environment = opened
            end = try opened.lastKey()
        } catch {
            throw LogError("\(folder): cannot be opened as a store: \(error.reason) (\(error.call))")
        }
        if !isReadOnly { try StoreFolder.syncNames(folder) }
    }

    deinit { close() }

    /// Closes LMDB before the lock, because one process must not open an environment twice.
    package func close() {
        environment = nil
        lock = nil
    }

    package func append(_ entries: [LogEntry]) throws(LogError) {
        guard !entries.isEmpty else { return }
        var rows: [[UInt8]] = []
        var bytes = 0
        for entry in entries {
            let row = entry.bytes(at: end + 1 + LogPosition(rows.count))
            guard row.count <= LogEntry.bytesMax else {
                try append(rows)
                throw LogError(
                    "an entry of \(row.count) bytes is too large for the store, which takes \(LogEntry.bytesMax)",
                    .entry)
            }
            rows.append(row)
            bytes += row.count
            if bytes >= LMDBLog.transactionBytes {
                try append(rows)
                rows.removeAll(keepingCapacity: true)
                bytes = 0
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
            // A commit that reported a failure may have been written all the same, and not be durable.
            if last == end + LogPosition(rows.count) {
                try environment.sync()
            } else {
                guard last == end else {
                    throw LMDBEnvironment.Failure(call: "entry \(last) is last, not \(end)", code: EIO)
                }
                appends += 1
                if appends.isMultiple(of: LMDBLog.readerCheckInterval) { try environment.forgetDeadReaders() }
                try environment.write(
                    rows.enumerated().map { .init(key: end + 1 + UInt64($0), row: $1, isLast: true) })
            }
        } catch {
            // LMDB refuses all further writes of an environment after some failures, so the next try opens it anew.
            environment = nil
            throw LogError("\(folder): cannot be written: \(error.reason) (\(error.call))")
        }
        end += LogPosition(rows.count)
    }

    private func reopened() throws(LMDBEnvironment.Failure) -> LMDBEnvironment {
        if let environment { return environment }
        let opened = try LMDBEnvironment(folder: folder, mapBytes: mapBytes, isReadOnly: isReadOnly)
        environment = opened
        return opened
    }

    package func read(
        from position: LogPosition, _ body: (LogPosition, LogEntry) throws(LogError) -> Bool
    ) throws(LogError) {
        var next = max(1, position)
        while true {
            let rows = try rows(from: next)
            for (found, row) in rows {
                guard found == next else {
                    throw LogError("\(folder): entry \(next) is missing; restore the folder from a backup", .damaged)
                }
                next += 1
                guard try body(found, try entry(row, at: found)) else { return }
            }
            if rows.count < LMDBLog.rowsPerRead { return }
        }
    }

    private func rows(from position: LogPosition) throws(LogError) -> [(LogPosition, [UInt8])] {
        var rows: [(LogPosition, [UInt8])] = []
        do throws(LMDBEnvironment.Failure) {
            try reopened().scan(from: position) { found, row in
                rows.append((found, Array(row)))
                return rows.count < LMDBLog.rowsPerRead
            }
        } catch {
            throw LogError("\(folder): cannot be read: \(error.reason) (\(error.call))")
        }
        return rows
    }

    private func entry(_ row: [UInt8], at position: LogPosition) throws(LogError) -> LogEntry {
        do throws(SerialError) {
            return try LogEntry(row, at: position)
        } catch {
            throw LogError(
                "\(folder): entry \(position): \(error); \(error.remedy)",
                error.isOfNewerRelease ? .newerRelease : .damaged)
        }
    }
}
