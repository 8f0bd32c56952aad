internal import Glibc

/// Backup of a store: a folder that can be restored in its place. A process may write to the store meanwhile.
///
/// A backup has no claims, because starts that have left since might leave again.
package struct StoreBackup {
    /// Positions of the oldest and of the newest entry; the newest one is 0 without any.
    package let start, end: LogPosition
    package let hasPeople: Bool

    /// Makes a backup.
    ///
    /// - Parameters:
    ///   - store: folder of a store that this process does not have open.
    ///   - folder: created with mode 700; refused if it is there.
    package init(of store: String, in folder: String) throws(LogError) {
        // A folder without a log gets no backup.
        _ = try LMDBLog(folder: store, isReadOnly: true)
        try StoreBackup.makeFolder(folder)
        do throws(LogError) {
            // The checkpoints come before the log, which then reaches back at least to the newest one of them.
            let (from, to) = (CheckpointFolder(folder: store), CheckpointFolder(folder: folder))
            for position in try from.positions() {
                try StoreBackup.copyFile(from.path(of: position), to: to.path(of: position), in: folder)
            }
            try StoreBackup.copyFile(
                "\(store)/\(SkippedEntries.name)", to: "\(folder)/\(SkippedEntries.name)", in: folder)
            try StoreBackup.copyEnvironment(store, to: folder)
            hasPeople = LMDBPeopleStore.exists(store: store)
            if hasPeople {
                try StoreBackup.makeFolder(folder + "/people")
                try StoreBackup.copyEnvironment(store + "/people", to: folder + "/people")
                try StoreFolder.syncNames(folder + "/people")
            }
            try StoreFolder.syncNames(folder)
            let log = try LMDBLog(folder: folder, isReadOnly: true)
            (start, end) = (log.start, log.end)
            try StoreBackup.checkCheckpoints(of: log, from: store)
        } catch {
            throw LogError("\(error); \(folder) is not whole: remove it", error.cause)
        }
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

    private static func failure(_ path: String, _ what: String) -> LogError {
        LogError(unsafe "\(path): \(what): \(String(cString: strerror(errno)))")
    }
}
