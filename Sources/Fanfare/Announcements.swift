public import FanfareFanOut
public import FanfareModel

/// Something that has become of an activity without anybody having asked for it.
public struct ActivityEvent: Sendable, Hashable {
    /// The app's id of it, as `follow` or `start` was given it.
    public let activity: ActivityID
    /// What has become of it.
    public let fate: ActivityFate

    /// For programs that make up events, as tests do.
    public init(activity: ActivityID, fate: ActivityFate) {
        self.activity = activity
        self.fate = fate
    }
}

/// All that an engine tells by itself. An `Engine.Observer` and every `EngineSequence` are listeners of these.
struct Announcements: Sendable {
    let decisions = Broadcast<DecisionRecord>()
    let activityEvents = Broadcast<ActivityEvent>()
    let deadTokens = Broadcast<ActivityID>()
    /// What is wrong with subscribers is said before anybody can ask for a sequence.
    let reports = Broadcast<String>(keepingEarly: 64)

    init(_ observer: Engine.Observer) {
        if let decided = observer.decided { decisions.add(decided) }
        if let met = observer.met { activityEvents.add { met($0.activity, $0.fate) } }
        if let tokenDied = observer.tokenDied { deadTokens.add(tokenDied) }
        if let report = observer.report { reports.add(report) }
    }

    /// The engine has stopped.
    func finish() {
        decisions.finish()
        activityEvents.finish()
        deadTokens.finish()
        reports.finish()
    }
}

/// The core's voices. Confined to its thread.
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
    /// The decision log: one record per event, and per timer that acted.
    ///
    /// - Parameter capacity: records that wait for a consumer; at least one.
    public func decisions(buffering capacity: Int = 1024) -> EngineSequence<DecisionRecord> {
        EngineSequence(announcements.decisions, buffering: capacity)
    }

    /// Activities that did not start, have lasted too long, or go on as others.
    ///
    /// - Parameter capacity: events that wait for a consumer; at least one.
    public func activityEvents(buffering capacity: Int = 1024) -> EngineSequence<ActivityEvent> {
        EngineSequence(announcements.activityEvents, buffering: capacity)
    }

    /// Activities that are gone because their tokens are dead, each reported once. What is lost here is a row in a table of tokens that
    /// will be found dead again.
    ///
    /// - Parameter capacity: activities that wait for a consumer; at least one.
    public func deadTokens(buffering capacity: Int = 1 << 16) -> EngineSequence<ActivityID> {
        EngineSequence(announcements.deadTokens, buffering: capacity)
    }

    /// Lines for operators; an equal one once a minute, with how often it came meanwhile. The first to listen, an `Observer` included, also
    /// gets what was said while the engine was made.
    ///
    /// - Parameter capacity: lines that wait for a consumer; at least one.
    public func reports(buffering capacity: Int = 256) -> EngineSequence<String> {
        EngineSequence(announcements.reports, buffering: capacity)
    }
}
