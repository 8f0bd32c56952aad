internal import CFanfareOpenSSL

/// OpenSSL keeps its errors in a queue per thread. Whoever gets a failure empties it here, so that no later call finds what
/// is not its own.
enum OpenSSLErrors {
    struct Failure {
        /// One of OpenSSL's `SSL_R_...` and the like.
        let reason: CInt
        /// For example `wrong version number`.
        let text: String
    }

    /// The first error; `nil` when there is none. Empties the queue.
    static func take() -> Failure? {
        let code = ERR_get_error()
        guard code != 0 else { return nil }
        defer { ERR_clear_error() }
        // ERR_GET_REASON is an inline function over these 23 bits (ERR_REASON_MASK, openssl/err.h).
        let reason = CInt(code & 0x7F_FFFF)
        guard let text = ERR_reason_error_string(code) else {
            return Failure(reason: reason, text: "OpenSSL error \(String(code, radix: 16))")
        }
        return Failure(reason: reason, text: String(cString: text))
    }
}

extension LoopError {
    /// A failed call of OpenSSL, with the reason that it left behind.
    static func openSSL(_ kind: Kind, call: String, place: String? = nil, _ fallback: String = "failed") -> LoopError {
        LoopError(kind, call: call, place: place, reason: OpenSSLErrors.take()?.text ?? fallback)
    }
}
