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

extension AlertCounts {
    /// Alerts that were not sent, by reason.
    var notSent: [Count] {
        [
            Count("alerts superseded", superseded), Count("alerts revoked", revoked), Count("alerts stale", stale),
            Count("alerts silenced", silenced), Count("alerts limited", limited),
        ].filter { $0.count > 0 }
    }
}

extension PushCounts {
    /// Answers by class, those that occurred.
    var answers: [Count] {
        [
            Count("accepted", accepted), Count("dead", dead), Count("held", held), Count("throttled", throttled),
            Count("failed", refused), Count("uncertain", uncertain), Count("notProcessed", notProcessed),
        ].filter { $0.count > 0 }
    }
}
