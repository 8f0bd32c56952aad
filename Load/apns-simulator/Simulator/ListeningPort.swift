internal import FanfareLoop
internal import ServerTestSupport

/// The port of a simulator, and its listener while it listens.
struct ListeningPort {
    /// The listener's port; before the first listener the wanted one, where 0 means any.
    private(set) var number: UInt16
    private var listener: TCPListener?

    init(_ number: UInt16) { self.number = number }

    mutating func open(
        _ loop: Loop, host: String, onConnection: @escaping (TCPStream) -> Void
    ) throws(LoopError) {
        listener = try TCPListener(loop: loop, host: host, port: number, onConnection: onConnection)
        number = listener?.port ?? 0
    }

    mutating func close() {
        listener?.close()
        listener = nil
    }
}
