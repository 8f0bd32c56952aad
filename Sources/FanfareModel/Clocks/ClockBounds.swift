/// Bounds on clock readings, so that no sum of them overflows.
enum ClockBounds {
    /// The year 2200 in Unix nanoseconds; no correct clock is later.
    static let latest: Int64 = 7_258_118_400_000_000_000
    /// Maximum running time of a process: 28 years, in nanoseconds.
    private static let longest: Int64 = 900_000_000_000_000_000

    /// - Parameter origin: Unix nanoseconds at the start of the monotonic clock.
    /// - Returns: Unix nanoseconds at a monotonic time.
    static func time(of origin: Int64, at monotonic: MonotonicTime) -> Int64 {
        let (sum, overflow) = origin.addingReportingOverflow(monotonic.nanoseconds)
        return overflow ? (origin > 0 ? latest : 0) : min(max(0, sum), latest)
    }

    /// - Returns: the reading in Unix nanoseconds, clamped to the bounds.
    static func wall(_ milliseconds: Int64) -> Int64 { min(max(0, milliseconds), latest / 1_000_000) * 1_000_000 }

    /// Returns the nanoseconds between two readings of a monotonic clock; 0 if the later one is earlier.
    static func elapsed(from earlier: MonotonicTime, to later: MonotonicTime) -> Int64 {
        min(max(0, later.nanoseconds(since: earlier)), longest)
    }
}
