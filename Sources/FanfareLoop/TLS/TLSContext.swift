internal import CFanfareOpenSSL
internal import CFanfareStart

/// Settings that many TLS connections share, with the certificates that a client trusts. Offers TLS 1.2 and later, ALPN `h2`.
///
/// Read-only after `init`, so loops on several threads may share one. `Sendable` is unchecked because the compiler knows nothing of a
/// C pointer.
@safe package final class TLSContext: @unchecked Sendable {
    /// The OpenSSL context. Owned. OpenSSL counts its references with atomics and locks the parts that connections change.
    package let raw: OpaquePointer
    /// File of the certificates that a client trusts instead of the system's, as messages name it.
    let caFile: String?

    /// Makes a context that has neither trusted certificates nor any of its own yet.
    ///
    /// - Parameter method: OpenSSL's method for the role of the connections; `client` has a client's, and the servers of tests have their own.
    package init(_ method: OpaquePointer?, caFile: String? = nil) throws(LoopError) {
        // Links the object whose constructor has done so already.
        fanfare_keep_openssl()
        guard let raw = unsafe SSL_CTX_new(method) else {
            throw .openSSL(.tls, call: "SSL_CTX_new")
        }
        unsafe self.raw = raw
        self.caFile = caFile
        unsafe SSL_CTX_ctrl(raw, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        unsafe SSL_CTX_set_options(raw, TLSContext.noRenegotiation)
        guard unsafe SSL_CTX_set_cipher_list(raw, TLSContext.cipherList) == 1 else {
            throw .openSSL(.tls, call: "SSL_CTX_set_cipher_list")
        }
    }

    deinit { unsafe SSL_CTX_free(raw) }

    /// `SSL_OP_NO_RENEGOTIATION`, a macro that Swift does not import: SSL_OP_BIT(30), openssl/ssl.h. It ensures that a write
    /// never waits for a read.
    private static let noRenegotiation: UInt64 = 1 << 30
    /// Ciphers of TLS 1.2 that HTTP/2 permits: ephemeral keys and authenticated encryption (RFC 9113 §9.2.2 and appendix A).
    /// TLS 1.3 has no others.
    private static let cipherList = "ECDHE+AESGCM:ECDHE+CHACHA20"
    /// Protocol list of ALPN: a length, then the name (RFC 7301 §3.1).
    private static let http2: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]

    /// Makes a context for connections that we make. The peer's certificate must be valid for the host's name or address.
    /// - Parameter caFile: PEM with the trusted certificates; `nil` for the system's trust store.
    package static func client(caFile: String? = nil) throws(LoopError) -> TLSContext {
        let context = try unsafe TLSContext(TLS_client_method(), caFile: caFile)
        if let caFile {
            guard unsafe SSL_CTX_load_verify_file(context.raw, caFile) == 1 else {
                throw .openSSL(.badKey, call: "SSL_CTX_load_verify_file", place: caFile, "no certificate in it")
            }
        } else {
            guard unsafe SSL_CTX_set_default_verify_paths(context.raw) == 1 else {
                throw .openSSL(.tls, call: "SSL_CTX_set_default_verify_paths")
            }
        }
        unsafe SSL_CTX_set_verify(context.raw, SSL_VERIFY_PEER, nil)
        // This function returns zero on success, unlike all others.
        guard unsafe SSL_CTX_set_alpn_protos(context.raw, http2, UInt32(http2.count)) == 0 else {
            throw .openSSL(.tls, call: "SSL_CTX_set_alpn_protos")
        }
        return context
    }
}
