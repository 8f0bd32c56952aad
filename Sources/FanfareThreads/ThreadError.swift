#if canImport(Glibc)
internal import Glibc
#endif

/// The system's refusal to create a thread. `description` is a sentence for people.
package struct ThreadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Code of the system, a value of `errno`.
    package let code: CInt

    package init(code: CInt) { self.code = code }

    package var description: String {
        let reason = unsafe String(cString: strerror(code))
        return "no thread can be created: \(reason)"
    }
}
