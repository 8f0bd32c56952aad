internal import CFanfareUV

/// Base class of all objects that libuv calls back on a loop. `open` for the package's other modules; nobody else can make one.
open class Handle: RawHandle {
    /// The handle's loop, kept alive until libuv releases the handle; `nil` afterwards.
    package private(set) final var loop: Loop?

    init(_ loop: Loop, _ kind: uv_handle_type) {
        precondition(!loop.isClosed, "a handle cannot be made on a closed loop")
        self.loop = loop
        super.init(kind)
    }

    /// Makes the handle of a TCP socket, which libuv keeps until the handle is closed.
    /// - Parameter place: what an error names.
    package init(tcpOn loop: Loop, place: String? = nil) throws(LoopError) {
        precondition(!loop.isClosed, "a handle cannot be made on a closed loop")
        self.loop = loop
        super.init(UV_TCP)
        try unsafe check(uv_tcp_init(loop.raw, pointer()), "uv_tcp_init", at: place)
        adopt()
    }

    final func atTurnEnd() {
        guard !isClosed, !isListedForTurnEnd else { return }
        loop?.callAtTurnEnd(self)
    }

    override final func didClose() { loop = nil }
}
