internal import CFanfareUV
internal import FanfareThreads

#if canImport(Glibc)
internal import Glibc
#endif

/// A named thread with its own loop.
///
///     let shard = try LoopThread(name: "shard 0") { loop in
///         let wakeup = try? Wakeup(loop: loop) { … }
///         loop.run()
///     }
///     shard.join()
///
/// The body does all the work of the thread: it sets up, calls `run()`, and may clean up afterwards. The loop is closed and
/// the thread ends when the body returns.
package final class LoopThread {
    private var thread: pthread_t?

    /// - Parameter name: shown by debuggers and `top`; Linux keeps 15 bytes of it.
    package init(name: String, body: sending @escaping (Loop) -> Void) throws(LoopError) {
        // The loop is made here so that its failure can be thrown; only the new thread uses it after `pthread_create`.
        let start = unsafe Unmanaged.passRetained(ThreadStart(name: name, loop: try Loop(), body: body))
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, nil, threadMain, start.toOpaque())
        guard code == 0 else {
            unsafe start.release()
            throw LoopError(code: -code, call: "pthread_create", place: name)
        }
        self.thread = thread
    }

    /// Detaches the thread, which goes on by itself, if it was not joined.
    deinit { if let thread { pthread_detach(thread) } }

    /// Identifier of the calling thread, unique among threads that live at the same time.
    package static var current: UInt { UInt(pthread_self()) }

    /// Names the calling thread.
    ///
    /// - Parameter name: shown by debuggers and `top`; Linux keeps 15 bytes of it.
    package static func nameCurrent(_ name: String) { ThreadName.set(name) }

    /// Blocks until the body has returned and the loop is closed. A second call does nothing.
    package func join() {
        guard let thread else { return }
        self.thread = nil
        pthread_join(thread, nil)
    }
}

extension LoopThread {
    /// Pins the calling thread to one of the processors that the process may use: number 0 is the last processor, 1 the one
    /// before it, and so on; numbers beyond the first processor wrap around to the last. The first processor is used last,
    /// so unpinned threads keep it longest.
    package static func pinToProcessor(_ number: Int) throws(LoopError) {
        var allowed = cpu_set_t()
        let bytes = MemoryLayout<cpu_set_t>.size
        var code = unsafe pthread_getaffinity_np(pthread_self(), bytes, &allowed)
        guard code == 0 else { throw LoopError(code: -code, call: "pthread_getaffinity_np") }
        unsafe withUnsafeMutableBytes(of: &allowed) { set in
            // The set has one bit per processor, in the layout of `CPU_SET`; bytes and words count alike on little-endian machines.
            let processors = (0..<bytes * 8).filter { unsafe set[$0 / 8] >> ($0 % 8) & 1 == 1 }
            let chosen = processors[processors.count - 1 - number % processors.count]
            for byte in set.indices { unsafe set[byte] = byte == chosen / 8 ? 1 << (chosen % 8) : 0 }
        }
        code = unsafe pthread_setaffinity_np(pthread_self(), bytes, &allowed)
        guard code == 0 else { throw LoopError(code: -code, call: "pthread_setaffinity_np") }
    }
}

/// Name, loop and body of a new thread, handed over once.
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
    let start = unsafe Unmanaged<ThreadStart>.fromOpaque(argument!).takeRetainedValue()  // passed by `LoopThread.init`
    LoopThread.nameCurrent(start.name)
    start.body(start.loop)
    start.loop.close()
    return nil
}
