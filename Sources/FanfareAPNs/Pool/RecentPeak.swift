/// Largest of the values noted in the current and in the previous period of a memory, so of one to two periods; 0 if there are none.
///
/// All times are monotonic nanoseconds.
struct RecentPeak<Value: Comparable & AdditiveArithmetic> {
    /// Length of a period, in nanoseconds.
    let memory: Int64
    private var current = Value.zero
    private var former = Value.zero
    private var turnsAt = Int64.min

    init(memory: Int64) { self.memory = memory }

    var value: Value { max(current, former) }

    mutating func note(_ value: Value, at now: Int64) {
        if now >= turnsAt {
            // Values from before a long silence are too old.
            former = turnsAt == .min || now - turnsAt >= memory ? .zero : current
            current = .zero
            turnsAt = now + memory
        }
        current = max(current, value)
    }
}
