package import FanfareLoop
import Glibc

/// The `.p8` file that Apple gave out for a key, and the key that was found in it last.
struct KeyFile {
    /// A `.p8` has about 250 bytes.
    private static let bytesMax = 16 * 1024

    /// What makes two keys one: a file that was only touched, or written again with the same key, rotates nothing.
    private struct Identity: Equatable {
        let id: String
        /// PEM.
        let publicKey: String
    }

    let path: String
    /// `nil`: as the file's name says.
    private let keyID: String?
    private var known: Identity?

    init(path: String, keyID: String?) {
        self.path = path
        self.keyID = keyID
    }

    /// Waits for the file system. The program's memory of the file's text is overwritten before this returns.
    /// - Returns: `nil` when the key is the one that was read last.
    /// - Throws: `CredentialsFault` or `LoopError`, with the file's name and what to do. The file may have been half written:
    ///   the next call reads it again.
    mutating func readIfChanged() throws -> ProviderToken.Key? {
        // Everything that follows is about this descriptor: between two looks at a path the file may be another one. Opening
        // does not wait for the writer of a named pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw fault(String(cString: strerror(errno))) }
        defer { Glibc.close(descriptor) }
        try check(descriptor)
        let id = try keyID ?? idInName(of: descriptor)
        try ProviderToken.check(id, is: "key id")
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyFile.bytesMax + 1, alignment: 1)
        defer {
            if let start = room.baseAddress { explicit_bzero(start, room.count) }
            room.deallocate()
        }
        let count = try read(descriptor, into: room)
        let key = try ES256PrivateKey(pem: UnsafeRawBufferPointer(rebasing: room[..<count]), place: path)
        let found = Identity(id: id, publicKey: try key.publicKey.pem())
        guard found != known else { return nil }
        known = found
        return ProviderToken.Key(id: id, publicKey: found.publicKey) { try key.sign($0) }
    }

    /// A key that others can read is refused: whoever has it pushes in our name until somebody revokes it.
    private func check(_ descriptor: CInt) throws(CredentialsFault) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw fault(String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw fault("not a file, but a folder, a pipe or a device") }
        let permissions = status.st_mode & 0o777
        guard KeyFile.isOursAlone(permissions: permissions, groupIsOurs: KeyFile.isOurs(group: status.st_gid)) else {
            throw CredentialsFault(
                "key file \(path) can be used by others (mode \(String(permissions, radix: 8))); "
                    + "make it yours alone: chmod 600 \(path)")
        }
    }

    /// A group of ours may read, and no more than read: so systems that hand secrets to services do it, for which the file is
    /// not the service's own (Kubernetes with `fsGroup` mounts it as root's, mode 0440).
    static func isOursAlone(permissions: mode_t, groupIsOurs: Bool) -> Bool {
        permissions & (groupIsOurs ? 0o037 : 0o077) == 0
    }

    private static func isOurs(group: gid_t) -> Bool {
        if group == getegid() { return true }
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = getgroups(CInt(groups.count), &groups)
        return count > 0 && groups[..<Int(count)].contains(group)
    }

    private func read(_ descriptor: CInt, into room: UnsafeMutableRawBufferPointer) throws -> Int {
        var count = 0
        while count < room.count {
            let added = Glibc.read(descriptor, room.baseAddress?.advanced(by: count), room.count - count)
            if added == 0 { return count }
            if added > 0 { count += added } else if errno != EINTR { throw fault(String(cString: strerror(errno))) }
        }
        throw fault("larger than the \(KeyFile.bytesMax) bytes that a key may have")
    }

    private func fault(_ reason: String) -> CredentialsFault { CredentialsFault("key file \(path): \(reason)") }

    /// Apple calls the file `AuthKey_ABC123DEFG.p8`. A link to it is followed, so that pointing the link elsewhere rotates the
    /// key and its id together.
    private func idInName(of descriptor: CInt) throws(CredentialsFault) -> String {
        // The path of the file that is open, whatever the link says by now.
        guard let resolved = realpath("/proc/self/fd/\(descriptor)", nil) else {
            throw fault(String(cString: strerror(errno)))
        }
        defer { free(resolved) }
        let name = String(cString: resolved).split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else {
            throw CredentialsFault(
                "key file \(path): give the key's id, or leave the file its name, AuthKey_<id>.p8")
        }
        return String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
    }
}

extension ProviderToken {
    /// With the `.p8` file that Apple gave out for the key. When the file holds another key, or a link points to one, that key
    /// signs within seconds; when the new one cannot be used, or APNs refuses it, the old one goes on and `Issue.complaint` says why.
    ///
    /// - Parameter keyID: as Apple shows it beside the key. `nil` takes it from the file's name, which rotates with the key: under
    ///   an id that stays, no other key takes the place of one that APNs accepts.
    /// - Throws: `CredentialsFault` or `LoopError`, with the file's name and what to do.
    package convenience init(keyFile path: String, keyID: String?, teamID: String) throws {
        try self.init(keyFile: path, keyID: keyID, teamID: teamID) { (look) throws(LoopError) in
            try DetachedThread.run(name: "key file", look)
        }
    }

    convenience init(
        keyFile path: String, keyID: String?, teamID: String, runLook: @escaping LookRunner
    ) throws {
        var file = KeyFile(path: path, keyID: keyID)
        guard let key = try file.readIfChanged() else { preconditionFailure("a file not yet read has changed") }
        try self.init(key, teamID: teamID, watching: file, runLook: runLook)
    }

    package convenience init(key: ES256PrivateKey, keyID: String, teamID: String) throws(CredentialsFault) {
        try self.init(keyID: keyID, teamID: teamID) { try key.sign($0) }
    }
}
