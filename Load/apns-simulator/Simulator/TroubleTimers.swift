internal import FanfareLoop

/// Timers of a simulator's timed trouble.
struct TroubleTimers {
    /// For changes of stream limits and windows.
    var settings: LoopTimer?
    private var others: [LoopTimer] = []

    mutating func add(_ timer: LoopTimer) { others.append(timer) }

    func close() {
        settings?.close()
        for timer in others { timer.close() }
    }
}
