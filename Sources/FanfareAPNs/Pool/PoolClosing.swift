import FanfareModel

/// The end of a pool: its deadline, and the function to call once all connections are gone.
struct PoolClosing {
    /// Time at which outstanding answers are given up; `.never` before the end has begun.
    private(set) var deadline = MonotonicTime.never
    private var onClosed: (() -> Void)?

    var hasBegun: Bool { deadline < .never }

    /// - Parameter closed: called once all connections are gone.
    mutating func begin(by deadline: MonotonicTime, _ closed: @escaping () -> Void) {
        self.deadline = deadline
        onClosed = closed
    }

    /// Takes the call that is to be made when all connections are gone; `nil` before the end has begun and afterwards.
    mutating func end() -> (() -> Void)? {
        defer { onClosed = nil }
        return onClosed
    }

    /// Describes a call that waits for an end which has not begun; `nil` if there is none. For tests.
    func violation() -> String? { onClosed == nil || hasBegun ? nil : "a call waits, and the end has not begun" }
}
