internal import CFanfareUV

#if canImport(Glibc)
internal import Glibc
#endif

/// Calls its handler on the loop whenever the process receives a signal. An open watcher suppresses the signal's default
/// action (ending the process).
package final class SignalWatcher: Handle {
    package struct Signal: Sendable, Hashable {
        let number: CInt
        package static let interrupt = Signal(number: SIGINT)
        package static let terminate = Signal(number: SIGTERM)
        package static let hangUp = Signal(number: SIGHUP)
        package static let user1 = Signal(number: SIGUSR1)
    }

    private var handler: (() -> Void)?

    package init(loop: Loop, signal: Signal, handler: @escaping () -> Void) throws(LoopError) {
        self.handler = handler
        super.init(loop, UV_SIGNAL)
        try unsafe check(uv_signal_init(loop.raw, pointer()), "uv_signal_init")
        adopt()
        // A program inherits the blocked signals of the thread that started it (libdispatch's threads block them) and would
        // never receive them.
        var unblocked = sigset_t()
        unsafe sigemptyset(&unblocked)
        unsafe sigaddset(&unblocked, signal.number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
        let code = unsafe uv_signal_start(pointer(), signalFired, signal.number)
        guard code >= 0 else {
            close()
            throw LoopError(code: code, call: "uv_signal_start")
        }
        // A wait for Ctrl-C does not keep the loop running.
        unsafe uv_unref(pointer())
    }

    package override func willClose() { handler = nil }
    fileprivate func fire() { handler?() }
}

private func signalFired(_ handle: UnsafeMutablePointer<uv_signal_t>?, _: CInt) {
    unsafe owner(handle, as: SignalWatcher.self).fire()
}
