import FanfareLoop
import ServerTestSupport

/// A server that accepts TLS with ALPN `h2`, sends its lines, and ignores its input.
final class ScriptedServer {
    private var listener: TCPListener!  // set in init, which hands `self` to its callback
    private let context: TLSContext
    private let lines: [UInt8]
    private var streams: [TLSStream] = []
    private(set) var accepted = 0
    /// Connections that the client has ended.
    private(set) var ended = 0

    init(loop: Loop, scratch: Scratch, host: String = "127.0.0.1", says lines: [UInt8]) throws {
        context = try TLSContext.server(
            certificateFile: scratch.path("server.pem"), keyFile: scratch.path("server.key"))
        self.lines = lines
        listener = try TCPListener(loop: loop, host: host, port: 0) { [unowned self] in accept($0) }
    }

    var port: UInt16 { listener.port }

    private func accept(_ tcp: TCPStream) {
        guard let stream = try? TLSStream(accepting: tcp, context: context) else { return tcp.close() }
        accepted += 1
        streams.append(stream)
        stream.onReady = { [unowned self] _ in stream.write(lines) }
        stream.onRead = { _ in }
        stream.onClose = { [unowned self] _ in ended += 1 }
    }

    /// Frames of RFC 9113, written by hand.
    static let emptySettings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
    static let goAway: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0] + [0, 0, 0, 0] + [0, 0, 0, 0]
    /// PING on a stream: a connection error.
    static let wrongPing: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 0]
}
