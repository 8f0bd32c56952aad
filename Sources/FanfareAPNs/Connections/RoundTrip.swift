import FanfareModel

/// Time that the peer takes to answer without its queue or ours: the minimum of recent measurements.
struct RoundTrip {
    /// Period of the minimum: a newer measurement displaces all that are more than two periods old.
    let memory: Duration
    private var current: Duration?
    private var former: Duration?
    private var turnsAt = MonotonicTime.always
    /// Time of the newest measurement.
    private(set) var notedAt: MonotonicTime?

    init(memory: Duration) { self.memory = memory }

    /// Minimum of recent measurements; `nil` before the first.
    var least: Duration? {
        guard let current, let former else { return current ?? former }
        return min(current, former)
    }

    mutating func note(_ time: Duration, at now: MonotonicTime) {
        if now >= turnsAt {
            // Measurements from before a long silence are too old.
            former = now - turnsAt >= memory ? nil : current
            current = nil
            turnsAt = now + memory
        }
        let time = max(.zero, time)
        current = min(current ?? time, time)
        notedAt = now
    }

    /// Describes a measurement without its time, or one that is older than the current period; `nil` if there is none. For tests.
    func violation() -> String? {
        guard let notedAt else { return least == nil ? nil : "a round trip that was never measured" }
        guard current != nil else { return "the newest measurement is lost" }
        return notedAt < turnsAt ? nil : "the newest measurement is not of the current period"
    }
}
