public import FanfareLoop
import Glibc

/// The `.p8` file that Apple gave out for a key, and how it looked when it was read last.
struct KeyFile {
    /// A `.p8` has about 250 bytes.
    private static let bytesMax = 16 * 1024

    /// What tells one file from another in the same place, and an overwritten one from itself.
    private struct Identity: Equatable {
        let device: UInt
        let inode: UInt
        let size: Int
        let modifiedSeconds: Int
        let modifiedNanoseconds: Int
    }

    private let path: String
    /// `nil`: as the file's name says.
    private let keyID: String?
    private var seen: Identity?

    init(path: String, keyID: String?) {
        self.path = path
        self.keyID = keyID
    }

    /// - Returns: `nil` when the file is the one that was read last.
    /// - Throws: `CredentialsFault` or `LoopError`, with the file's name and what to do. It is then read again next time:
    ///   it may have been half written. A key that others can read is refused: whoever has it pushes in our name until
    ///   somebody revokes it.
    mutating func readIfChanged() throws -> ProviderToken.Key? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw CredentialsFault("key file \(path): \(String(cString: strerror(errno)))")
        }
        let identity = Identity(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
            modifiedSeconds: status.st_mtim.tv_sec, modifiedNanoseconds: status.st_mtim.tv_nsec)
        guard identity != seen else { return nil }
        let permissions = status.st_mode & 0o777
        guard permissions & 0o077 == 0 else {
            throw CredentialsFault(
                "key file \(path) can be used by others (mode \(String(permissions, radix: 8))); "
                    + "make it yours alone: chmod 600 \(path)")
        }
        let id = try keyID ?? idInName()
        let pem = String(decoding: try readFile(path, max: KeyFile.bytesMax), as: UTF8.self)
        let key = try ES256PrivateKey(pem: pem, place: path)
        seen = identity
        return ProviderToken.Key(id: id) { try key.sign($0) }
    }

    /// Apple calls the file `AuthKey_ABC123DEFG.p8`. A link to it is followed, so that pointing the link elsewhere rotates the
    /// key and its id together.
    private func idInName() throws(CredentialsFault) -> String {
        guard let resolved = realpath(path, nil) else {
            throw CredentialsFault("key file \(path): \(String(cString: strerror(errno)))")
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
    /// With the `.p8` file that Apple gave out for the key. When the file changes, or a link to it, the new key signs within
    /// seconds; when the new one cannot be used, the old one goes on and `Issue.complaint` says why.
    ///
    /// - Parameter keyID: as Apple shows it beside the key. `nil` takes it from the file's name, which rotates with the key.
    /// - Throws: `CredentialsFault` or `LoopError`, with the file's name and what to do.
    public convenience init(keyFile path: String, keyID: String?, teamID: String) throws {
        var file = KeyFile(path: path, keyID: keyID)
        guard let key = try file.readIfChanged() else { preconditionFailure("a file not yet read has changed") }
        try self.init(key, teamID: teamID, file: file)
    }

    public convenience init(key: ES256PrivateKey, keyID: String, teamID: String) throws(CredentialsFault) {
        try self.init(keyID: keyID, teamID: teamID) { try key.sign($0) }
    }
}
