internal import CFanfareUV

#if canImport(Glibc)
internal import Glibc
#endif

/// An event loop: timers, sockets and wake-ups of one thread.
///
///     let loop = try Loop()
///     let timer = LoopTimer(loop: loop) { loop.stop() }
///     timer.start(after: .seconds(1))
///     loop.run()
///     loop.close()
///
/// All objects of a loop are confined to the thread that runs it; other threads may hold a `WakeupSignal` only. A turn of
/// the loop runs due timers, calls `onTurn`, does the work that streams have deferred (so the writes of one turn leave
/// together), sleeps until an event occurs, and calls the event's callbacks.
@safe package final class Loop {
    let raw: UnsafeMutablePointer<uv_loop_t>
    /// Handle that ends each turn: libuv calls it after timers and I/O callbacks and before it may sleep, so no work of this
    /// turn waits for the next event. (A `uv_check` runs after the sleep, too late for the work of timers.)
    private let turn: UnsafeMutablePointer<uv_prepare_t>
    /// Idle handle; libuv does not sleep while it is active.
    private let idleHandle: UnsafeMutablePointer<uv_idle_t>
    private var isIdleHandleActive = false

    /// Buffer that all streams read into, one after the other; its bytes are valid until the read callback returns.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Loop.readBytesMax, alignment: 64)
    /// Buffer of decrypted bytes, which are valid until the read callback returns.
    let plainBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Loop.readBytesMax, alignment: 64)
    /// Size of `readBuffer` and `plainBuffer`: four TLS records. A larger buffer gained nothing on loopback, and this one
    /// fits the second-level cache twice.
    static let readBytesMax = 64 * 1024

    /// Output memory that the loop's streams use one after the other.
    var spareMemory = SpareMemory()

    /// Requests other than handles that call back on this loop: files that are being read.
    var requests: [ObjectIdentifier: any LoopRequest] = [:]
    private var turnEnders: [RawHandle] = []
    private var turnEndersSpare: [RawHandle] = []
    private var isRunning = false
    private var closesAfterRun = false
    package private(set) var isClosed = false

    /// Called once per turn, after timers and I/O and before the loop may sleep: the place to act on the turn's events. It
    /// does not wake the loop; `turnAgain` does.
    package var onTurn: (() -> Void)?

    /// Creates a loop. The first loop of a process makes the process ignore SIGPIPE (a write to a connection that the peer
    /// has closed is an error value here) and opens /dev/null for closed standard descriptors.
    package init() throws(LoopError) {
        _ = Loop.processIsReady
        unsafe raw = .allocate(capacity: 1)
        unsafe turn = .allocate(capacity: 1)
        unsafe idleHandle = .allocate(capacity: 1)
        unsafe raw.initialize(to: uv_loop_t())
        let code = unsafe uv_loop_init(raw)
        guard code >= 0 else {
            isClosed = true
            // libuv 1.44 leaves its epoll descriptor open if it finds no descriptors for the rest.
            let left = unsafe uv_backend_fd(raw)
            if left > STDERR_FILENO { _ = Glibc.close(left) }
            free()
            throw LoopError(code: code, call: "uv_loop_init")
        }
        let unretained = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe uv_loop_set_data(raw, unretained)
        // These four calls cannot fail, except that the first does if this libuv lacks the option.
        _ = unsafe fanfare_uv_measure_idle_time(raw)
        unsafe uv_prepare_init(raw, turn)
        unsafe uv_idle_init(raw, idleHandle)
        unsafe uv_prepare_start(turn, turnEnding)
        // The loop's own handles do not keep it running.
        unsafe turn.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { unsafe uv_unref($0) }
    }

    deinit { close() }

    /// Number of turns that have ended. Between two events of different turns the loop has polled all its sockets.
    package private(set) var turns: UInt64 = 0

    /// Nanoseconds for which the loop has slept so far because there was no event. It spent the rest of the time working, or
    /// waiting for a processor.
    package var idleNanoseconds: Int64 { unsafe isClosed ? 0 : Int64(clamping: uv_metrics_idle_time(raw)) }

    private static let processIsReady: Void = {
        signal(SIGPIPE, SIG_IGN)
        // The loop's own descriptor would otherwise become standard input; libuv aborts when it closes one of the standard descriptors.
        StandardStreams.fill()
    }()

    /// Runs callbacks on the calling thread until `stop()`, or until no handle is left that could call back.
    package func run() {
        precondition(!isRunning, "a loop runs once at a time")
        guard !isClosed else { return }
        isRunning = true
        unsafe uv_run(raw, UV_RUN_DEFAULT)
        isRunning = false
        if closesAfterRun { close() }
    }

    /// Makes `run()` return at the end of this turn, or at once if it has not begun. Loop's thread only: other threads
    /// signal a `Wakeup` whose handler calls this.
    package func stop() {
        guard !isClosed else { return }
        unsafe uv_stop(raw)
    }

    /// Makes the next turn begin without sleeping, so that `onTurn` is called again soon, after the callbacks of other events.
    package func turnAgain() {
        guard !isClosed, !isIdleHandleActive else { return }
        isIdleHandleActive = true
        unsafe uv_idle_start(idleHandle, idleCallback)
    }

    /// Closes every open handle without calling its callbacks, and frees the loop. Safe twice. A call from within a callback
    /// closes the handles and stops the loop, and `run()` frees it before it returns.
    ///
    /// It blocks until a file read that has begun completes, because such a read cannot be cancelled.
    package func close() {
        guard !isClosed else { return }
        // The handles are closed now and not after the turn, because other timers may be due in the same turn.
        closeHandles()
        guard !isRunning else {
            closesAfterRun = true
            stop()
            return
        }
        isClosed = true
        turnEnders = []
        turnEndersSpare = []
        unsafe turn.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { unsafe uv_close($0, nil) }
        unsafe idleHandle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { unsafe uv_close($0, nil) }
        // `UV_EBUSY` lasts until the handles' close callbacks have run and the thread pool has finished its work.
        while unsafe uv_loop_close(raw) == UV_EBUSY.rawValue { unsafe uv_run(raw, UV_RUN_ONCE) }
        free()
    }

    private func closeHandles() {
        onTurn = nil
        for request in requests.values { request.cancel() }
        unsafe uv_walk(raw, closeFound, nil)
    }

    private func free() {
        unsafe readBuffer.deallocate()
        unsafe plainBuffer.deallocate()
        unsafe turn.deallocate()
        unsafe idleHandle.deallocate()
        unsafe raw.deallocate()
    }

    func callAtTurnEnd(_ handle: RawHandle) {
        handle.isListedForTurnEnd = true
        turnEnders.append(handle)
        // Work that is deferred outside a turn, or by other deferred work, must not wait for an event.
        turnAgain()
    }

    fileprivate func endTurn() {
        turns &+= 1
        if isIdleHandleActive {
            isIdleHandleActive = false
            unsafe uv_idle_stop(idleHandle)
        }
        onTurn?()
        guard !turnEnders.isEmpty else { return }
        swap(&turnEnders, &turnEndersSpare)
        for handle in turnEndersSpare {
            handle.isListedForTurnEnd = false
            if !handle.isClosed { handle.turnEnded() }
        }
        turnEndersSpare.removeAll(keepingCapacity: true)
    }

    fileprivate func owns(_ handle: UnsafeMutablePointer<uv_handle_t>) -> Bool {
        unsafe UnsafeRawPointer(handle) == UnsafeRawPointer(turn)
            || UnsafeRawPointer(handle) == UnsafeRawPointer(idleHandle)
    }
}

/// A request of libuv's thread pool whose completion arrives on the loop.
protocol LoopRequest: AnyObject {
    /// Stops calls into the program; libuv's own callback still comes if the work had begun.
    func cancel()
}

/// Returns the loop of a callback. It is alive, because callbacks come from `run` and `close`, which use it afterwards.
private func loop(of raw: UnsafeMutablePointer<uv_loop_t>) -> Loop {
    unsafe Unmanaged<Loop>.fromOpaque(uv_loop_get_data(raw)!).takeUnretainedValue()
}

private func turnEnding(_ handle: UnsafeMutablePointer<uv_prepare_t>?) {
    unsafe loop(of: handle!.pointee.loop).endTurn()
}

/// Does nothing: the idle handle only has to be active.
private func idleCallback(_: UnsafeMutablePointer<uv_idle_t>?) {}

private func closeFound(_ handle: UnsafeMutablePointer<uv_handle_t>?, _: UnsafeMutableRawPointer?) {
    guard let handle = unsafe handle, unsafe uv_is_closing(handle) == 0,
        unsafe !loop(of: handle.pointee.loop).owns(handle)
    else { return }
    unsafe owner(handle, as: RawHandle.self).close()
}
