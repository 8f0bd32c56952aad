import FanfareLoop

/// Timers and signals that call a run back on its loop.
struct RunTimers {
    /// For the decisions' next deadline, the measurement's start, the end of the drain, and progress.
    var deadline: LoopTimer?
    var measurement: LoopTimer?
    var drain: LoopTimer?
    var turns: TurnTimer?
    var watch: LoopTimer?
    var restart: LoopTimer?
    /// Signals that end the run.
    var interrupts: [SignalWatcher] = []
}
