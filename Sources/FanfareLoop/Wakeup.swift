internal import CFanfareUV
internal import Synchronization

/// Lets other threads wake the loop. Signals coalesce: one call of the handler may stand for many of them.
package final class Wakeup: Handle {
    /// For other threads to hold.
    package let signal = WakeupSignal()
    private var handler: (() -> Void)?

    package init(loop: Loop, handler: @escaping () -> Void) throws(LoopError) {
        self.handler = handler
        super.init(loop, UV_ASYNC)
        try check(uv_async_init(loop.raw, pointer(), asyncFired), "uv_async_init")
        adopt()
        signal.state.open(pointer())
    }

    override func willClose() {
        signal.state.shut()
        handler = nil
    }

    fileprivate func fire() {
        signal.state.lower()
        handler?()
    }
}

/// The end of a `Wakeup` that any thread may hold and copy, also after the loop has closed: then signalling does nothing.
package struct WakeupSignal: Sendable {
    fileprivate let state = WakeupState()

    /// After this returns, the handler will be called once more on the loop, and sees everything that this thread wrote
    /// before. While an earlier signal is still on its way it costs one atomic exchange.
    package func signal() { state.raise() }
}

private final class WakeupState: Sendable {
    /// Whether a signal is on its way. Both sides use sequentially consistent exchanges, so that a producer that finds it
    /// raised knows that the handler, which lowers it first, will read what the producer wrote before. libuv's own flag is
    /// tested by a plain load (1.44) and does not promise that.
    private let raised = Atomic(false)
    /// `nil` before the start and after the close, when libuv may have freed it.
    private let handle = Locked<UnsafeMutablePointer<uv_async_t>?>(nil)

    func open(_ opened: UnsafeMutablePointer<uv_async_t>) { handle.withLock { $0 = opened } }
    func shut() { handle.withLock { $0 = nil } }

    func raise() {
        // Pairs with the exchange in `lower`.
        guard !raised.exchange(true, ordering: .sequentiallyConsistent) else { return }
        // Fails only when the process has no memory for an eight-byte write, which libuv treats as fatal itself.
        handle.withLock { if let handle = $0 { _ = uv_async_send(handle) } }
    }

    func lower() {
        // Pairs with the exchange in `raise`; must come before the handler reads what was written.
        _ = raised.exchange(false, ordering: .sequentiallyConsistent)
    }
}

private func asyncFired(_ async: UnsafeMutablePointer<uv_async_t>?) { owner(async, as: Wakeup.self).fire() }
