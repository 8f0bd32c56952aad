#if canImport(Glibc)
internal import Glibc
#endif

/// A value that a lock guards.
///
/// The lock is pthread's mutex, because ThreadSanitizer does not see through the futex of `Synchronization.Mutex` on Linux
/// and would report false races. The type is for values that are used once per batch or less, never per push.
///
/// `withLock` is inlinable, so that other modules have copies of it for their values: unspecialised generic code moves a value by its metadata.
///
/// `Sendable` is unchecked because the compiler cannot know that the mutex guards the value.
@safe @usableFromInline package final class Locked<Value>: @unchecked Sendable {
    // pthread requires a stable address, which a stored property does not guarantee.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    // Guarded by mutex.
    @usableFromInline var value: Value

    package init(_ value: sending Value) {
        self.value = value
        // Initialising and locking cannot fail with default attributes (POSIX).
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    @inlinable package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock()
        defer { unlock() }
        return try body(&value)
    }

    @usableFromInline func lock() { unsafe pthread_mutex_lock(mutex) }
    @usableFromInline func unlock() { unsafe pthread_mutex_unlock(mutex) }
}
