internal import CFanfareUV

#if canImport(Glibc)
internal import Glibc
#endif

/// Reads a file, a pipe or a terminal as a stream of chunks on the loop: standard input for live feeds, or a recording.
///
///     let source = try ByteSource.standardInput(loop: loop)
///     source.onBytes = { … }
///     source.onEnd = { error in … }
///     source.resume()
///
/// A chunk is delivered as soon as there are bytes, at most 64 KB at a time. Loop's thread only.
@safe package final class ByteSource {
    /// Called with each chunk, which is valid during the call.
    package var onBytes: ((UnsafeRawBufferPointer) -> Void)?
    /// Called at the end, when the source is closed: with `nil` at the end of the input, otherwise with the error that stopped reading.
    package var onEnd: ((LoopError?) -> Void)?
    /// `standard input`, or the path.
    package let name: String

    private enum Backing {
        /// A descriptor that can be polled: a pipe, a socket or a terminal.
        case stream(StreamBytes)
        /// A descriptor that cannot be polled but is always ready: a regular file or a device such as /dev/null, read by the thread pool.
        case file(FileBytes)
        case closed
    }
    private var backing: Backing

    package static func standardInput(loop: Loop) throws(LoopError) -> ByteSource {
        try ByteSource(loop: loop, descriptor: STDIN_FILENO, name: "standard input")
    }

    package static func file(loop: Loop, path: String) throws(LoopError) -> ByteSource {
        let descriptor = try openForReading(path)
        do {
            return try ByteSource(loop: loop, descriptor: descriptor, name: path)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Creates a paused source. It takes ownership of the descriptor and closes it, unless it is one of the standard three;
    /// the caller still owns it after an error.
    package init(loop: Loop, descriptor: Int32, name: String) throws(LoopError) {
        self.name = name
        switch uv_guess_handle(descriptor) {
        case UV_TTY: backing = .stream(try StreamBytes(loop, terminal: descriptor, name))
        case UV_NAMED_PIPE, UV_TCP: backing = .stream(try StreamBytes(loop, pipe: descriptor, name))
        // Other descriptors include unreadable ones, such as a directory: the first read reports the error.
        default: backing = .file(FileBytes(loop, descriptor, name))
        }
        if case .stream(let stream) = backing { stream.source = self }
    }

    package func resume() {
        switch backing {
        case .stream(let stream): stream.resume()
        case .file(let file): file.resume(for: self)
        case .closed: break
        }
    }

    /// Stops `onBytes` until `resume`.
    package func pause() {
        switch backing {
        case .stream(let stream): stream.stopReading()
        case .file(let file): file.pause()
        case .closed: break
        }
    }

    /// Closes the source. Safe at any time, also twice and from its own callbacks; no callback is called afterwards.
    package func close() {
        unsafe onBytes = nil
        onEnd = nil
        switch backing {
        case .stream(let stream): stream.close()
        case .file(let file): file.close()
        case .closed: break
        }
        backing = .closed
    }

    fileprivate func ended(_ error: LoopError?) {
        let onEnd = self.onEnd
        close()
        onEnd?(error)
    }
}

private final class StreamBytes: ReadingHandle {
    /// The source. libuv retains this object, and this object retains the source.
    var source: ByteSource?
    private let name: String
    private var failure: LoopError?

    init(_ loop: Loop, terminal descriptor: CInt, _ name: String) throws(LoopError) {
        self.name = name
        super.init(loop, UV_TTY)
        // libuv opens the terminal again, so making it non-blocking does not affect our standard error.
        try unsafe check(uv_tty_init(loop.raw, pointer(), descriptor, 0), "uv_tty_init", at: name)
        adopt()
    }

    init(_ loop: Loop, pipe descriptor: CInt, _ name: String) throws(LoopError) {
        self.name = name
        super.init(loop, UV_NAMED_PIPE)
        unsafe uv_pipe_init(loop.raw, pointer(), 0)  // cannot fail
        adopt()
        let code = unsafe uv_pipe_open(pointer(), descriptor)
        guard code >= 0 else {
            close()
            throw LoopError(code: code, call: "uv_pipe_open", place: name)
        }
    }

    func resume() {
        let code = startReading()
        guard code < 0 else { return }
        failure = LoopError(code: code, call: "uv_read_start", place: name)
        atTurnEnd()
    }

    override func turnEnded() { if let failure { source?.ended(failure) } }
    override func received(_ bytes: UnsafeRawBufferPointer) { unsafe source?.onBytes?(bytes) }

    override func ended(_ code: CInt) {
        source?.ended(uv_errno_t(code) == UV_EOF ? nil : LoopError(code: code, call: "read", place: name))
    }

    override func willClose() {
        let source = self.source
        self.source = nil
        source?.close()
    }
}

/// Reads a file in the thread pool, one read at a time.
@safe private final class FileBytes: LoopRequest {
    /// The source that gets the bytes. From the first `resume` to the end the loop retains this object, and this object
    /// retains the source.
    private var source: ByteSource?
    private let loop: Loop
    private let descriptor: CInt
    private let name: String
    private let request = UnsafeMutablePointer<uv_fs_t>.allocate(capacity: 1)
    /// A buffer of its own instead of the loop's, because the pool writes into it while the loop does other work.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 64)
    private var isReading = false
    private var isPaused = true
    private var isClosed = false
    /// Result of a read that completed after `pause`; the next `resume` delivers it.
    private var arrived: Int?

    init(_ loop: Loop, _ descriptor: CInt, _ name: String) {
        self.loop = loop
        self.descriptor = descriptor
        self.name = name
    }

    deinit {
        if descriptor > STDERR_FILENO { Glibc.close(descriptor) }
        unsafe request.deallocate()
        unsafe buffer.deallocate()
    }

    func resume(for source: ByteSource) {
        guard !isClosed, !loop.isClosed else { return }
        self.source = source
        loop.requests[ObjectIdentifier(self)] = self
        isPaused = false
        readOn()
    }

    func pause() { isPaused = true }

    func close() {
        isClosed = true
        source = nil
        if !isReading { loop.requests[ObjectIdentifier(self)] = nil }
    }

    func cancel() {
        source?.close()
        if isReading { unsafe request.withMemoryRebound(to: uv_req_t.self, capacity: 1) { _ = unsafe uv_cancel($0) } }
    }

    private func readOn() {
        guard !isPaused, !isClosed, !isReading else { return }
        isReading = true
        // A result that arrived after `pause` is delivered from the loop as well; a read of zero bytes brings us there.
        var space = unsafe uv_buf_init(
            buffer.baseAddress?.assumingMemoryBound(to: CChar.self), arrived == nil ? UInt32(buffer.count) : 0)
        // Reads from the descriptor's current position, because standard input may have been read before.
        unsafe request.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        unsafe uv_fs_read(loop.raw, request, descriptor, &space, 1, -1, fileRead)  // errors come back with the result
    }

    fileprivate func finish() {
        var result = unsafe request.pointee.result
        unsafe uv_fs_req_cleanup(request)
        isReading = false
        if let arrived, result >= 0 { result = arrived }
        arrived = nil
        guard !isClosed, let source else {
            loop.requests[ObjectIdentifier(self)] = nil
            return
        }
        guard !isPaused else {
            arrived = result
            return
        }
        if result < 0 {
            source.ended(LoopError(code: CInt(result), call: "read", place: name))
        } else if result == 0 {
            source.ended(nil)
        } else {
            unsafe source.onBytes?(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<result]))
            readOn()
        }
    }
}

private func fileRead(_ request: UnsafeMutablePointer<uv_fs_t>?) {
    // `readOn` set the data, and `Loop.requests` retains the object while a read is in flight.
    unsafe Unmanaged<FileBytes>.fromOpaque(request!.pointee.data).takeUnretainedValue().finish()
}
