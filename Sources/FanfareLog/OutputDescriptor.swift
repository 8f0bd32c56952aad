internal import CFanfareLMDB
internal import Glibc

/// New file of a store, or of its backup.
final class OutputDescriptor {
    private let path: String
    let descriptor: CInt

    /// - Parameter owner: file whose owner is to be able to read this one, if the superuser writes it.
    init(_ path: String, ownerOf owner: String) throws(LogError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
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
    }

    func sync() throws(LogError) {
        guard fdatasync(descriptor) == 0 else { throw OutputDescriptor.failure(path) }
    }

    private static func failure(_ path: String) -> LogError {
        LogError(unsafe "\(path): cannot be written: \(String(cString: strerror(errno)))")
    }
}
