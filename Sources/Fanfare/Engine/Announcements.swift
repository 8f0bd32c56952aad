public import FanfareFanOut
public import FanfareModel

/// Change in an activity's life that the engine announces unasked.
public struct ActivityEvent: Sendable, Hashable {
    /// The app's id of the activity, as given to `follow` or `start`.
    public let activity: ActivityID
    /// End of the activity, or change of its card.
    public let fate: ActivityFate

    /// Creates an event for a program's tests; the engine creates its own.
    public init(activity: ActivityID, fate: ActivityFate) {
        self.activity = activity
        self.fate = fate
    }
}

/// All broadcasts of an engine. An `Engine.Observer` and every `EngineSequence` listen to them.
struct Announcements: Sendable {
    let decisions = Broadcast<DecisionRecord>()
    let activityEvents = Broadcast<ActivityEvent>()
    let deadTokens = Broadcast<ActivityID>()
    /// Lines for operators. Faults of subscribers are reported before a program can ask for a sequence, so the first 64 lines are kept.
    let reports = Broadcast<String>(keepingEarly: 64)

    init(_ observer: Engine.Observer) {
        if let decided = observer.decided { decisions.add(decided) }
        if let met = observer.met { activityEvents.add { met($0.activity, $0.fate) } }
        if let tokenDied = observer.tokenDied { deadTokens.add(tokenDied) }
        if let report = observer.report { reports.add(report) }
    }

    /// Ends all broadcasts once the engine has stopped.
    func finish() {
        decisions.finish()
        activityEvents.finish()
        deadTokens.finish()
        reports.finish()
    }
}

/// Core's ends of all broadcasts. Confined to the core's thread.
struct Announcer {
    var decisions: Broadcast<DecisionRecord>.Speaker
    var activityEvents: Broadcast<ActivityEvent>.Speaker
    var deadTokens: Broadcast<ActivityID>.Speaker
    var reports: Broadcast<String>.Speaker

    init(_ announcements: Announcements) {
        decisions = Broadcast.Speaker(announcements.decisions)
        activityEvents = Broadcast.Speaker(announcements.activityEvents)
        deadTokens = Broadcast.Speaker(announcements.deadTokens)
        reports = Broadcast.Speaker(announcements.reports)
    }
}

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
