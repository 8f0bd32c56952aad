#pragma once

// Interface between Swift and C++. Only whole loops cross it, because a call per queue operation would cost more than the operation.

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    /// Seconds of the measured part without its preparation; 0 or less for a failed run.
    double seconds;
    /// Items moved, pushed or published in that time.
    int64_t items;
    /// Checksum of the output, which `bench_register` compares, so that nothing is optimised away or lost.
    uint64_t checksum;
} bench_result;

/// One run of a benchmark, called on the main thread.
typedef bench_result (*bench_run)(void *context);

/// Adds a benchmark; `bench_main` repeats it, interleaved with the others. A checksum other than the expected one is an error. The context
/// must live as long as the process.
void bench_register(const char *name, bench_run run, void *context, uint64_t expected_checksum);

/// Parses Google Benchmark's command line and runs the registered benchmarks. Returns 0 if all of them ran.
int bench_main(int argc, char **argv);

/// One thread's part in a race.
typedef struct {
    /// Returns the thread's checksum.
    uint64_t (*run)(void *context);
    void *context;
    int cpu;
} bench_role;

/// Runs each role on a thread of its own, pinned to its processor. Begins them together and waits for the last.
bench_result bench_race(const bench_role *roles, int count, int64_t items);

/// Work of one queue benchmark, equal for every queue.
typedef struct {
    int64_t items;
    /// Slots of a bounded queue; initial capacity of one that grows.
    int64_t capacity;
    int producers;
    /// Bytes per item: 8 or 64.
    int item_bytes;
    /// Items per call; 1 is the plain call.
    int batch;
    /// Number of processors, 1 or 2. The consumer has the last one; producers are distributed from the first on.
    int processors;
} bench_queue_work;

static inline int bench_producer_cpu(bench_queue_work work, int producer) { return producer % work.processors; }
static inline int bench_consumer_cpu(bench_queue_work work) { return work.processors - 1; }
/// Returns true if another thread may need the processor that this one spins on.
static inline bool bench_must_yield(bench_queue_work work) { return work.producers + 1 > work.processors; }

/// Lets another thread run; `bench_wait` calls it while a queue is full or empty and a thread may need the processor.
void bench_yield(void);
static inline void bench_wait(bool must_yield) {
    if (must_yield) {
        bench_yield();
    } else {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
}

/// Register the peers. Their producers send first, first + 1, ... as `bench_race`'s checksum expects.
void bench_register_boost_spsc(const char *name, bench_queue_work work, uint64_t expected_checksum);
void bench_register_reader_writer_queue(const char *name, bench_queue_work work, uint64_t expected_checksum);
void bench_register_concurrent_queue(const char *name, bench_queue_work work, uint64_t expected_checksum);

/// Bytes of the process in memory now, and their maximum so far; 0 if the system does not report them.
int64_t bench_resident_bytes(void);
int64_t bench_peak_resident_bytes(void);

/// Returns true if a folder is in memory, as tmpfs is, where nothing is durable.
bool bench_is_in_memory(const char *folder);

/// Makes a file durable and its pages leave the page cache (posix_fadvise). Returns the bytes that are in the cache all the same, by mincore;
/// negative on an error, which is in errno.
int64_t bench_drop_pages(const char *path);

#ifdef __cplusplus
}
#endif
