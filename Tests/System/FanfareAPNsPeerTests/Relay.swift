import FanfareLoop
import ServerTestSupport

/// Passes bytes between clients and a server until it falls silent: connections then stay open without any traffic, as
/// when a router forgets them.
final class Relay {
    private var listener: TCPListener!  // set in init, which hands `self` to its callback
    private let loop: Loop
    private let target: SocketAddress?
    private var streams: [TCPStream] = []
    var isSilent = false
    /// Whether new connections are closed.
    var isClosed = false
    /// Called for traffic in either direction.
    var onBytes: (() -> Void)?

    /// Number of connections that carry traffic; further ones are accepted and stay silent.
    var carriesAtMost = Int.max
    private var carried = 0

    /// Creates a relay; without a target it accepts connections and stays silent.
    init(loop: Loop, to target: SocketAddress?) throws {
        self.loop = loop
        self.target = target
        listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { [unowned self] in accept($0) }
    }

    var port: UInt16 { listener.port }

    /// Ends all connections; new ones are passed on as before.
    func cut() {
        for stream in streams { stream.close() }
        streams = []
    }

    private func accept(_ client: TCPStream) {
        guard !isClosed else { return client.close() }
        streams.append(client)
        client.onClose = { _ in }
        carried += 1
        guard carried <= carriesAtMost, let target, let server = try? TCPStream(loop: loop) else {
            return client.resumeReading()
        }
        streams.append(server)
        pass(from: client, to: server)
        pass(from: server, to: client)
        server.connect(to: target)
        client.resumeReading()
    }

    private func pass(from: TCPStream, to: TCPStream) {
        from.onRead = { [unowned self] in
            onBytes?()
            if !isSilent { to.write($0) }
        }
        from.onClose = { [unowned self] _ in if !isSilent { to.close() } }
    }
}
