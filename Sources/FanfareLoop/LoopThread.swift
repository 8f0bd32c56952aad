internal import CFanfareUV

#if canImport(Glibc)
internal import Glibc
#endif

/// A named thread with a loop of its own.
///
///     let shard = try LoopThread(name: "shard 0") { loop in
///         let wakeup = try? Wakeup(loop: loop) { … }
///         loop.run()
///     }
///     shard.join()
///
/// The body is everything the thread does: it sets up, calls `run()`, and may do what is left to do afterwards. When it
/// returns, the loop is closed and the thread ends.
package final class LoopThread {
    private var thread: pthread_t?

    /// - Parameter name: for debuggers and `top`; Linux keeps 15 bytes of it.
    package init(name: String, body: sending @escaping (Loop) -> Void) throws(LoopError) {
        // Made here so that its failure has somebody to tell; from `pthread_create` on it is the new thread's alone.
        let start = Unmanaged.passRetained(ThreadStart(name: name, loop: try Loop(), body: body))
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, threadMain, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw LoopError(code: -code, call: "pthread_create", place: name)
        }
        self.thread = thread
    }

    /// A thread that nobody joined goes on by itself.
    deinit { if let thread { pthread_detach(thread) } }

    /// Tells apart threads that live at the same time.
    package static var current: UInt { UInt(pthread_self()) }

    /// Waits until the body has returned and the loop is closed. The second time it does nothing.
    package func join() {
        guard let thread else { return }
        self.thread = nil
        pthread_join(thread, nil)
    }
}

extension LoopThread {
    /// Keeps the calling thread on one of the processors that the process may use: the last for 0, the one before it for 1, and so
    /// on, from the end again when there are no more. So the first stays free for longest for who is not pinned.
    package static func pinToProcessor(_ number: Int) throws(LoopError) {
        var allowed = cpu_set_t()
        let bytes = MemoryLayout<cpu_set_t>.size
        var code = pthread_getaffinity_np(pthread_self(), bytes, &allowed)
        guard code == 0 else { throw LoopError(code: -code, call: "pthread_getaffinity_np") }
        withUnsafeMutableBytes(of: &allowed) { set in
            // One bit per processor, as `CPU_SET` sets it; on little-endian machines bytes and words count alike.
            let processors = (0..<bytes * 8).filter { set[$0 / 8] >> ($0 % 8) & 1 == 1 }
            let chosen = processors[processors.count - 1 - number % processors.count]
            for byte in set.indices { set[byte] = byte == chosen / 8 ? 1 << (chosen % 8) : 0 }
        }
        code = pthread_setaffinity_np(pthread_self(), bytes, &allowed)
        guard code == 0 else { throw LoopError(code: -code, call: "pthread_setaffinity_np") }
    }
}

/// What a new thread needs, handed over once.
private final class ThreadStart {
    let name: String
    let loop: Loop
    let body: (Loop) -> Void

    init(name: String, loop: Loop, body: @escaping (Loop) -> Void) {
        self.name = name
        self.loop = loop
        self.body = body
    }
}

private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let start = Unmanaged<ThreadStart>.fromOpaque(argument!).takeRetainedValue()  // passed by `LoopThread.init`
    pthread_setname_np(pthread_self(), String(decoding: start.name.utf8.prefix(15), as: UTF8.self))
    start.body(start.loop)
    start.loop.close()
    return nil
}
