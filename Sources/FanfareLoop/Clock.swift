#if canImport(Glibc)
internal import Glibc
#endif

/// System clocks and resource accounts of the process. Any thread; each call takes about 20 ns.
package enum Clock {
    /// Unix time in milliseconds; may jump.
    package static func wallMilliseconds() -> Int64 { nanoseconds(CLOCK_REALTIME) / 1_000_000 }
    /// Nanoseconds from an arbitrary start; never goes back. It counts the time for which the machine was suspended, because
    /// tokens, activities and backoffs age during it.
    package static func monotonicNanoseconds() -> Int64 { nanoseconds(CLOCK_BOOTTIME) }
    /// CPU time of all threads, user and system, in nanoseconds.
    package static func processCPUNanoseconds() -> Int64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

    /// Largest resident memory that the process has ever had, in bytes.
    package static func peakResidentBytes() -> Int64 {
        var usage = rusage()
        unsafe getrusage(CInt(RUSAGE_SELF.rawValue), &usage)
        return Int64(usage.ru_maxrss) * 1024  // Linux counts in KiB (getrusage(2))
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
