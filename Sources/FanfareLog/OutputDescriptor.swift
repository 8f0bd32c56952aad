internal import CFanfareLMDB
import FanfareModel
internal import Glibc

/// New file of a store, or of its backup, which is synced piece by piece: commits of a store on the same disk may have to wait for a sync.
final class OutputDescriptor {
    private let path: String
    let descriptor: CInt
    /// Number of bytes that were written since the last sync.
    private var unsynced = 0
    /// Size of written bytes after which the system is made to write, so that the sync at the end is short.
    private static let syncSize = ByteCount.mebibytes(4)

    /// - Parameters:
    ///   - owner: file whose owner is to be able to read this one, if the superuser writes it.
    ///   - isSynchronous: `true` if the system is to sync each write, for a library that writes to the descriptor.
    init(_ path: String, ownerOf owner: String, isSynchronous: Bool = false) throws(LogError) {
        self.path = path
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (isSynchronous ? O_DSYNC : 0)
        descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else { throw OutputDescriptor.failure(path) }
        if geteuid() == 0 { _ = unsafe fanfare_give_to_owner_of(owner, descriptor) }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws(LogError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let put = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { throw OutputDescriptor.failure(path) }
            rest = rest.dropFirst(put)
        }
        unsynced += bytes.count
        if unsynced >= OutputDescriptor.syncSize.bytes { try sync() }
    }

    func sync() throws(LogError) {
        unsynced = 0
        guard fdatasync(descriptor) == 0 else { throw OutputDescriptor.failure(path) }
    }

    private static func failure(_ path: String) -> LogError {
        LogError(unsafe "\(path): cannot be written: \(String(cString: strerror(errno)))")
    }
}
