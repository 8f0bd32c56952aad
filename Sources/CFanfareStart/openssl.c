#include "CFanfareStart.h"

#include <openssl/crypto.h>

void fanfare_keep_openssl(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

// 101 is the first priority that programs may use: constructors of others may call OpenSSL, too.
__attribute__((constructor(101))) static void before_main(void) { fanfare_keep_openssl(); }
