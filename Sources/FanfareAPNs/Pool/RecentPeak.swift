import FanfareModel

/// Largest of the values noted in the current and in the previous period of a memory, so of one to two periods; 0 if there are none.
struct RecentPeak<Value: Comparable & AdditiveArithmetic> {
    /// Length of a period.
    let memory: Duration
    private var current = Value.zero
    private var former = Value.zero
    private var turnsAt = MonotonicTime.always

    init(memory: Duration) { self.memory = memory }

    var value: Value { max(current, former) }

    mutating func note(_ value: Value, at now: MonotonicTime) {
        if now >= turnsAt {
            // Values from before a long silence are too old.
            former = now - turnsAt >= memory ? .zero : current
            current = .zero
            turnsAt = now + memory
        }
        current = max(current, value)
    }
}
