internal import CFanfareOpenSSL

/// A private key for ES256 (ECDSA over P-256 with SHA-256, RFC 7518 §3.4). Any thread. The key is a secret: `description`
/// does not contain it, and errors name only its source.
package struct ES256PrivateKey: Sendable, CustomStringConvertible {
    package let key: P256Key

    /// - Parameters:
    ///   - pem: the text of a `.p8` file: PKCS#8, not encrypted.
    ///   - place: the file, for error messages.
    package init(pem: String, place: String = "private key") throws(LoopError) {
        let bytes = Array(pem.utf8)
        let read = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(LoopError) in try unsafe ES256PrivateKey(pem: bytes, place: place) }
        }
        key = try read.get().key
    }

    /// Reads the key from the caller's memory, which the caller can overwrite afterwards: no copy of the text remains.
    package init(pem: UnsafeRawBufferPointer, place: String) throws(LoopError) {
        key = try unsafe P256Key(pem, place, call: "PEM_read_bio_PrivateKey") {
            unsafe PEM_read_bio_PrivateKey($0, nil, noPassphrase, nil)
        }
    }

    private init(_ key: P256Key) { self.key = key }

    /// Generates a new key, for tests and simulators.
    package static func generate() throws(LoopError) -> ES256PrivateKey {
        ES256PrivateKey(try P256Key.generate())
    }

    /// Returns the signature: 64 bytes, R then S, each 32 bytes big-endian, as JWT requires (RFC 7518 §3.4).
    package func sign(_ message: [UInt8]) throws(LoopError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .openSSL(.other, call: "EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        // An ECDSA signature over P-256 in DER has at most 72 bytes.
        var der = [UInt8](repeating: 0, count: 80)
        var count = der.count
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.raw) == 1,
            unsafe EVP_DigestSign(context, &der, &count, message, message.count) == 1
        else { throw .openSSL(.badKey, call: "EVP_DigestSign") }
        return try P256Signature.raw(der: der[..<count])
    }

    /// Returns the public half: `BEGIN PUBLIC KEY`, as `openssl ec -pubout` writes it.
    package func publicPEM() throws(LoopError) -> String { try key.publicPEM() }

    /// Returns the key as PKCS#8, not encrypted: a secret.
    package func pem() throws(LoopError) -> String {
        try unsafe withPEM("PEM_write_bio_PKCS8PrivateKey") {
            unsafe PEM_write_bio_PKCS8PrivateKey($0, key.raw, nil, nil, 0, nil, nil)
        }
    }

    package var description: String { "ES256 private key" }
}

/// Owns an OpenSSL key. It is only read after `init`; its reference count is atomic.
@safe package final class P256Key: @unchecked Sendable {
    package let raw: OpaquePointer

    private init(owning raw: OpaquePointer) { unsafe self.raw = unsafe raw }

    package static func generate() throws(LoopError) -> P256Key {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
            throw .openSSL(.badKey, call: "EVP_PKEY_CTX_new_from_name")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var raw: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            unsafe EVP_PKEY_generate(context, &raw) == 1, let raw = unsafe raw
        else { throw .openSSL(.badKey, call: "EVP_PKEY_generate") }
        return unsafe P256Key(owning: raw)
    }

    package init(
        _ pem: UnsafeRawBufferPointer, _ place: String, call: String, read: (OpaquePointer) -> OpaquePointer?
    ) throws(LoopError) {
        // OpenSSL reads from `pem` itself, so the BIO must not outlive this call.
        let found = unsafe BIO_new_mem_buf(pem.baseAddress, CInt(clamping: pem.count)).flatMap { bio in
            defer { unsafe BIO_free(bio) }
            return unsafe read(bio)
        }
        guard let found = unsafe found else {
            throw LoopError(
                .badKey, call: call, place: place,
                reason:
                    "not an unencrypted PEM key (\(OpenSSLErrors.take()?.text ?? "empty")); download it again, or restore it"
            )
        }
        unsafe raw = found
        guard unsafe P256Key.isP256(found) else {
            throw LoopError(.badKey, call: call, place: place, reason: "the key is not for ES256 (curve P-256)")
        }
    }

    deinit { unsafe EVP_PKEY_free(raw) }

    package func publicPEM() throws(LoopError) -> String {
        try unsafe withPEM("PEM_write_bio_PUBKEY") { unsafe PEM_write_bio_PUBKEY($0, raw) }
    }

    private static func isP256(_ key: OpaquePointer) -> Bool {
        var name = [UInt8](repeating: 0, count: 64)
        var count = 0
        let isNamed = unsafe name.withUnsafeMutableBytes {
            unsafe EVP_PKEY_get_group_name(key, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, &count)
                == 1
        }
        ERR_clear_error()
        guard isNamed else { return false }
        // OpenSSL calls P-256 (NIST's name) by its name in SEC 2.
        return ["prime256v1", "P-256"].contains(String(decoding: name[..<min(count, name.count)], as: UTF8.self))
    }
}

/// The two numbers of an ECDSA signature.
private enum P256Signature {
    static func raw(der: ArraySlice<UInt8>) throws(LoopError) -> [UInt8] {
        let parsed = unsafe der.withUnsafeBufferPointer { der -> OpaquePointer? in
            var position = der.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &position, der.count)
        }
        guard let parsed = unsafe parsed else { throw .openSSL(.other, call: "d2i_ECDSA_SIG") }
        defer { unsafe ECDSA_SIG_free(parsed) }
        var bytes = [UInt8](repeating: 0, count: 64)
        unsafe bytes.withUnsafeMutableBufferPointer {
            unsafe BN_bn2binpad(ECDSA_SIG_get0_r(parsed), $0.baseAddress, 32)
            unsafe BN_bn2binpad(ECDSA_SIG_get0_s(parsed), $0.baseAddress?.advanced(by: 32), 32)
        }
        return bytes
    }
}

/// Returns the text that an OpenSSL PEM writer produces.
package func withPEM(_ call: String, _ write: (OpaquePointer) -> CInt) throws(LoopError) -> String {
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw .openSSL(.other, call: "BIO_new") }
    defer { unsafe BIO_free(bio) }
    guard unsafe write(bio) == 1 else { throw .openSSL(.badKey, call: call) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = unsafe Int(BIO_read(bio, &chunk, CInt(chunk.count))), count > 0 {
        text.append(contentsOf: chunk[..<count])
    }
    return String(decoding: text, as: UTF8.self)
}

/// Answers OpenSSL's request for a passphrase: there is none, and no prompt may appear.
private func noPassphrase(_: UnsafeMutablePointer<CChar>?, _: CInt, _: CInt, _: UnsafeMutableRawPointer?) -> CInt { -1 }
