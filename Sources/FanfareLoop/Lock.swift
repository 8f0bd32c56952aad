#if canImport(Glibc)
internal import Glibc
#endif

/// A mutex at an address of its own. Not `Synchronization.Mutex`: ThreadSanitizer does not see that one's futex calls and
/// would report races that are none.
final class Lock: Sendable {
    nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
