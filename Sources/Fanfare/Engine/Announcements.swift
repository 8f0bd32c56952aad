import FanfareFanOut
import FanfareModel

/// All broadcasts of an engine. An `Engine.Observer` and every `EngineSequence` listen to them.
struct Announcements: Sendable {
    let decisions = Broadcast<DecisionRecord>()
    let activityEvents = Broadcast<ActivityEvent>()
    let deadTokens = Broadcast<ActivityID>()
    /// Lines for operators. Faults of subscribers are reported before a program can ask for a sequence, so the first 64 lines are kept.
    let reports = Broadcast<String>(keepingEarly: 64)

    /// Ends all broadcasts once the engine has stopped.
    func finish() {
        decisions.finish()
        activityEvents.finish()
        deadTokens.finish()
        reports.finish()
    }
}

extension Announcements {
    /// Creates the broadcasts, to which the observer listens from the first moment.
    init(_ observer: EngineObserver) {
        self.init()
        if let onDecision = observer.onDecision { decisions.add(onDecision) }
        if let onActivityEvent = observer.onActivityEvent { activityEvents.add(onActivityEvent) }
        if let onDeadToken = observer.onDeadToken { deadTokens.add(onDeadToken) }
        if let onReport = observer.onReport { reports.add(onReport) }
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
