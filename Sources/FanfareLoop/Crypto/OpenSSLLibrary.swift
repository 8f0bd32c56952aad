internal import CFanfareOpenSSL

/// OpenSSL's state in the process, which lasts until the process is gone.
enum OpenSSLLibrary {
    /// Read before the process's first call of OpenSSL. By default OpenSSL frees its state in `exit`, under the threads that
    /// still use it: detached threads, which nobody joins, and an embedder's loops. Without effect if the program itself has
    /// called OpenSSL before.
    static let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
