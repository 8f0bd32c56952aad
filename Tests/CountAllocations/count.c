// In a program that links this, the C library's functions below are ours: they count, and pass on.
#include "count_allocations.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>

static _Thread_local uint64_t count;
static _Thread_local int64_t held;

uint64_t allocations_of_this_thread(void) { return count; }
int64_t bytes_held_by_this_thread(void) { return held; }

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)

bool allocations_are_counted(void) { return false; }

#else

bool allocations_are_counted(void) { return true; }

// glibc's own names for what we replace.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static void *counted(void *memory) {
    count++;
    if (memory != NULL) held += (int64_t)malloc_usable_size(memory);
    return memory;
}

void *malloc(size_t bytes) { return counted(__libc_malloc(bytes)); }
void *calloc(size_t pieces, size_t bytes) { return counted(__libc_calloc(pieces, bytes)); }
void *memalign(size_t alignment, size_t bytes) { return counted(__libc_memalign(alignment, bytes)); }

void *realloc(void *old, size_t bytes) {
    int64_t before = old == NULL ? 0 : (int64_t)malloc_usable_size(old);
    void *memory = __libc_realloc(old, bytes);
    // Without memory the old piece stays; with no bytes asked for it is gone.
    if (memory != NULL || bytes == 0) held -= before;
    return counted(memory);
}

void free(void *memory) {
    if (memory != NULL) held -= (int64_t)malloc_usable_size(memory);
    __libc_free(memory);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **result, size_t alignment, size_t bytes) {
    void *memory = memalign(alignment, bytes);
    if (memory == NULL) return ENOMEM;
    *result = memory;
    return 0;
}

#endif
