public import FanfareModel

extension Engine {
    /// Returns the decision log from now on: one record per event, and one per timer that acted.
    ///
    /// - Parameter capacity: records that wait for the consumer; at least one.
    public func decisions(buffering capacity: Int = 1024) -> EngineSequence<DecisionRecord> {
        EngineSequence(core.announcements.decisions, buffering: capacity)
    }

    /// Returns the fates of activities from now on: failed starts, expiries, renewals, ends that failed or met a `follow`, refused commands.
    ///
    /// - Parameter capacity: events that wait for the consumer; at least one.
    public func activityEvents(buffering capacity: Int = 1024) -> EngineSequence<ActivityEvent> {
        EngineSequence(core.announcements.activityEvents, buffering: capacity)
    }

    /// Returns, from now on, the activities that are gone because their tokens are dead, each once. A dropped element costs the program little: its
    /// table of tokens keeps a row whose token will be found dead again.
    ///
    /// - Parameter capacity: activities that wait for the consumer; at least one.
    public func deadTokens(buffering capacity: Int = 1 << 16) -> EngineSequence<ActivityID> {
        EngineSequence(core.announcements.deadTokens, buffering: capacity)
    }

    /// Returns the lines for operators from now on. Equal lines come at most once a minute, with the number of repetitions. The first
    /// listener, an `Observer` included, also gets lines that were reported while the engine was created.
    ///
    /// - Parameter capacity: lines that wait for the consumer; at least one.
    public func reports(buffering capacity: Int = 256) -> EngineSequence<String> {
        EngineSequence(core.announcements.reports, buffering: capacity)
    }
}
