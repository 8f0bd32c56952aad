@_exported public import FanfareThreads

extension DetachedThread {
    /// Runs work as `start` does.
    ///
    /// - Parameter name: shown by debuggers and `top`; Linux keeps 15 bytes of it.
    package static func run(name: String, _ body: @escaping @Sendable () -> Void) throws(LoopError) {
        do throws(ThreadError) {
            try start(name: name, body)
        } catch {
            throw LoopError(code: -error.code, call: "pthread_create", place: name)
        }
    }
}
