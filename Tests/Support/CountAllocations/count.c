// In a program that links this, the C library's functions below are ours: they count, and pass on.
#define _GNU_SOURCE
#include "count_allocations.h"

#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local uint64_t count, count_of_openssl;
static _Thread_local int64_t held, mapped;

uint64_t allocations_of_this_thread(void) { return count; }
uint64_t allocations_of_this_thread_by_openssl(void) { return count_of_openssl; }
int64_t bytes_held_by_this_thread(void) { return held + mapped; }
int64_t bytes_mapped_by_this_thread(void) { return mapped; }

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

// Where libcrypto and libssl stand in memory; written before `main`, and empty in a program that has neither.
static struct { uintptr_t from, to; } openssl[2];

static int note(struct dl_phdr_info *library, size_t size, void *unused) {
    (void)size, (void)unused;
    const int which = strstr(library->dlpi_name, "/libcrypto.") ? 0 : strstr(library->dlpi_name, "/libssl.") ? 1 : -1;
    for (int part = 0; which >= 0 && part < library->dlpi_phnum; part++) {
        const ElfW(Phdr) *header = &library->dlpi_phdr[part];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
        openssl[which].from = library->dlpi_addr + header->p_vaddr;
        openssl[which].to = openssl[which].from + header->p_memsz;
    }
    return 0;
}

__attribute__((constructor)) static void find_openssl(void) { dl_iterate_phdr(note, NULL); }

static void *counted(void *memory, void *caller) {
    count++;
    for (int which = 0; which < 2; which++)
        count_of_openssl += (uintptr_t)caller - openssl[which].from < openssl[which].to - openssl[which].from;
    if (memory != NULL) held += (int64_t)malloc_usable_size(memory);
    return memory;
}

// Whoever called the function in which this stands.
#define CALLER __builtin_return_address(0)

void *malloc(size_t bytes) { return counted(__libc_malloc(bytes), CALLER); }
void *calloc(size_t pieces, size_t bytes) { return counted(__libc_calloc(pieces, bytes), CALLER); }
void *memalign(size_t alignment, size_t bytes) { return counted(__libc_memalign(alignment, bytes), CALLER); }

void *realloc(void *old, size_t bytes) {
    int64_t before = old == NULL ? 0 : (int64_t)malloc_usable_size(old);
    void *memory = __libc_realloc(old, bytes);
    // Without memory the old piece stays; with no bytes asked for it is gone.
    if (memory != NULL || bytes == 0) held -= before;
    return counted(memory, CALLER);
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

// Mapped memory that may be written since a call of `mprotect`, a part for each range: columns take the right to use the addresses that they have
// reserved. More parts than these are not counted.
static struct { uintptr_t from, to; } writable[1024];
static atomic_flag is_taken = ATOMIC_FLAG_INIT;
enum { PARTS = sizeof writable / sizeof *writable };

static void take_writable(void) {
    while (atomic_flag_test_and_set_explicit(&is_taken, memory_order_acquire)) {}
}

static void leave_writable(void) { atomic_flag_clear_explicit(&is_taken, memory_order_release); }

int mprotect(void *memory, size_t bytes, int rights) {
    int result = (int)syscall(SYS_mprotect, memory, bytes, rights);
    if (result != 0 || !(rights & PROT_WRITE)) return result;
    const uintptr_t from = (uintptr_t)memory;
    take_writable();
    int part = 0;
    while (part < PARTS && writable[part].to != from) part++;
    if (part == PARTS) {
        for (part = 0; part < PARTS && writable[part].to != 0;) part++;
        if (part < PARTS) writable[part].from = from;
    }
    if (part < PARTS) {
        writable[part].to = from + bytes;
        mapped += (int64_t)bytes;
    }
    leave_writable();
    return result;
}

int munmap(void *memory, size_t bytes) {
    const uintptr_t from = (uintptr_t)memory;
    take_writable();
    // Before the call: afterwards another thread may get the same addresses.
    for (int part = 0; part < PARTS; part++) {
        if (writable[part].to == 0 || writable[part].from < from || writable[part].to > from + bytes) continue;
        mapped -= (int64_t)(writable[part].to - writable[part].from);
        writable[part].from = writable[part].to = 0;
    }
    leave_writable();
    return (int)syscall(SYS_munmap, memory, bytes);
}

#endif
