internal import CFanfareUV

/// An error of a system call or library call, with the call, the place and the reason. `description` is a sentence for
/// people, for example `localhost:8443: connection refused (connect)`.
package struct LoopError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Kinds of errors that a program may distinguish; the text is for people.
    package enum Kind: Sendable, Hashable {
        /// Nothing listens at the address.
        case refused
        case unreachable
        case timedOut
        /// The connection was established and then lost: reset, broken, or closed without a close notification.
        case connectionLost
        case nameNotFound
        case addressInUse
        case permissionDenied
        case fileNotFound
        /// The process, or the machine, has reached its limit of open files and sockets.
        case tooManyFiles
        /// A file or a queue of unsent bytes exceeds its limit.
        case tooLarge
        /// The peer's certificate is not trusted, or is for another host.
        case certificate
        /// TLS could not be negotiated, or the peer broke it.
        case tls
        /// A key or certificate of ours is unusable.
        case badKey
        case other
    }

    package let kind: Kind
    /// Name of the failed call, as in the manual: `connect`, `uv_async_init`.
    package let call: String
    /// `host:port`, or a path; `nil` if the call has no place.
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
    /// Converts a libuv code; the only place that does.
    package init(code: CInt, call: String, place: String? = nil) {
        let reason =
            switch uv_errno_t(code) {
            case UV_EOF: "closed by the peer"
            default: unsafe String(cString: uv_strerror(code))
            }
        self.init(LoopError.kind(code), call: call, place: place, reason: reason)
    }

    private static func kind(_ code: CInt) -> Kind {
        switch uv_errno_t(code) {
        case UV_ECONNREFUSED: .refused
        // A kernel without that family of addresses returns the last two.
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

/// Returns a result of libuv, or throws it as an error that names the call.
@discardableResult
func check(_ code: CInt, _ call: String, at place: String? = nil) throws(LoopError) -> CInt {
    guard code >= 0 else { throw LoopError(code: code, call: call, place: place) }
    return code
}
