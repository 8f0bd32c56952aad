import FanfareLoop

/// What calls a run back on its loop: timers and signals.
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
