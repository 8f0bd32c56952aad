import FanfareModel

/// Time that the peer takes to answer without its queue or ours: the minimum of recent measurements.
///
/// All times are monotonic nanoseconds.
struct RoundTrip {
    /// Period of the minimum, in nanoseconds: a newer measurement displaces all that are more than two periods old.
    let memory: Int64
    private var current = Int64.max
    private var former = Int64.max
    private var turnsAt = Int64.min
    /// Time of the newest measurement.
    private(set) var notedAt: Int64?

    init(memory: Duration) { self.memory = memory.nanoseconds }

    /// Minimum of recent measurements; `nil` before the first.
    var least: Int64? {
        let least = min(current, former)
        return least == .max ? nil : least
    }

    mutating func note(_ time: Int64, at now: Int64) {
        if now >= turnsAt {
            // Measurements from before a long silence are too old.
            former = turnsAt == .min || now - turnsAt >= memory ? .max : current
            current = .max
            turnsAt = now + memory
        }
        current = min(current, max(0, time))
        notedAt = now
    }
}
