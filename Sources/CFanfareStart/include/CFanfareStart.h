#pragma once

// Keeps OpenSSL's state until the process is gone. By default OpenSSL frees it in `exit`, under the threads that still use
// it: detached threads, which nobody joins, and an embedder's loops. The first call of OpenSSL decides that, and may be
// another library's; so a constructor calls this before `main`. Without effect afterwards.
void fanfare_keep_openssl(void);
