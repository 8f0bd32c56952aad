internal import CFanfareUV  // also declares GNU's names of Glibc

#if canImport(Glibc)
internal import Glibc
#endif

/// Runs work that may block for an unlimited time, for example on a name server or a hanging file system.
///
/// Nothing joins the thread: neither a closing loop nor the end of the process waits for it. (libuv's thread pool is
/// unsuitable for such work, because its few threads are joined when the process ends.)
package enum DetachedThread {
    /// - Parameter name: shown by debuggers and `top`; Linux keeps 15 bytes of it.
    package static func run(name: String, _ body: @escaping @Sendable () -> Void) throws(LoopError) {
        let start = unsafe Unmanaged.passRetained(DetachedStart(name: name, body: body))
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, nil, detachedMain, start.toOpaque())
        guard code == 0 else {
            unsafe start.release()
            throw LoopError(code: -code, call: "pthread_create", place: name)
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
    // `DetachedThread.run` passes the argument.
    let start = unsafe Unmanaged<DetachedStart>.fromOpaque(argument!).takeRetainedValue()
    unsafe pthread_setname_np(pthread_self(), String(decoding: start.name.utf8.prefix(15), as: UTF8.self))
    // The thread blocks all signals, because a signal may make an interrupted system call fail; other threads handle them.
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    start.body()
    return nil
}
