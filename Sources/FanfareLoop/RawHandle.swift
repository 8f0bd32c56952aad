internal import CFanfareUV

/// Memory that libuv uses until the handle is closed, with what a loop needs of a handle: its work at the end of a turn, and its end.
///
/// Confined to its loop's thread. libuv holds one retain of the object from a successful start until the close callback, so
/// a handle lives on when the program drops its own reference; only `close()` or the loop's `close()` ends it.
///
/// `open`, because no class of another module can inherit from a `package` class; nobody outside of the package can make one.
@safe open class RawHandle {
    /// Memory of the `uv_..._t`. Owned; freed with the object, which libuv's retain keeps until its close callback.
    let memory: UnsafeMutableRawPointer
    package private(set) final var isClosed = false
    /// `true` while the loop is going to call `turnEnded` at the end of this turn.
    final var isListedForTurnEnd = false

    init(_ kind: uv_handle_type) { unsafe memory = .allocate(byteCount: uv_handle_size(kind), alignment: 16) }

    deinit { unsafe memory.deallocate() }

    package final func pointer<Raw>(_: Raw.Type = Raw.self) -> UnsafeMutablePointer<Raw> {
        unsafe memory.assumingMemoryBound(to: Raw.self)
    }

    /// Gives libuv its retain. Must be called once, directly after the `uv_..._init` call succeeded.
    final func adopt() {
        unsafe uv_handle_set_data(pointer(), Unmanaged.passRetained(self).toOpaque())
    }

    /// Closes the handle. Safe at any time, also twice and from within its own callbacks; no callback is called afterwards.
    package final func close() {
        guard !isClosed else { return }
        isClosed = true
        willClose()
        unsafe uv_close(pointer(), handleClosed)
    }

    /// Drops the subclass's callbacks, and with them the objects that they captured.
    open func willClose() {}

    /// Does the work that was deferred to the end of the loop's turn. Not called on a closed handle.
    func turnEnded() {}

    /// Drops what kept the loop alive. libuv has released the handle.
    func didClose() {}

    /// Releases libuv's retain, in libuv's close callback.
    fileprivate final func closed() {
        didClose()
        unsafe Unmanaged.passUnretained(self).release()
    }
}

/// Returns the Swift object of a libuv handle. Its type is known, because only one class registers each callback.
package func owner<Owner: RawHandle>(_ handle: UnsafeMutableRawPointer?, as: Owner.Type = Owner.self) -> Owner {
    // `adopt` set the data before any callback was registered, and libuv's retain keeps the object until the close callback.
    let data = unsafe uv_handle_get_data(handle!.assumingMemoryBound(to: uv_handle_t.self))!
    return unsafe unsafeDowncast(Unmanaged<RawHandle>.fromOpaque(data).takeUnretainedValue(), to: Owner.self)
}

private func handleClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
    unsafe owner(handle, as: RawHandle.self).closed()
}
