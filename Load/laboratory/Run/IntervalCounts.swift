import FanfareFanOut

/// Counts at the end of the interval before, from which the next one's begin.
struct IntervalCounts {
    var events = 0
    var answers: [Count] = []
    var suppressed: [Count] = []
    /// Processor seconds.
    var threads: [String: Double] = [:]

    init() {}

    init(_ look: EngineLook, threads: [String: Double]) {
        events = look.events
        answers = look.counts.pushes.answers
        suppressed = look.suppressed + look.counts.alerts.notSent
        self.threads = threads
    }
}
