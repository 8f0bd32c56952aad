#if canImport(Glibc)
internal import Glibc
#endif

/// A value that a lock guards.
///
/// The lock is pthread's mutex, because ThreadSanitizer does not see through the futex of `Synchronization.Mutex` on Linux
/// and would report false races. The type is for values that are used once per batch or less, never per push.
///
/// `Sendable` is unchecked because the compiler cannot know that the mutex guards the value.
@safe package final class Locked<Value>: @unchecked Sendable {
    // pthread requires a stable address, which a stored property does not guarantee.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    // Guarded by mutex.
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        // Initialising and locking cannot fail with default attributes (POSIX).
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
