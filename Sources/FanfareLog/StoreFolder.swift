internal import Glibc

/// Folder that this process alone writes to. The lock ends with the process, however it ends.
final class StoreFolder: Sendable {
    /// Descriptor of the locked file.
    private let descriptor: CInt

    /// Makes the folder with mode 700 if it is missing, and locks it.
    init(_ folder: String) throws(LogError) {
        if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw LogError(unsafe "\(folder): cannot be made: \(String(cString: strerror(errno)))")
        }
        let descriptor = unsafe open(folder + "/owner", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw LogError(unsafe "\(folder)/owner: cannot be written: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw LogError(
                "\(folder): another process uses this store; stop it first, or give this one a folder of its own",
                .inUse)
        }
        self.descriptor = descriptor
    }

    /// Maps the progress of a restart, which is in the locked file, so that each process finds that of the one before.
    func makeProgress() -> RecallProgress? { RecallProgress(of: descriptor) }

    /// Makes the names of the files and of their folder durable; LMDB syncs only the content.
    static func syncNames(_ folder: String) throws(LogError) {
        for path in [folder, folder + "/.."] {
            let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            // A folder above that this process may not read is no fault of the store.
            if descriptor < 0, errno == EACCES { continue }
            guard descriptor >= 0 else {
                throw LogError(unsafe "\(path): cannot be opened: \(String(cString: strerror(errno)))")
            }
            defer { close(descriptor) }
            // A file system without `fsync` returns EINVAL.
            guard fsync(descriptor) == 0 || errno == EINVAL else {
                throw LogError(unsafe "\(path): cannot be synced: \(String(cString: strerror(errno)))")
            }
        }
    }

    deinit { close(descriptor) }
}
