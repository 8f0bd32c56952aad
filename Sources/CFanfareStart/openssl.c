#include "CFanfareStart.h"

#include <openssl/crypto.h>

// By default OpenSSL frees its state in `exit`, under the threads that still use it: detached threads, which nobody joins,
// and an embedder's loops. Its first call decides that, and may be another library's: so it is this one, before `main`.
__attribute__((constructor)) static void keep_openssl_until_the_process_is_gone(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
