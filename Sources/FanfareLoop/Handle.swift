internal import CFanfareUV

/// What everything that libuv calls back has in common: memory that libuv may use until it says otherwise.
///
/// Confined to its loop's thread. From a successful start until the close callback libuv holds one retain of the object, so
/// a program may drop its own reference and the handle goes on; `close()`, or the loop's `close()`, is what ends it.
package class Handle {
    /// Holds the `uv_..._t`. Owned; freed with the object, which libuv's retain keeps until its close callback.
    let memory: UnsafeMutableRawPointer
    /// Keeps the loop alive until libuv has let go of this handle; `nil` from then on.
    private(set) var loop: Loop?
    package private(set) final var isClosed = false
    /// Whether the loop calls `turnEnded` at the end of this turn. Kept by `Loop`.
    final var isListedForTurnEnd = false

    init(_ loop: Loop, _ kind: uv_handle_type) {
        precondition(!loop.isClosed, "a handle cannot be made on a closed loop")
        memory = .allocate(byteCount: uv_handle_size(kind), alignment: 16)
        self.loop = loop
    }

    deinit { memory.deallocate() }

    final func pointer<Raw>(_: Raw.Type = Raw.self) -> UnsafeMutablePointer<Raw> {
        memory.assumingMemoryBound(to: Raw.self)
    }

    /// Call once, directly after the `uv_..._init` call succeeded: from here on libuv owns a retain.
    final func adopt() {
        uv_handle_set_data(pointer(), Unmanaged.passRetained(self).toOpaque())
    }

    /// Ends the handle. Safe at any time, also twice and from within its own callbacks; none of them fires any more.
    package final func close() {
        guard !isClosed else { return }
        isClosed = true
        willClose()
        uv_close(pointer(), handleClosed)
    }

    /// The subclass drops its callbacks here, and with them what they captured.
    func willClose() {}

    /// What was put off to the end of the loop's turn with `atTurnEnd`. Not called once closed.
    func turnEnded() {}

    final func atTurnEnd() {
        guard !isClosed, !isListedForTurnEnd else { return }
        isListedForTurnEnd = true
        loop?.callAtTurnEnd(self)
    }

    /// libuv's last word on this handle.
    fileprivate final func closed() {
        loop = nil
        Unmanaged.passUnretained(self).release()
    }
}

/// The Swift object of a handle that libuv calls back about. The kind is known: each callback is registered by one class only.
func owner<Owner: Handle>(_ handle: UnsafeMutableRawPointer?, as: Owner.Type = Owner.self) -> Owner {
    // `adopt` set the data before any callback could be registered, and libuv's retain keeps it until the close callback.
    let data = uv_handle_get_data(handle!.assumingMemoryBound(to: uv_handle_t.self))!
    return unsafeDowncast(Unmanaged<Handle>.fromOpaque(data).takeUnretainedValue(), to: Owner.self)
}

private func handleClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) { owner(handle, as: Handle.self).closed() }
