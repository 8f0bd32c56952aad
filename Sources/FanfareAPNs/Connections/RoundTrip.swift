import FanfareModel

/// Time that the peer takes to answer without its queue or ours: the minimum of recent measurements.
struct RoundTrip {
    /// Period of the minimum: a newer measurement displaces all that are more than two periods old.
    let memory: Duration
    // Both are nanoseconds.
    private var current = Int64.max
    private var former = Int64.max
    private var turnsAt = MonotonicTime.always
    /// Time of the newest measurement.
    private(set) var notedAt: MonotonicTime?

    init(memory: Duration) { self.memory = memory }

    /// Minimum of recent measurements, in nanoseconds; `nil` before the first.
    var least: Int64? {
        let least = min(current, former)
        return least == .max ? nil : least
    }

    mutating func note(_ nanoseconds: Int64, at now: MonotonicTime) {
        if now >= turnsAt {
            // Measurements from before a long silence are too old.
            former = now - turnsAt >= memory ? .max : current
            current = .max
            turnsAt = now + memory
        }
        current = min(current, max(0, nanoseconds))
        notedAt = now
    }
}
