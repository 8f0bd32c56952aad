#include "bench.h"

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

void bench_register(const char *name, bench_run run, void *context, uint64_t expected_checksum) {
    // One iteration is one run; the library repeats it and shuffles the repetitions of all benchmarks.
    benchmark::RegisterBenchmark(name, [=](benchmark::State &state) {
        int64_t items = 0;
        for (auto _ : state) {
            const bench_result result = run(context);
            state.SetIterationTime(result.seconds);
            items += result.items;
            if (result.seconds <= 0) {
                state.SkipWithError("the run failed");
                break;
            }
            if (result.checksum != expected_checksum) {
                state.SkipWithError("what came out is not what went in");
                break;
            }
        }
        state.SetItemsProcessed(items);
    })->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
}

int bench_main(int argc, char **argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    const size_t ran = benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return ran > 0 ? 0 : 1;
}

bench_result bench_race(const bench_role *roles, int count, int64_t items) {
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::atomic<uint64_t> checksum{0};
    std::vector<Clock::time_point> ends(count);
    std::vector<std::thread> threads;
    for (int index = 0; index < count; ++index) {
        threads.emplace_back([&, index] {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(roles[index].cpu, &set);
            // Pinning fails on a machine with fewer processors or in a container that forbids it; the result is right without it.
            pthread_setaffinity_np(pthread_self(), sizeof set, &set);
            ready.fetch_add(1);
            while (!go.load(std::memory_order_acquire)) sched_yield();
            const uint64_t sum = roles[index].run(roles[index].context);
            ends[index] = Clock::now();
            checksum.fetch_add(sum);
        });
    }
    while (ready.load() < count) sched_yield();
    const auto start = Clock::now();
    go.store(true, std::memory_order_release);
    for (auto &thread : threads) thread.join();
    auto end = start;
    for (const auto &each : ends) end = std::max(end, each);
    return {std::chrono::duration<double>(end - start).count(), items, checksum.load()};
}

void bench_yield(void) { sched_yield(); }

int64_t bench_resident_bytes(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == nullptr) return 0;
    long size = 0, resident = 0;
    const int fields = fscanf(file, "%ld %ld", &size, &resident);
    fclose(file);
    return fields == 2 ? int64_t(resident) * sysconf(_SC_PAGESIZE) : 0;
}

int64_t bench_peak_resident_bytes(void) {
    rusage usage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t(usage.ru_maxrss) * 1024 : 0;
}

bool bench_is_in_memory(const char *folder) {
    struct statfs system{};
    return statfs(folder, &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

namespace {

int64_t cached_bytes(int file) {
    struct stat status{};
    if (fstat(file, &status) != 0) return -1;
    if (status.st_size == 0) return 0;
    const auto length = size_t(status.st_size);
    const auto page = size_t(sysconf(_SC_PAGESIZE));
    void *mapped = mmap(nullptr, length, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return -1;
    std::vector<unsigned char> pages((length + page - 1) / page);
    const int code = mincore(mapped, length, pages.data());
    munmap(mapped, length);
    if (code != 0) return -1;
    int64_t cached = 0;
    for (const auto each : pages) cached += each & 1 ? int64_t(page) : 0;
    return cached;
}

}  // namespace

int64_t bench_drop_pages(const char *path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    int64_t cached = -1;
    // Pages that are not on the disk yet would stay.
    if (fsync(file) == 0) {
        errno = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        if (errno == 0) cached = cached_bytes(file);
    }
    close(file);
    return cached;
}
