public import FanfareLoop
import Glibc

extension ProviderToken {
    /// A `.p8` has about 250 bytes.
    private static let keyFileBytesMax = 16 * 1024

    /// With the `.p8` file that Apple gave out for the key.
    ///
    /// - Throws: `CredentialsFault` or `LoopError`, with the file's name and what to do. A key that others can read is
    ///   refused: whoever has it pushes in our name until somebody revokes it.
    public convenience init(keyFile path: String, keyID: String, teamID: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw CredentialsFault("key file \(path): \(String(cString: strerror(errno)))")
        }
        let permissions = status.st_mode & 0o777
        guard permissions & 0o077 == 0 else {
            throw CredentialsFault(
                "key file \(path) can be used by others (mode \(String(permissions, radix: 8))); "
                    + "make it yours alone: chmod 600 \(path)")
        }
        let pem = String(decoding: try readFile(path, max: Self.keyFileBytesMax), as: UTF8.self)
        try self.init(key: try ES256PrivateKey(pem: pem, place: path), keyID: keyID, teamID: teamID)
    }

    public convenience init(key: ES256PrivateKey, keyID: String, teamID: String) throws(CredentialsFault) {
        try self.init(keyID: keyID, teamID: teamID) { try key.sign($0) }
    }
}
