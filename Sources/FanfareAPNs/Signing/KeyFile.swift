import FanfareLoop
import FanfareModel
import Glibc

/// The `.p8` file that Apple issued for a key, and the key that was last read from it.
struct KeyFile {
    /// Maximum size of the file; a `.p8` has about 250 bytes.
    private static let sizeMax = ByteCount.kibibytes(16)

    /// Identity of a key: a file that was only touched, or rewritten with the same key, rotates nothing.
    private struct Identity: Equatable {
        let id: String
        /// Public key as PEM.
        let publicKey: String
    }

    let path: String
    /// Id of the key; `nil` if the file's name contains it.
    private let keyID: String?
    private var known: Identity?

    init(path: String, keyID: String?) {
        self.path = path
        self.keyID = keyID
    }

    /// Reads the key; blocks on the file system. The memory that held the file's text is overwritten before this returns.
    /// - Returns: `nil` if the key is the one that was read last.
    /// - Throws: `CredentialsFault` or `LoopError`, with the file's name and the remedy. The file may have been half
    ///   written: the next call reads it again.
    mutating func readIfChanged() throws -> SigningKey? {
        // All checks use this descriptor, because the file at a path may change between two checks. The open does not wait
        // for the writer of a named pipe.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw unsafe fault(String(cString: strerror(errno))) }
        defer { Glibc.close(descriptor) }
        try check(descriptor)
        let id = try keyID ?? idInName(of: descriptor)
        try CredentialsFault.check(id, is: "key id")
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyFile.sizeMax.bytes + 1, alignment: 1)
        defer {
            if let start = room.baseAddress { unsafe explicit_bzero(start, room.count) }
            unsafe room.deallocate()
        }
        let count = try unsafe read(descriptor, into: room)
        let key = try unsafe ES256PrivateKey(pem: UnsafeRawBufferPointer(rebasing: room[..<count]), place: path)
        let found = Identity(id: id, publicKey: try key.publicPEM())
        guard found != known else { return nil }
        known = found
        return SigningKey(id: id, publicKey: found.publicKey) { try key.sign($0) }
    }

    /// Refuses a key that others can read: anyone who has it can push in our name until it is revoked.
    private func check(_ descriptor: CInt) throws(CredentialsFault) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw unsafe fault(String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw fault("not a file, but a folder, a pipe or a device") }
        let permissions = status.st_mode & 0o777
        guard KeyFile.isOursAlone(permissions: permissions, groupIsOurs: KeyFile.isOurs(group: status.st_gid)) else {
            throw CredentialsFault(
                "key file \(path) can be used by others (mode \(String(permissions, radix: 8))); "
                    + "make it yours alone: chmod 600 \(path)")
        }
    }

    /// Returns `true` if only we can use the file. A group of ours may read it, and no more: systems that hand secrets to
    /// services use that if the service does not own the file (Kubernetes with `fsGroup` mounts it as root's, mode 0440).
    static func isOursAlone(permissions: mode_t, groupIsOurs: Bool) -> Bool {
        permissions & (groupIsOurs ? 0o037 : 0o077) == 0
    }

    private static func isOurs(group: gid_t) -> Bool {
        if group == getegid() { return true }
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = unsafe getgroups(CInt(groups.count), &groups)
        return count > 0 && groups[..<Int(count)].contains(group)
    }

    private func read(_ descriptor: CInt, into room: UnsafeMutableRawBufferPointer) throws -> Int {
        var count = 0
        while count < room.count {
            let added = unsafe Glibc.read(descriptor, room.baseAddress?.advanced(by: count), room.count - count)
            if added == 0 { return count }
            if added > 0 {
                count += added
            } else if errno != EINTR {
                throw unsafe fault(String(cString: strerror(errno)))
            }
        }
        throw fault("larger than the \(KeyFile.sizeMax) that a key may have")
    }

    private func fault(_ reason: String) -> CredentialsFault { CredentialsFault("key file \(path): \(reason)") }

    /// Returns the id in the file's name, which Apple makes `AuthKey_ABC123DEFG.p8`. Links are followed, so pointing a link
    /// elsewhere rotates the key and its id together.
    private func idInName(of descriptor: CInt) throws(CredentialsFault) -> String {
        // The path of the open file is independent of later changes to the link.
        guard let resolved = unsafe realpath("/proc/self/fd/\(descriptor)", nil) else {
            throw unsafe fault(String(cString: strerror(errno)))
        }
        defer { unsafe free(resolved) }
        let name = unsafe String(cString: resolved).split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else {
            throw CredentialsFault(
                "key file \(path): give the key's id (--key-id), or keep the file's name, AuthKey_<id>.p8")
        }
        return String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
    }
}
