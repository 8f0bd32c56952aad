internal import Glibc

/// Log in a folder, by LMDB: each `append` is one transaction with one sync, so a crash of the process or of the machine leaves
/// either all or none of its entries (spec of the store: `docs/store.md`).
///
/// One process writes to a folder at a time; others may read it meanwhile. `Sendable` is unchecked because `Log` confines it to one
/// thread at a time.
package final class LMDBLog: Log, @unchecked Sendable {
    package let folder: String
    /// `nil` after a write that failed, until the next one.
    private var environment: LMDBEnvironment?
    private let isReadOnly: Bool
    private let mapBytes: Int
    /// Descriptor of the file whose lock says that a process writes to the folder; -1 for a reader.
    private let owner: CInt
    package private(set) var end: LogPosition
    private var appends = 0
    /// Number of appends after which readers that have died are looked for.
    private static let readerCheckInterval = 1000
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
        owner = isReadOnly ? -1 : try LMDBLog.own(folder)
        do throws(LMDBEnvironment.Failure) {
            let opened = try LMDBEnvironment(folder: folder, mapBytes: mapBytes, isReadOnly: isReadOnly)
            environment = opened
            end = try opened.lastKey()
        } catch {
            if owner >= 0 { close(owner) }
            throw LogError("\(folder): cannot be opened as a store: \(error.reason) (\(error.call))")
        }
    }

    deinit { if owner >= 0 { close(owner) } }

    /// Makes the folder and locks it for this process. The lock ends with the process, however it ends.
    private static func own(_ folder: String) throws(LogError) -> CInt {
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw LogError("\(folder): cannot be made: \(String(cString: strerror(errno)))")
        }
        let descriptor = open(folder + "/owner", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw LogError("\(folder)/owner: cannot be written: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw LogError(
                "\(folder): another process uses this store; stop it first, or give this one a folder of its own",
                .inUse)
        }
        return descriptor
    }

    package func append(_ entries: [LogEntry]) throws(LogError) {
        guard !entries.isEmpty else { return }
        try checkFolder()
        var rows: [[UInt8]] = []
        rows.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            let row = entry.bytes(at: end + 1 + LogPosition(index))
            guard row.count <= LogEntry.bytesMax else {
                throw LogError(
                    "an entry of \(row.count) bytes is too large for the store, which takes \(LogEntry.bytesMax)")
            }
            rows.append(row)
        }
        do throws(LMDBEnvironment.Failure) {
            let environment = try reopened()
            let last = try environment.lastKey()
            // A commit that reported a failure may have been written all the same.
            if last != end + LogPosition(rows.count) {
                guard last == end else {
                    throw LMDBEnvironment.Failure(call: "entry \(last) is last, not \(end)", code: EIO)
                }
                try append(rows, to: environment)
            }
        } catch {
            // LMDB refuses all further writes of an environment after some failures, so the next try opens it anew.
            environment = nil
            throw LogError("\(folder): cannot be written: \(error.reason) (\(error.call))")
        }
        end += LogPosition(rows.count)
    }

    /// Refuses a folder that was deleted under the process: LMDB would go on writing to a file that nobody can open again.
    private func checkFolder() throws(LogError) {
        var file = stat()
        guard owner >= 0, fstat(owner, &file) == 0, file.st_nlink == 0 else { return }
        throw LogError(
            "\(folder): has vanished, and this process's entries with it; restore it from a backup and start again")
    }

    private func reopened() throws(LMDBEnvironment.Failure) -> LMDBEnvironment {
        if let environment { return environment }
        let opened = try LMDBEnvironment(folder: folder, mapBytes: mapBytes, isReadOnly: isReadOnly)
        environment = opened
        return opened
    }

    private func append(
        _ rows: [[UInt8]], to environment: LMDBEnvironment
    ) throws(LMDBEnvironment.Failure) {
        appends += 1
        if appends.isMultiple(of: LMDBLog.readerCheckInterval) { try environment.forgetDeadReaders() }
        while true {
            do throws(LMDBEnvironment.Failure) {
                return try environment.append(rows, from: end + 1)
            } catch {
                guard error.isMapFull else { throw error }
                try environment.grow(to: 2 * environment.mapBytes)
            }
        }
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
            let (remedy, cause): (String, LogError.Cause) =
                if case .newerForm = error {
                    ("use that release", .newerRelease)
                } else {
                    ("restore the folder from a backup", .damaged)
                }
            throw LogError("\(folder): entry \(position): \(error); \(remedy)", cause)
        }
    }
}
