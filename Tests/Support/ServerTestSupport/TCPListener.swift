internal import CFanfareUV
package import FanfareLoop

#if canImport(Glibc)
internal import Glibc
#endif

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
        try super.init(tcpOn: loop, place: "\(host):\(port)")
        do throws(LoopError) {
            try listen(on: Resolver.askSystem(host: host, port: port)[0], backlog)
        } catch {
            close()
            throw error
        }
    }

    private func listen(on address: SocketAddress, _ backlog: Int32) throws(LoopError) {
        // libuv reports a failed bind only at `listen`.
        let bound = address.withSocketAddress {
            uv_tcp_bind(pointer(), $0.assumingMemoryBound(to: sockaddr.self), 0)
        }
        try check(bound, "bind")
        try check(uv_listen(pointer(), backlog, connectionArrived), "listen")
        port = boundPort()
    }

    private func check(_ code: CInt, _ call: String) throws(LoopError) {
        guard code >= 0 else { throw LoopError(code: code, call: call, place: place) }
    }

    private func boundPort() -> UInt16 {
        var name = sockaddr_in6()
        var size = CInt(MemoryLayout<sockaddr_in6>.size)
        let code = withUnsafeMutablePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) { uv_tcp_getsockname(pointer(), $0, &size) }
        }
        // An address of either family has its port in this place.
        return code == 0 ? UInt16(bigEndian: name.sin6_port) : 0
    }

    package override func willClose() {
        onConnection = nil
        onError = nil
    }

    fileprivate func accept(_ status: CInt) {
        guard !isClosed, let loop else { return }
        do throws(LoopError) {
            try check(status, "accept")
            let stream = try TCPStream(loop: loop)
            try stream.accept(from: self, place)
            onConnection?(stream)
        } catch {
            onError?(error)
        }
    }
}

private func connectionArrived(_ listener: UnsafeMutablePointer<uv_stream_t>?, _ status: CInt) {
    owner(listener, as: TCPListener.self).accept(status)
}
