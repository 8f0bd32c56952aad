/// A key and the id by which APNs knows it.
struct SigningKey {
    /// Key id, 10 characters.
    let id: String
    /// Public key as PEM, which distinguishes two keys; empty if there is only one key.
    var publicKey = ""
    /// Signs the given bytes with ES256: 64 bytes, R then S.
    let sign: @Sendable ([UInt8]) throws -> [UInt8]
}
