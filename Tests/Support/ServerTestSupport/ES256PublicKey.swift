internal import CFanfareOpenSSL
package import FanfareLoop

/// Public half of an `ES256PrivateKey`, by which simulators of APNs and tests verify what a client has signed. Any thread.
package struct ES256PublicKey: Sendable {
    private let key: P256Key

    fileprivate init(_ key: P256Key) { self.key = key }

    /// - Parameters:
    ///   - pem: `BEGIN PUBLIC KEY`, as `openssl ec -pubout` writes it.
    ///   - place: the file, for error messages.
    package init(pem: String, place: String = "public key") throws(LoopError) {
        let bytes = Array(pem.utf8)
        let read = bytes.withUnsafeBytes { bytes in
            Result { () throws(LoopError) in
                try P256Key(bytes, place, call: "PEM_read_bio_PUBKEY") {
                    PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in -1 }, nil)
                }
            }
        }
        key = try read.get()
    }

    /// Returns `true` if the signature is this key's signature of the message.
    /// - Parameter signature: 64 bytes, R then S; any other form is not a signature.
    package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let der = ES256PublicKey.der(raw: signature), let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()  // OpenSSL queues the reason why a signature is wrong
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.raw) == 1
            && EVP_DigestVerify(context, der, der.count, message, message.count) == 1
    }

    package func pem() throws(LoopError) -> String { try key.publicPEM() }

    /// Returns a signature as OpenSSL takes it; `nil` for what is not R then S.
    private static func der(raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 64, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let numbers = raw.withUnsafeBufferPointer {
            (BN_bin2bn($0.baseAddress, 32, nil), BN_bin2bn($0.baseAddress?.advanced(by: 32), 32, nil))
        }
        // `ECDSA_SIG_set0` takes ownership of both numbers.
        guard ECDSA_SIG_set0(signature, numbers.0, numbers.1) == 1 else { return nil }
        var start: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(signature, &start)
        guard let start, count > 0 else { return nil }
        defer { CRYPTO_free(start, nil, 0) }
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}

extension ES256PrivateKey {
    package var publicKey: ES256PublicKey { ES256PublicKey(key) }
}
