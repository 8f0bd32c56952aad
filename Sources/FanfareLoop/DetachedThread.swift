internal import CFanfareUV  // with it Glibc has GNU's names

#if canImport(Glibc)
internal import Glibc
#endif

/// Work that may wait for longer than anybody should wait for it: on a name server, on a file system that hangs.
///
/// Nobody joins the thread, and neither closing a loop nor ending the process waits for it. (libuv's thread pool would be no
/// place for such work: its few threads are joined when the process ends.)
package enum DetachedThread {
    /// - Parameter name: for debuggers and `top`; Linux keeps 15 bytes of it.
    package static func run(name: String, _ body: @escaping @Sendable () -> Void) throws(LoopError) {
        let start = Unmanaged.passRetained(DetachedStart(name: name, body: body))
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, detachedMain, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw LoopError(code: -code, call: "pthread_create", place: name)
        }
        pthread_detach(thread)
    }
}

/// What a new thread needs, handed over once.
private final class DetachedStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func detachedMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let start = Unmanaged<DetachedStart>.fromOpaque(argument!).takeRetainedValue()  // passed by `DetachedThread.run`
    pthread_setname_np(pthread_self(), String(decoding: start.name.utf8.prefix(15), as: UTF8.self))
    // A signal would be handled here as well as anywhere, but a system call that it interrupts may fail.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    start.body()
    return nil
}
