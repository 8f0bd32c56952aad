#if canImport(Glibc)
internal import Glibc
#endif

/// A value that threads take turns with.
///
/// Not `Synchronization.Mutex`: ThreadSanitizer does not see through its futex on Linux and would report races that are
/// none; it knows pthread's mutex. For what is touched once per batch or less, never per push.
///
/// Unchecked because the compiler cannot know that the mutex guards the value.
package final class Locked<Value>: @unchecked Sendable {
    // A stable address, which pthread demands and a stored property does not promise.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    // Guarded by mutex.
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        // Neither this nor locking can fail with default attributes (POSIX).
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
