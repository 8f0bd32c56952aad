#if canImport(Glibc)
internal import Glibc
#endif

/// The system's clocks and the process's own accounts. Any thread; about 20 ns each.
package enum Clock {
    /// Unix milliseconds; may jump.
    package static func wallMilliseconds() -> Int64 { nanoseconds(CLOCK_REALTIME) / 1_000_000 }
    /// From an arbitrary start; never goes back. Counts the time in which the machine was suspended: tokens, activities and backoff
    /// grow old in it.
    package static func monotonicNanoseconds() -> Int64 { nanoseconds(CLOCK_BOOTTIME) }
    /// Of all threads, user and system.
    package static func processCPUNanoseconds() -> Int64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

    /// The most memory the process ever had resident.
    package static func peakResidentBytes() -> Int64 {
        var usage = rusage()
        getrusage(CInt(RUSAGE_SELF.rawValue), &usage)
        return Int64(usage.ru_maxrss) * 1024  // Linux counts in KiB (getrusage(2))
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
