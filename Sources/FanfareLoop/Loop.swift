internal import CFanfareUV

#if canImport(Glibc)
internal import Glibc
#endif

/// An event loop: one thread's timers, sockets and wake-ups.
///
///     let loop = try Loop()
///     let timer = LoopTimer(loop: loop) { loop.stop() }
///     timer.start(after: .seconds(1))
///     loop.run()
///     loop.close()
///
/// Everything that lives on a loop is confined to the thread that runs it; `WakeupSignal` is the only thing other threads
/// may hold. A turn of the loop: timers, then `onTurn`, then what streams have put off (writes of one turn leave
/// together), then sleep until something happens, then its callbacks.
package final class Loop {
    let raw: UnsafeMutablePointer<uv_loop_t>
    /// Ends each turn: libuv calls it after timers and I/O callbacks and before it may sleep, so nothing that was done
    /// in this turn waits for the next event. (A `uv_check` runs after the sleep, too late for what timers did.)
    private let turn: UnsafeMutablePointer<uv_prepare_t>
    /// While active, libuv does not sleep.
    private let restless: UnsafeMutablePointer<uv_idle_t>
    private var isRestless = false

    /// Streams read into this one after the other: bytes are valid until the read callback returns.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Loop.readBytesMax, alignment: 64)
    /// Decrypted bytes, likewise.
    let plainBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Loop.readBytesMax, alignment: 64)
    /// Four TLS records; a bigger buffer brought nothing on loopback, and it fits the second-level cache twice.
    static let readBytesMax = 64 * 1024

    /// Streams write from this one after the other.
    var spareMemory = SpareMemory()

    /// What else calls back on this loop: files that are being read.
    var requests: [ObjectIdentifier: any LoopRequest] = [:]
    private var turnEnders: [Handle] = []
    private var turnEndersSpare: [Handle] = []
    private var isRunning = false
    private var closesAfterRun = false
    package private(set) var isClosed = false

    /// Called once per turn after timers and I/O and before the loop may sleep: the place to act on what the turn
    /// brought. It is no reason for the loop to wake up; `turnAgain` is.
    package var onTurn: (() -> Void)?

    /// The first one in a process makes it ignore SIGPIPE (writing to a connection that the peer has closed is an error
    /// value here) and opens /dev/null for standard descriptors that are closed.
    package init() throws(LoopError) {
        _ = Loop.processIsReady
        raw = .allocate(capacity: 1)
        turn = .allocate(capacity: 1)
        restless = .allocate(capacity: 1)
        raw.initialize(to: uv_loop_t())
        let code = uv_loop_init(raw)
        guard code >= 0 else {
            isClosed = true
            // libuv 1.44 leaves its epoll descriptor open when it finds none for the rest.
            let left = uv_backend_fd(raw)
            if left > STDERR_FILENO { _ = Glibc.close(left) }
            free()
            throw LoopError(code: code, call: "uv_loop_init")
        }
        let unretained = Unmanaged.passUnretained(self).toOpaque()
        uv_loop_set_data(raw, unretained)
        // These four calls have no way to fail: the first one does for options that this libuv does not have.
        _ = fanfare_uv_measure_idle_time(raw)
        uv_prepare_init(raw, turn)
        uv_idle_init(raw, restless)
        uv_prepare_start(turn, turnEnding)
        // The loop's own handles are no reason to go on running.
        turn.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { uv_unref($0) }
    }

    deinit { close() }

    /// Turns that have ended: what comes in another one than something else comes after the loop has looked at all sockets.
    package private(set) var turns: UInt64 = 0

    /// Nanoseconds for which the loop has slept so far, because nothing had happened. The rest of the time it was at work, or waited for
    /// a processor.
    package var idleNanoseconds: Int64 { isClosed ? 0 : Int64(clamping: uv_metrics_idle_time(raw)) }

    private static let processIsReady: Void = {
        signal(SIGPIPE, SIG_IGN)
        // The loop's own descriptor would become standard input; libuv aborts when it is to close such a one.
        StandardStreams.fill()
    }()

    /// Runs callbacks on the calling thread until `stop()`, or until no handle is left that could ever call back.
    package func run() {
        precondition(!isRunning, "a loop runs once at a time")
        guard !isClosed else { return }
        isRunning = true
        uv_run(raw, UV_RUN_DEFAULT)
        isRunning = false
        if closesAfterRun { close() }
    }

    /// Makes `run()` return at the end of this turn; before `run()`, makes that return at once. Loop's thread only: other
    /// threads signal a `Wakeup` whose handler calls this.
    package func stop() {
        guard !isClosed else { return }
        uv_stop(raw)
    }

    /// The next turn begins without sleeping, so `onTurn` is called again soon, after other callbacks had their chance.
    package func turnAgain() {
        guard !isClosed, !isRestless else { return }
        isRestless = true
        uv_idle_start(restless, stayAwake)
    }

    /// Closes every handle that is still open, without calling anybody back, and frees the loop. Safe twice. From within a
    /// callback it closes the handles and stops the loop, and `run()` frees it before it returns.
    ///
    /// A read of a file that has begun cannot be called back, and is waited for.
    package func close() {
        guard !isClosed else { return }
        // Now, not after the turn: other timers may be due in this same one.
        closeHandles()
        guard !isRunning else {
            closesAfterRun = true
            stop()
            return
        }
        isClosed = true
        turnEnders = []
        turnEndersSpare = []
        turn.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { uv_close($0, nil) }
        restless.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { uv_close($0, nil) }
        // Busy until the handles' close callbacks have run and the thread pool has let go of what it works on.
        while uv_loop_close(raw) == UV_EBUSY.rawValue { uv_run(raw, UV_RUN_ONCE) }
        free()
    }

    private func closeHandles() {
        onTurn = nil
        for request in requests.values { request.cancel() }
        uv_walk(raw, closeFound, nil)
    }

    private func free() {
        readBuffer.deallocate()
        plainBuffer.deallocate()
        turn.deallocate()
        restless.deallocate()
        raw.deallocate()
    }

    func callAtTurnEnd(_ handle: Handle) {
        turnEnders.append(handle)
        // What is put off outside a turn, or by another one that was put off, must not wait for an event.
        turnAgain()
    }

    fileprivate func endTurn() {
        turns &+= 1
        if isRestless {
            isRestless = false
            uv_idle_stop(restless)
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
        UnsafeRawPointer(handle) == UnsafeRawPointer(turn) || UnsafeRawPointer(handle) == UnsafeRawPointer(restless)
    }
}

/// What has libuv's thread pool work for it, and hears of it on the loop.
protocol LoopRequest: AnyObject {
    /// No callback reaches the program any more; libuv's own still comes where the work had begun.
    func cancel()
}

/// The loop a callback belongs to. It is alive: callbacks come from `run` and `close`, which use it afterwards.
private func loop(of raw: UnsafeMutablePointer<uv_loop_t>) -> Loop {
    Unmanaged<Loop>.fromOpaque(uv_loop_get_data(raw)!).takeUnretainedValue()
}

private func turnEnding(_ handle: UnsafeMutablePointer<uv_prepare_t>?) { loop(of: handle!.pointee.loop).endTurn() }

/// Being active is all that the idle handle is for.
private func stayAwake(_: UnsafeMutablePointer<uv_idle_t>?) {}

private func closeFound(_ handle: UnsafeMutablePointer<uv_handle_t>?, _: UnsafeMutableRawPointer?) {
    guard let handle, uv_is_closing(handle) == 0, !loop(of: handle.pointee.loop).owns(handle) else { return }
    owner(handle, as: Handle.self).close()
}
