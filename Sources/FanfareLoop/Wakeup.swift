internal import CFanfareUV
internal import FanfareThreads
internal import Synchronization

/// Lets other threads wake the loop. Signals coalesce: one call of the handler may stand for many signals.
package final class Wakeup: Handle {
    /// Signal that other threads may hold.
    package let signal = WakeupSignal()
    private var handler: (() -> Void)?

    package init(loop: Loop, handler: @escaping () -> Void) throws(LoopError) {
        self.handler = handler
        super.init(loop, UV_ASYNC)
        try unsafe check(uv_async_init(loop.raw, pointer(), asyncFired), "uv_async_init")
        adopt()
        unsafe signal.state.open(pointer())
    }

    package override func willClose() {
        signal.state.shut()
        handler = nil
    }

    fileprivate func fire() {
        signal.state.lower()
        handler?()
    }
}

/// Sending end of a `Wakeup`, which any thread may hold and copy, also after the loop has closed; signalling does nothing then.
package struct WakeupSignal: Sendable {
    fileprivate let state = WakeupState()

    /// Makes the loop call the handler once more; the handler sees everything that this thread wrote before. A call costs
    /// one atomic exchange while an earlier signal is pending.
    package func signal() { state.raise() }
}

@safe private final class WakeupState: Sendable {
    /// `true` while a signal is pending. Both sides use sequentially consistent exchanges: a producer that finds it raised
    /// knows that the handler, which lowers it first, will read the producer's earlier writes. libuv tests its own flag with
    /// a plain load (1.44) and does not guarantee that.
    private let raised = Atomic(false)
    /// The libuv handle; `nil` before the start and after the close, when libuv may have freed it.
    private let handle = unsafe Locked<UnsafeMutablePointer<uv_async_t>?>(nil)

    func open(_ opened: UnsafeMutablePointer<uv_async_t>) { unsafe handle.withLock { unsafe $0 = unsafe opened } }
    func shut() { unsafe handle.withLock { unsafe $0 = nil } }

    func raise() {
        // Pairs with the exchange in `lower`.
        guard !raised.exchange(true, ordering: .sequentiallyConsistent) else { return }
        // The call fails only if the process has no memory for an eight-byte write, which libuv itself treats as fatal.
        unsafe handle.withLock { if let handle = unsafe $0 { _ = unsafe uv_async_send(handle) } }
    }

    func lower() {
        // Pairs with the exchange in `raise`; must precede the handler's reads.
        _ = raised.exchange(false, ordering: .sequentiallyConsistent)
    }
}

private func asyncFired(_ async: UnsafeMutablePointer<uv_async_t>?) { unsafe owner(async, as: Wakeup.self).fire() }
