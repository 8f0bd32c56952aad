internal import CFanfareOpenSSL

/// OpenSSL's queue of errors, one per thread. The code that gets a failure empties the queue here, so that no later call
/// finds another call's error.
enum OpenSSLErrors {
    struct Failure {
        /// One of OpenSSL's reason codes, such as `SSL_R_...`.
        let reason: CInt
        /// Text of the reason, for example `wrong version number`.
        let text: String
    }

    /// Returns the first error, or `nil` if there is none, and empties the queue.
    static func take() -> Failure? {
        let code = ERR_get_error()
        guard code != 0 else { return nil }
        defer { ERR_clear_error() }
        // ERR_GET_REASON is an inline function over these 23 bits (ERR_REASON_MASK, openssl/err.h).
        let reason = CInt(code & 0x7F_FFFF)
        guard let text = unsafe ERR_reason_error_string(code) else {
            return Failure(reason: reason, text: "OpenSSL error \(String(code, radix: 16))")
        }
        return unsafe Failure(reason: reason, text: String(cString: text))
    }
}

extension LoopError {
    /// Makes an error of a failed OpenSSL call, with the reason from OpenSSL's queue.
    package static func openSSL(
        _ kind: Kind, call: String, place: String? = nil, _ fallback: String = "failed"
    ) -> LoopError {
        LoopError(kind, call: call, place: place, reason: OpenSSLErrors.take()?.text ?? fallback)
    }
}
