internal import CFanfareUV

/// Base class of all objects that libuv calls back on a loop.
package class Handle: RawHandle {
    /// The handle's loop, kept alive until libuv releases the handle; `nil` afterwards.
    private(set) final var loop: Loop?

    init(_ loop: Loop, _ kind: uv_handle_type) {
        precondition(!loop.isClosed, "a handle cannot be made on a closed loop")
        self.loop = loop
        super.init(kind)
    }

    final func atTurnEnd() {
        guard !isClosed, !isListedForTurnEnd else { return }
        loop?.callAtTurnEnd(self)
    }

    override final func didClose() { loop = nil }
}
