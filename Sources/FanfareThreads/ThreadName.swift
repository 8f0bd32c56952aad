internal import CFanfareThreads

#if canImport(Glibc)
internal import Glibc
#endif

/// Name of a thread, which debuggers and `top` show.
package enum ThreadName {
    /// Names the calling thread.
    ///
    /// - Parameter name: Linux keeps 15 bytes of it.
    package static func set(_ name: String) {
        unsafe pthread_setname_np(pthread_self(), String(decoding: name.utf8.prefix(15), as: UTF8.self))
    }
}
