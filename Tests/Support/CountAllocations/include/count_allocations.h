#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Pieces of memory that the calling thread has asked for since it began. Counted wherever they are asked for: in Swift, in
/// OpenSSL, in libuv.
uint64_t allocations_of_this_thread(void);

/// Of those, what OpenSSL asked for: some pieces for each TLS record, which are its own business.
uint64_t allocations_of_this_thread_by_openssl(void);

/// Bytes that the calling thread has been given, less those that it has given back. Memory that it has mapped counts as soon as it may be written.
int64_t bytes_held_by_this_thread(void);

/// Of those, the bytes of memory that was mapped: large columns have it.
int64_t bytes_mapped_by_this_thread(void);

/// False under a sanitizer, which needs these functions for itself.
bool allocations_are_counted(void);
