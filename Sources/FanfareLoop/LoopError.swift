internal import CFanfareUV

/// What went wrong at the edge to the system: which call, where, why. `description` is a sentence for people, for example
/// `localhost:8443: connection refused (connect)`.
package struct LoopError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What a program may want to tell apart; the text is for people.
    package enum Kind: Sendable, Hashable {
        /// Nobody listens there.
        case refused
        case unreachable
        case timedOut
        /// The connection was there and is lost: reset, broken, or closed without a farewell.
        case connectionLost
        case nameNotFound
        case addressInUse
        case permissionDenied
        case fileNotFound
        /// This process, or the machine, may open no more files and sockets.
        case tooManyFiles
        /// A file, or a queue of unsent bytes, beyond its limit.
        case tooLarge
        /// The peer's certificate is not trusted, or is for somebody else.
        case certificate
        /// TLS could not be agreed upon, or was broken.
        case tls
        /// A key or certificate of ours that cannot be used.
        case badKey
        case other
    }

    package let kind: Kind
    /// The call that failed, as in the manual: `connect`, `uv_async_init`.
    package let call: String
    /// `host:port`, or a path; `nil` where the call has no place.
    package let place: String?
    package let reason: String

    package init(_ kind: Kind, call: String, place: String? = nil, reason: String) {
        self.kind = kind
        self.call = call
        self.place = place
        self.reason = reason
    }

    package var description: String {
        if let place { return "\(place): \(reason) (\(call))" }
        return "\(call): \(reason)"
    }
}

extension LoopError {
    /// The one place where codes of libuv become errors.
    init(code: CInt, call: String, place: String? = nil) {
        let reason =
            switch uv_errno_t(code) {
            case UV_EOF: "closed by the peer"
            default: String(cString: uv_strerror(code))
            }
        self.init(LoopError.kind(code), call: call, place: place, reason: reason)
    }

    private static func kind(_ code: CInt) -> Kind {
        switch uv_errno_t(code) {
        case UV_ECONNREFUSED: .refused
        // The last two are a kernel's without that family of addresses.
        case UV_ENETUNREACH, UV_EHOSTUNREACH, UV_ENETDOWN, UV_EADDRNOTAVAIL, UV_EAFNOSUPPORT, UV_EPROTONOSUPPORT:
            .unreachable
        case UV_ETIMEDOUT: .timedOut
        case UV_ECONNRESET, UV_EPIPE, UV_ECONNABORTED, UV_EOF, UV_ENOTCONN: .connectionLost
        case UV_EADDRINUSE: .addressInUse
        case UV_EACCES, UV_EPERM: .permissionDenied
        case UV_ENOENT: .fileNotFound
        case UV_EMFILE, UV_ENFILE: .tooManyFiles
        default: .other
        }
    }
}

extension uv_errno_t {
    init(_ code: CInt) { self.init(rawValue: code) }
}

/// Passes a result of libuv on, or throws it as an error that knows the call.
@discardableResult
func check(_ code: CInt, _ call: String, at place: String? = nil) throws(LoopError) -> CInt {
    guard code >= 0 else { throw LoopError(code: code, call: call, place: place) }
    return code
}
