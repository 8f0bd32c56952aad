internal import Glibc

/// Backup of a store: a folder that can be restored in its place. A process may write to the store meanwhile.
///
/// A backup has no claims, because starts that have left since might leave again. Its folder gets its name when it is whole and durable.
package struct StoreBackup {
    /// Positions of the oldest and of the newest entry; the newest one is 0 without any.
    package let start, end: LogPosition
    package let hasPeople: Bool

    /// Makes a backup. One that fails leaves nothing, so that it does not keep a full disk full.
    ///
    /// - Parameters:
    ///   - store: folder of a store that this process does not have open.
    ///   - folder: created with mode 700; refused if it is there.
    package init(of store: String, in folder: String) throws(LogError) {
        let folder = StoreBackup.withoutSlashes(folder)
        let partial = folder + StoreBackup.partialSuffix
        // A folder without a log gets no backup.
        _ = try LMDBLog(folder: store, isReadOnly: true)
        guard unsafe access(folder, F_OK) != 0 else { throw LogError("\(folder): cannot be made: File exists") }
        try StoreBackup.makePartial(partial)
        do throws(LogError) {
            hasPeople = try StoreBackup.copy(store, to: partial)
            (start, end) = try StoreBackup.checkedPositions(of: partial, from: store)
            guard unsafe rename(partial, folder) == 0 else { throw StoreBackup.failure(folder, "cannot be made") }
        } catch {
            guard StoreBackup.remove(partial) else {
                throw LogError("\(error); \(partial) is not whole: remove it", error.cause)
            }
            throw error
        }
        try StoreFolder.syncNames(folder)
    }

    /// End of the name of a folder that is not whole yet.
    private static let partialSuffix = ".partial"

    /// Returns a path without slashes at its end, so that another name can be made of it.
    private static func withoutSlashes(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        return String(path)
    }

    private static func makePartial(_ partial: String) throws(LogError) {
        do throws(LogError) { try makeFolder(partial) } catch {
            guard unsafe access(partial, F_OK) == 0 else { throw error }
            throw LogError(
                "\(partial): is left of a backup that was killed, or belongs to one that runs: remove it if none runs")
        }
    }

    // MARK: - Parts of a store

    /// Copies a store to an empty folder.
    ///
    /// - Returns: whether the store has people.
    private static func copy(_ store: String, to folder: String) throws(LogError) -> Bool {
        // The checkpoints come before the log, which then reaches back at least to the newest one of them.
        let (from, to) = (CheckpointFolder(folder: store), CheckpointFolder(folder: folder))
        for position in try from.positions() {
            try copyFile(from.path(of: position), to: to.path(of: position), in: folder)
        }
        try copyFile("\(store)/\(SkippedEntries.name)", to: "\(folder)/\(SkippedEntries.name)", in: folder)
        try copyEnvironment(store, to: folder)
        let hasPeople = LMDBPeopleStore.exists(store: store)
        if hasPeople {
            try makeFolder(folder + "/people")
            try copyEnvironment(store + "/people", to: folder + "/people")
            try StoreFolder.syncNames(folder + "/people")
        }
        try StoreFolder.syncNames(folder)
        return hasPeople
    }

    /// Removes a copied store, or a part of one.
    ///
    /// - Returns: `true` if nothing is left.
    private static func remove(_ folder: String) -> Bool {
        let checkpoints = CheckpointFolder(folder: folder)
        for position in (try? checkpoints.positions()) ?? [] { unsafe unlink(checkpoints.path(of: position)) }
        for name in [SkippedEntries.name, "data.mdb", "lock.mdb", "people/data.mdb", "people/lock.mdb"] {
            unsafe unlink("\(folder)/\(name)")
        }
        unsafe rmdir(folder + "/people")
        return unsafe rmdir(folder) == 0
    }

    private static func makeFolder(_ folder: String) throws(LogError) {
        guard unsafe mkdir(folder, 0o700) == 0 else { throw failure(folder, "cannot be made") }
    }

    private static func copyEnvironment(_ source: String, to folder: String) throws(LogError) {
        // LMDB writes a megabyte at a time, so commits of the store wait for the sync of that alone.
        let file = try OutputDescriptor(folder + "/data.mdb", ownerOf: folder, isSynchronous: true)
        do throws(LMDBEnvironment.Failure) {
            try LMDBEnvironment.copy(source, to: file.descriptor)
        } catch {
            throw LogError(
                "\(source): cannot be copied to \(folder): \(error.reason) (\(error.call))", error.causeOfReading)
        }
        try file.sync()
    }

    /// Copies a file, if it is still there: the process that writes may have replaced it.
    private static func copyFile(_ source: String, to target: String, in folder: String) throws(LogError) {
        let descriptor = unsafe open(source, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return }
        guard descriptor >= 0 else { throw failure(source, "cannot be read") }
        defer { close(descriptor) }
        let file = try OutputDescriptor(target, ownerOf: folder)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let got = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw failure(source, "cannot be read") }
            if got == 0 { break }
            try file.write(Array(buffer.prefix(got)))
        }
        try file.sync()
    }

    // MARK: - Checks

    /// Opens a copied store.
    ///
    /// - Returns: positions of its oldest and of its newest entry.
    private static func checkedPositions(
        of folder: String, from store: String
    ) throws(LogError) -> (start: LogPosition, end: LogPosition) {
        let log = try LMDBLog(folder: folder, isReadOnly: true)
        try checkCheckpoints(of: log, from: store)
        return (log.start, log.end)
    }

    /// Refuses a copied log that begins behind entries whose results no checkpoint has.
    private static func checkCheckpoints(of log: LMDBLog, from store: String) throws(LogError) {
        var faults: [LogError] = []
        let (newest, unusable) = try log.newestCheckpoint { faults.append($0) }
        guard newest == nil, log.start > 1 else { return }
        // The log reaches back to the one before its newest checkpoint, so it begins behind those that others have replaced.
        guard unusable.contains(where: { $0 >= log.start }) else {
            throw LogError("\(store): its checkpoints were replaced while they were copied; make another backup")
        }
        let reasons = faults.map(\.description).joined(separator: "; ")
        throw LogError(
            "\(store): no copy of its checkpoints can be used, and its entries before \(log.start) were trimmed: \(reasons)",
            faults.first?.cause ?? .damaged)
    }

    private static func failure(_ path: String, _ what: String) -> LogError {
        LogError(unsafe "\(path): \(what): \(String(cString: strerror(errno)))")
    }
}
