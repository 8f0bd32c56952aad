#pragma once

// What Swift and C++ share. Only whole loops cross this border: a call per queue operation would cost more than the
// operation.

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    /// Of the measured part alone; what prepares it does not count. At most 0: the run failed.
    double seconds;
    /// Moved, pushed or published in that time.
    int64_t items;
    /// Of what came out, for `bench_register`'s comparison: nothing is optimised away or lost.
    uint64_t checksum;
} bench_result;

/// One run of a benchmark, called on the main thread.
typedef bench_result (*bench_run)(void *context);

/// Adds a benchmark; `bench_main` repeats and interleaves it with the others. A checksum other than the expected one is an
/// error. The context must live as long as the process.
void bench_register(const char *name, bench_run run, void *context, uint64_t expected_checksum);

/// Google Benchmark's command line; runs what has been registered. 0 when everything ran.
int bench_main(int argc, char **argv);

/// One thread's part in a race.
typedef struct {
    /// Returns the thread's checksum.
    uint64_t (*run)(void *context);
    void *context;
    int cpu;
} bench_role;

/// Runs every role on a thread of its own, pinned to its processor, begins them together and waits for the last.
bench_result bench_race(const bench_role *roles, int count, int64_t items);

/// The work of one benchmark of a queue, the same for every queue.
typedef struct {
    int64_t items;
    /// Slots of a bounded queue; initial room of one that grows.
    int64_t capacity;
    int producers;
    /// Bytes per item: 8 or 64.
    int item_bytes;
    /// Items per call; 1 is the plain call.
    int batch;
    /// Processors, 1 or 2. The consumer has the last one, producers take turns from the first.
    int processors;
} bench_queue_work;

static inline int bench_producer_cpu(bench_queue_work work, int producer) { return producer % work.processors; }
static inline int bench_consumer_cpu(bench_queue_work work) { return work.processors - 1; }
/// Some thread may need the processor that this one spins on.
static inline bool bench_must_yield(bench_queue_work work) { return work.producers + 1 > work.processors; }

/// What every loop does when its queue is full or empty.
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

/// The peers. Their producers send first, first + 1, ... as `bench_race`'s checksum expects.
void bench_register_boost_spsc(const char *name, bench_queue_work work, uint64_t expected_checksum);
void bench_register_reader_writer_queue(const char *name, bench_queue_work work, uint64_t expected_checksum);
void bench_register_concurrent_queue(const char *name, bench_queue_work work, uint64_t expected_checksum);

/// Bytes of the process in memory now, and the most there have been; 0 where the system does not tell.
int64_t bench_resident_bytes(void);
int64_t bench_peak_resident_bytes(void);

#ifdef __cplusplus
}
#endif
