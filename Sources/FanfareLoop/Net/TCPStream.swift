internal import CFanfareUV

#if canImport(Glibc)
internal import Glibc
#endif

/// A TCP connection.
///
/// Writes are copied and leave together at the end of the loop's turn, so many small writes cost one system call. The program sets
/// the callbacks before `connect` or `resumeReading`. Both directions end together: when the peer ends its direction, the stream
/// tries once to send its queue and drops the rest; `close()` drops it, too. No callback is called after `onClose` or `close()`.
@safe package final class TCPStream: ReadingHandle {
    /// Called when the connection is established; only after `connect`, and before anything is read.
    package var onConnect: (() -> Void)?
    /// Called with the bytes of each read, which are valid during the call.
    package var onRead: ((UnsafeRawBufferPointer) -> Void)?
    /// Called when the system has accepted everything written; at most once per turn, and only after a write.
    package var onDrain: (() -> Void)?
    /// Called when the connection has ended and the stream is closed: with `nil` if the peer ended it in order, otherwise with the error.
    package var onClose: ((LoopError?) -> Void)?
    /// Called at the end of a turn, before its writes leave, for work of `TLSStream`.
    var onTurnEnd: (() -> Void)?
    /// Called, for `TLSStream`, when the program or its loop closes the stream; `onClose` covers every other end.
    var onDropped: (() -> Void)?

    /// `host:port` of the peer, as messages name it.
    package private(set) var peer = ""
    /// Maximum of `writeQueueBytes`; the connection fails above it, because a queue that the peer does not read and that the
    /// program does not hold back is an attack or a bug.
    package var writeQueueBytesMax = 64 << 20

    private enum Phase { case idle, connecting, open }
    private var phase = Phase.idle
    private var isPaused = false
    /// How far the end in order is that `finish` asks for.
    private enum Finish { case notAsked, asked, shutDown }
    private var finishing = Finish.notAsked
    /// Error that occurred where no callback may be called; reported at the end of the turn.
    private var failure: Failure?

    private struct Failure {
        let error: LoopError
        /// `true` once a write has failed, now or later: the system may still hold bytes that the peer sent before it went.
        var isOfWrite: Bool
    }

    private var queue = WriteQueue()
    private var unsentAtEnd: Int?
    private let requests = Requests()

    /// Idle time after which the system probes the peer, on a connection that we made. It is shorter than the time after
    /// which routers forget an idle connection, four minutes for some.
    private static let keepaliveSeconds: UInt32 = 60

    /// Bytes that are gathered before they are sent without waiting for the end of the turn.
    private static let gatheredBytesMax = 128 * 1024

    package init(loop: Loop) throws(LoopError) {
        try super.init(tcpOn: loop)
        // The requests complete before the handle's close callback, so the handle's retain covers them.
        let unretained = unsafe Unmanaged.passUnretained(self as Handle).toOpaque()
        unsafe requests.connect.pointee.data = unretained
        unsafe requests.write.pointee.data = unretained
    }

    /// Memory of libuv's requests, each of which is in flight at most once.
    @safe private struct Requests: ~Copyable {
        let connect = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        let write = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
        let shutdown = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)

        deinit {
            unsafe connect.deallocate()
            unsafe write.deallocate()
            unsafe shutdown.deallocate()
        }
    }

    // MARK: Beginning

    /// Connects, then reads. The result is `onConnect` or `onClose`, never before this returns. Writes may begin at once.
    /// - Parameter name: the host's name in messages.
    package func connect(to address: SocketAddress, name: String? = nil) {
        guard !isClosed, phase == .idle else { return }
        phase = .connecting
        peer = name.map { "\($0):\(address.port)" } ?? address.description
        unsafe uv_tcp_nodelay(pointer(), 1)
        let code = unsafe address.withSocketAddress {
            unsafe uv_tcp_connect(
                requests.connect, pointer(), $0.assumingMemoryBound(to: sockaddr.self), streamConnected)
        }
        if code < 0 { failLater(LoopError(code: code, call: "connect", place: peer)) }
    }

    /// Takes the next connection of a listener, which is paused: nothing is read before `resumeReading`.
    /// - Parameter place: the listener's address, as messages name it.
    package func accept(from listener: Handle, _ place: String) throws(LoopError) {
        let code = unsafe uv_accept(listener.pointer(), pointer())
        guard code >= 0 else {
            close()
            throw LoopError(code: code, call: "accept", place: place)
        }
        peer = unsafe SocketAddress.name(of: pointer(), uv_tcp_getpeername)?.description ?? "peer of \(place)"
        unsafe uv_tcp_nodelay(pointer(), 1)
        phase = .open
        isPaused = true
    }

    fileprivate func connected(_ code: CInt) {
        guard !isClosed else { return }
        guard code >= 0 else { return end(LoopError(code: code, call: "connect", place: peer)) }
        unsafe uv_tcp_keepalive(pointer(), 1, TCPStream.keepaliveSeconds)
        phase = .open
        if !isPaused { readNow() }
        atTurnEnd()  // sends the bytes written meanwhile
        onConnect?()
    }

    var isConnected: Bool { phase == .open }

    // MARK: Reading

    /// Stops `onRead` until `resumeReading`; the system's buffer fills, and the peer is held back.
    package func pauseReading() {
        isPaused = true
        stopReading()
    }

    package func resumeReading() {
        isPaused = false
        if phase == .open { readNow() }
    }

    private func readNow() {
        let code = startReading()
        if code < 0 { failLater(LoopError(code: code, call: "uv_read_start", place: peer)) }
    }

    override func received(_ bytes: UnsafeRawBufferPointer) { unsafe onRead?(bytes) }

    override func ended(_ code: CInt) {
        if uv_errno_t(code) == UV_EOF {
            let failure = self.failure
            transmit()
            return end(failure?.error)
        }
        end(LoopError(code: code, call: "read", place: peer))
    }

    // MARK: Writing

    /// Bytes written that the system has not yet accepted.
    package var writeQueueBytes: Int { queue.count }

    /// Bytes written that the system has not accepted, exact to the byte for the write in flight; for a closed stream, the
    /// bytes that never left.
    var unsentBytes: Int {
        unsafe unsentAtEnd
            ?? queue.unsentBytes(inFlight: queue.isSending ? uv_stream_get_write_queue_size(pointer()) : 0)
    }

    /// Queues bytes; never blocks and never refuses. A program that writes without limit checks `writeQueueBytes` and waits
    /// for `onDrain`.
    package func write(_ bytes: UnsafeRawBufferPointer) {
        guard !isClosed, finishing == .notAsked, failure == nil, unsafe !bytes.isEmpty else { return }
        guard writeQueueBytes + bytes.count <= writeQueueBytesMax else {
            return failLater(
                LoopError(
                    .tooLarge, call: "write", place: peer,
                    reason: "the peer does not read: \(writeQueueBytes) bytes wait, \(writeQueueBytesMax) may"))
        }
        unsafe queue.append(bytes) { loop?.spareMemory.lend(to: &$0) }
        atTurnEnd()
        if queue.gatheredBytes >= TCPStream.gatheredBytesMax { transmit() }
    }

    package func write(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe write($0) } }

    /// Ends in order: the queued bytes leave, then the peer learns that no more follow. Reading goes on, unless paused, and
    /// `onClose` is called when the peer has ended too. `close` ends the wait.
    package func finish() {
        guard !isClosed, finishing == .notAsked else { return }
        finishing = .asked
        atTurnEnd()
    }

    /// Hands the gathered bytes to the system as one write; the rest goes to libuv, one request at a time.
    func transmit() {
        guard !isClosed, phase == .open, failure == nil else { return }
        guard let bytes = unsafe queue.beginWrite() else { return }
        var buffer = unsafe TCPStream.buffer(bytes)
        let taken = unsafe uv_try_write(pointer(), &buffer, 1)
        if taken < 0, uv_errno_t(taken) != UV_EAGAIN {
            return failToWrite(taken)
        }
        let left = unsafe queue.accepted(Int(max(0, taken))) { loop?.spareMemory.takeBack(&$0) }
        guard let left = unsafe left else { return }
        var rest = unsafe TCPStream.buffer(left)
        let code = unsafe uv_write(requests.write, pointer(), &rest, 1, streamWritten)
        guard code >= 0 else { return failToWrite(code) }
        queue.requested()
    }

    private static func buffer(_ bytes: UnsafeRawBufferPointer) -> uv_buf_t {
        // libuv declares the bytes as mutable, although it only reads them.
        unsafe uv_buf_init(
            UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
            UInt32(bytes.count))
    }

    fileprivate func written(_ code: CInt) {
        queue.written { loop?.spareMemory.takeBack(&$0) }
        guard !isClosed else { return }
        guard code >= 0 else { return failToWrite(code) }
        atTurnEnd()
    }

    override func turnEnded() {
        if let failure { return end(after: failure) }
        guard phase == .open else { return }
        onTurnEnd?()
        transmit()
        if let failure { return end(after: failure) }
        guard !isClosed, !queue.isSending else { return }
        guard finishing == .notAsked else { return shutDown() }
        if let onDrain, queue.takeDrain() {
            // The work of the callback must not wait for the next event.
            loop?.turnAgain()
            onDrain()
        }
    }

    private func shutDown() {
        guard finishing == .asked else { return }
        finishing = .shutDown
        // A failure here means that the connection has already ended; a read reports that.
        unsafe uv_shutdown(requests.shutdown, pointer(), streamShutDown)
    }

    // MARK: End

    func failLater(_ error: LoopError) { failLater(Failure(error: error, isOfWrite: false)) }

    private func failToWrite(_ code: CInt) {
        failure?.isOfWrite = true
        failLater(Failure(error: LoopError(code: code, call: "write", place: peer), isOfWrite: true))
    }

    private func failLater(_ first: Failure) {
        guard failure == nil else { return }
        failure = first
        atTurnEnd()
    }

    /// Ends the stream after it has passed on what the peer sent before the write failed: a peer that resets the connection may have
    /// answered, and have said why it goes.
    private func end(after failure: Failure) {
        if failure.isOfWrite, phase == .open, !isPaused { readRest() }
        guard !isClosed else { return }
        end(failure.error)
    }

    /// Most bytes that are read after a write has failed; a connection that is gone brings no more than the system's buffer holds.
    private static let restBytesMax = 16 << 20

    /// Passes on the bytes that the system still holds. libuv would read them in its next turn only, and not at all if the write's
    /// error left the connection alive.
    private func readRest() {
        var socket: uv_os_fd_t = -1
        guard let buffer = unsafe loop?.readBuffer, unsafe uv_fileno(pointer(), &socket) == 0 else { return }
        var left = TCPStream.restBytesMax
        while left > 0, !isClosed, !isPaused {
            let count = unsafe recv(socket, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { return }
            left -= count
            unsafe received(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private func end(_ error: LoopError?) {
        let onClose = self.onClose
        onDropped = nil
        close()
        onClose?(error)
    }

    package override func willClose() {
        unsentAtEnd = unsentBytes
        onConnect = nil
        unsafe onRead = nil
        onDrain = nil
        onClose = nil
        onTurnEnd = nil
        let onDropped = self.onDropped
        self.onDropped = nil
        onDropped?()
    }
}

extension SocketAddress {
    /// Returns the address of one side of a socket.
    static func name(
        of socket: UnsafePointer<uv_tcp_t>,
        _ get: (UnsafePointer<uv_tcp_t>?, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<CInt>?) -> CInt
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var size = CInt(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe get(socket, $0, &size) == 0 ? SocketAddress($0) : nil
            }
        }
    }
}

private func stream(of data: UnsafeMutableRawPointer?) -> TCPStream {
    // `TCPStream.init` set the data of its requests to itself.
    unsafe unsafeDowncast(Unmanaged<Handle>.fromOpaque(data!).takeUnretainedValue(), to: TCPStream.self)
}

private func streamConnected(_ request: UnsafeMutablePointer<uv_connect_t>?, _ status: CInt) {
    unsafe stream(of: request?.pointee.data).connected(status)
}

private func streamWritten(_ request: UnsafeMutablePointer<uv_write_t>?, _ status: CInt) {
    unsafe stream(of: request?.pointee.data).written(status)
}

/// Ignores the result: the peer's behaviour shows whether the shutdown arrived.
private func streamShutDown(_: UnsafeMutablePointer<uv_shutdown_t>?, _: CInt) {}
