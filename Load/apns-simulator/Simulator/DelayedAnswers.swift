internal import FanfareLoop

/// Answers that wait, and the timer that runs while there are any.
struct DelayedAnswers {
    private var queue: DelayQueue
    /// Gives the answers that are due.
    var timer: LoopTimer?
    private var isTimerRunning = false

    init(delayMax: Int) { queue = DelayQueue(delayMax: delayMax, now: 0) }

    /// - Parameters:
    ///   - delay: milliseconds from `now`.
    ///   - now: milliseconds since the simulator's start.
    mutating func add(_ waiting: DelayQueue.Waiting, delay: Int, at now: Int64) {
        queue.add(waiting, delay: delay, at: now)
        guard !isTimerRunning else { return }
        isTimerRunning = true
        timer?.start(after: .milliseconds(1), repeating: .milliseconds(1))
    }

    /// Calls `body` for every answer due by `now`.
    mutating func take(until now: Int64, _ body: (DelayQueue.Waiting) -> Void) {
        queue.take(until: now, body)
        guard queue.count == 0 else { return }
        isTimerRunning = false
        timer?.stop()
    }
}
