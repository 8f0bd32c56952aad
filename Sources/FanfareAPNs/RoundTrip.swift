/// How long the peer takes to answer, as far as that is neither its queue nor ours: the least of what was seen lately.
///
/// All times are monotonic nanoseconds.
struct RoundTrip {
    /// What was seen longer ago than twice this counts no more, once something newer has been seen.
    let memory: Int64
    private var current = Int64.max
    private var former = Int64.max
    private var turnsAt = Int64.min
    /// When the newest was seen.
    private(set) var notedAt: Int64?

    init(memory: Duration) { self.memory = memory.nanoseconds }

    /// `nil` before the first one.
    var least: Int64? {
        let least = min(current, former)
        return least == .max ? nil : least
    }

    mutating func note(_ time: Int64, at now: Int64) {
        if now >= turnsAt {
            // After a long silence what was seen before it is old, too.
            former = turnsAt == .min || now - turnsAt >= memory ? .max : current
            current = .max
            turnsAt = now + memory
        }
        current = min(current, max(0, time))
        notedAt = now
    }
}
