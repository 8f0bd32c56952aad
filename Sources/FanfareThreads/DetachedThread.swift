#if canImport(Glibc)
internal import Glibc
#endif

/// Runs work that may block for an unlimited time, for example on a name server or a hanging file system.
///
/// Nothing joins the thread: neither a closing loop nor the end of the process waits for it. libuv's thread pool is
/// unsuitable for such work, because its few threads are joined when the process ends. A queue of Dispatch is unsuitable, too:
/// it waits for ever where no thread can be created, and work that hangs keeps one of its workers.
package enum DetachedThread {
    /// - Parameter name: shown by debuggers and `top`; Linux keeps 15 bytes of it.
    package static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(ThreadError) {
        let start = unsafe Unmanaged.passRetained(DetachedStart(name: name, body: body))
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, nil, detachedMain, start.toOpaque())
        guard code == 0 else {
            unsafe start.release()
            throw ThreadError(code: code)
        }
        pthread_detach(thread)
    }
}

/// Name and body of a new thread, handed over once.
private final class DetachedStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func detachedMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // `DetachedThread.start` passes the argument.
    let start = unsafe Unmanaged<DetachedStart>.fromOpaque(argument!).takeRetainedValue()
    ThreadName.set(start.name)
    // The thread blocks all signals, because a signal may make an interrupted system call fail; other threads handle them.
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    start.body()
    return nil
}
