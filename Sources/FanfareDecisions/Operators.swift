import FanfareModel

/// For which topics an order was given. A topic is held by each that reached it, until the same is lifted.
struct OrderScope: OptionSet, Sendable {
    let rawValue: UInt8
    static let topic = OrderScope(rawValue: 1)
    static let kind = OrderScope(rawValue: 2)
    static let all = OrderScope(rawValue: 4)
}

/// Orders that stand for all topics, or for all of a kind: also for those that begin later.
struct StandingOrders: Sendable {
    enum Answer {
        case standing
        case refused(Outcome, String)
    }

    /// `nil` among the kinds is every topic.
    private var muted: Set<TopicKind?> = []
    private var paused: Set<TopicKind?> = []
    private var recentIDs: RecentIDs
    private let kindsMax: Int

    init(_ limits: Rules.Limits) {
        recentIDs = RecentIDs(capacity: limits.eventIDsMax)
        kindsMax = limits.orderedKindsMax
    }

    /// An order that is for the fan-out to keep.
    mutating func take(id: String?) -> Answer {
        if let refusal = refusal(ofRepeated: id) { return refusal }
        if let id { recentIDs.insert(id) }
        return .standing
    }

    mutating func take(_ operation: FeedEvent.Operation, for kind: TopicKind?, id: String?) -> Answer {
        if let refusal = refusal(ofRepeated: id) { return refusal }
        if operation.stands, kind != nil, max(muted.count, paused.count) >= kindsMax {
            return .refused(.rejected, "orders stand for \(kindsMax) kinds, and no more")
        }
        if let id { recentIDs.insert(id) }
        switch operation {
        case .mute: muted.insert(kind)
        case .unmute: muted.remove(kind)
        case .pause: paused.insert(kind)
        case .resume: paused.remove(kind)
        case .republish, .reset: break
        }
        return .standing
    }

    private func refusal(ofRepeated id: String?) -> Answer? {
        guard let id, recentIDs.contains(id) else { return nil }
        return .refused(.duplicate, "event \(id) was here before")
    }

    /// Holds a topic that has begun, or whose kind has become known, by what stands for it.
    func reach(_ topic: inout Topic) {
        func scope(_ kinds: Set<TopicKind?>) -> OrderScope {
            var scope: OrderScope = []
            if kinds.contains(nil) { scope.insert(.all) }
            if kinds.contains(topic.kind) { scope.insert(.kind) }
            return scope
        }
        topic.orders.replaceStanding(muted: scope(muted), paused: scope(paused))
    }
}

extension FeedEvent.Operation {
    /// Until its opposite comes.
    var stands: Bool { self == .mute || self == .pause }
    /// It holds something, or lifts what holds.
    var holds: Bool { self != .republish && self != .reset }
}

/// Whose orders hold one topic back, and keep it silent.
struct TopicOrders: Sendable {
    private var pausedBy: OrderScope = []
    private var mutedBy: OrderScope = []

    var isPaused: Bool { !pausedBy.isEmpty }
    var isMuted: Bool { !mutedBy.isEmpty }

    /// An order that holds or lifts what holds.
    ///
    /// - Returns: whether it changes anything.
    mutating func apply(_ operation: FeedEvent.Operation, for scope: OrderScope) -> Bool {
        switch operation {
        case .mute: mutedBy.insert(scope).inserted
        case .unmute: mutedBy.remove(scope) != nil
        case .pause: pausedBy.insert(scope).inserted
        case .resume: pausedBy.remove(scope) != nil
        case .republish, .reset: false
        }
    }

    /// What holds the topic is what was ordered for itself, and these scopes.
    mutating func replaceStanding(muted: OrderScope, paused: OrderScope) {
        mutedBy = mutedBy.intersection(.topic).union(muted)
        pausedBy = pausedBy.intersection(.topic).union(paused)
    }
}

extension Topic {
    /// Does as an operator says. What that lets out waits for a flush that is due at once.
    ///
    /// - Returns: what came of it, for people.
    mutating func obey(_ operation: FeedEvent.Operation, for scope: OrderScope, now: FeedTime) -> String {
        switch operation {
        case .republish: return republish(now: now)
        case .reset: return reset()
        case .mute, .unmute, .pause, .resume: break
        }
        guard orders.apply(operation, for: scope) else { return "\(operation): was so already" }
        if operation == .resume, !orders.isPaused, !shown.ended, agenda.causes.count > 0 { agenda.flushAt = now }
        let isStillHeld = operation == .resume && orders.isPaused || operation == .unmute && orders.isMuted
        return "\(operation) by an operator" + (isStillHeld ? "; another order still holds" : "")
    }

    private mutating func reset() -> String {
        arrivals.reset(idsMax: limits.eventIDsMax)
        fold.resetOrder()
        shown.allowReopening()
        return "reset by an operator: its feed's times, numbers and ids count from here"
            + (shown.ended ? ", and it may begin again" : "")
    }

    private mutating func republish(now: FeedTime) -> String {
        guard !shown.ended else { return "republish: has ended" }
        guard shown.state != nil else { return "republish: has not been shown yet" }
        guard !orders.isPaused else { return "republish: paused by an operator" }
        agenda.republish(now: now)
        return "republish by an operator"
    }
}
