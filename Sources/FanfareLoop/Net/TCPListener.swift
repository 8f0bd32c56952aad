internal import CFanfareUV

/// Accepts TCP connections.
package final class TCPListener: Handle {
    /// Port that the listener uses, also if port 0 requested a free one.
    package private(set) var port: UInt16 = 0
    private let place: String
    private var onConnection: ((TCPStream) -> Void)?
    /// Called with an error when a connection could not be accepted; the listener goes on.
    package var onError: ((LoopError) -> Void)?

    /// Creates a listener. `onConnection` gets each connection before it reads: it sets the callbacks, then calls `resumeReading`.
    /// - Parameters:
    ///   - host: a numeric address, or a name whose first address is used (looked up before this returns).
    ///   - port: 0 requests a free port.
    ///   - backlog: maximum number of connections that wait to be accepted.
    package init(
        loop: Loop, host: String, port: UInt16, backlog: Int32 = 512, onConnection: @escaping (TCPStream) -> Void
    ) throws(LoopError) {
        place = "\(host):\(port)"
        self.onConnection = onConnection
        super.init(loop, UV_TCP)
        try unsafe check(uv_tcp_init(loop.raw, pointer()), "uv_tcp_init", at: place)
        adopt()
        do {
            try listen(on: Resolver.askSystem(host: host, port: port)[0], backlog)
        } catch {
            close()
            throw error
        }
    }

    private func listen(on address: SocketAddress, _ backlog: Int32) throws(LoopError) {
        // libuv reports a failed bind only at `listen`.
        try unsafe check(address.withSocketAddress { unsafe uv_tcp_bind(pointer(), $0, 0) }, "bind", at: place)
        try unsafe check(uv_listen(pointer(), backlog, connectionArrived), "listen", at: place)
        port = unsafe SocketAddress.name(of: pointer(), uv_tcp_getsockname)?.port ?? 0
    }

    override func willClose() {
        onConnection = nil
        onError = nil
    }

    fileprivate func accept(_ status: CInt) {
        guard !isClosed, let loop else { return }
        do {
            try check(status, "accept", at: place)
            let stream = try TCPStream(loop: loop)
            try unsafe stream.accept(from: pointer(), place)
            onConnection?(stream)
        } catch {
            onError?(error)
        }
    }
}

private func connectionArrived(_ listener: UnsafeMutablePointer<uv_stream_t>?, _ status: CInt) {
    unsafe owner(listener, as: TCPListener.self).accept(status)
}
