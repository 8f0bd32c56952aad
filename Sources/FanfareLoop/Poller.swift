internal import CFanfareUV

/// Watches a file descriptor that another library owns, such as a C library's socket, for readiness. The poller makes the
/// descriptor non-blocking and does not own it; it must stay open until the poller has closed.
package final class Poller: Handle {
    package struct Events: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }
        package static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
        package static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
        package static let disconnected = Events(rawValue: Int32(UV_DISCONNECT.rawValue))
    }

    private var handler: ((Result<Events, LoopError>) -> Void)?

    package init(
        loop: Loop, descriptor: Int32, handler: @escaping (Result<Events, LoopError>) -> Void
    ) throws(LoopError) {
        self.handler = handler
        super.init(loop, UV_POLL)
        try unsafe check(uv_poll_init(loop.raw, pointer(), descriptor), "uv_poll_init", at: "descriptor \(descriptor)")
        adopt()
    }

    /// Starts watching for these events, which replace those of an earlier call.
    package func start(_ events: Events) throws(LoopError) {
        guard !isClosed else { return }
        try unsafe check(uv_poll_start(pointer(), events.rawValue, pollerFired), "uv_poll_start")
    }

    package func stop() {
        guard !isClosed else { return }
        unsafe uv_poll_stop(pointer())
    }

    override func willClose() { handler = nil }

    fileprivate func fire(_ status: CInt, _ events: CInt) {
        handler?(
            status < 0 ? .failure(LoopError(code: status, call: "uv_poll")) : .success(Events(rawValue: events)))
    }
}

private func pollerFired(_ handle: UnsafeMutablePointer<uv_poll_t>?, _ status: CInt, _ events: CInt) {
    unsafe owner(handle, as: Poller.self).fire(status, events)
}
