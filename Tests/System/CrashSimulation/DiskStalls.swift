import FanfareModel

/// Parts of a `CrashDisk` that take nothing for a while, as those of a busy disk.
struct DiskStalls {
    private var ends: [CrashDisk.Part: MonotonicTime] = [:]

    /// Begins a stall of a part, or prolongs the one that goes on.
    mutating func begin(of part: CrashDisk.Part, at now: MonotonicTime, for duration: Duration) {
        ends[part] = max(ends[part] ?? now, now + duration)
    }

    func isStalled(_ part: CrashDisk.Part, at now: MonotonicTime) -> Bool { ends[part].map { now < $0 } ?? false }

    /// Returns whether any part stalls.
    func areGoingOn(at now: MonotonicTime) -> Bool { ends.values.contains { now < $0 } }

    /// Ends all stalls.
    mutating func end() { ends = [:] }
}
