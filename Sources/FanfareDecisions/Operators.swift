import FanfareModel

/// Scopes of operators' orders. An order of each scope holds a topic until an order of the same scope lifts it.
struct OrderScope: OptionSet, Sendable {
    let rawValue: UInt8
    static let topic = OrderScope(rawValue: 1)
    static let kind = OrderScope(rawValue: 2)
    static let all = OrderScope(rawValue: 4)
}

/// Operators' orders that stand for all topics or for all of a kind, later topics included.
struct StandingOrders: Sendable {
    enum Answer {
        case taken
        case refused(Outcome, String)
    }

    /// Muted kinds. Here and in `paused`, `nil` stands for all topics.
    private var muted: Set<TopicKind?> = []
    private var paused: Set<TopicKind?> = []
    private var recentIDs: RecentIDs
    private let kindsMax: Int

    init(_ limits: Rules.Limits) {
        recentIDs = RecentIDs(capacity: limits.eventIDsMax)
        kindsMax = limits.orderedKindsMax
    }

    /// Takes an order for one app, which the fan-out keeps, unless its id is a duplicate.
    mutating func take(id: String?) -> Answer {
        if let refusal = refusal(ofRepeated: id) { return refusal }
        if let id { recentIDs.insert(id) }
        return .taken
    }

    mutating func take(_ operation: FeedEvent.Operation, for kind: TopicKind?, id: String?) -> Answer {
        if let refusal = refusal(ofRepeated: id) { return refusal }
        if operation.appliesToNewTopics, kind != nil, max(muted.count, paused.count) >= kindsMax {
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
        return .taken
    }

    private func refusal(ofRepeated id: String?) -> Answer? {
        guard let id, recentIDs.contains(id) else { return nil }
        return .refused(.duplicate, "event \(id) was here before")
    }

    /// Applies the standing orders to a topic that has begun or whose kind has become known.
    func applyStandingOrders(to topic: inout Topic) {
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
    /// Is `true` for an order that applies to topics that begin later, too.
    var appliesToNewTopics: Bool { self == .mute || self == .pause }
    /// Is `true` for an order that applies until its opposite is given, and for that opposite.
    var isLasting: Bool { self != .republish && self != .reset }
}

/// Scopes whose orders pause or mute one topic.
struct TopicOrders: Sendable {
    private var pausedBy: OrderScope = []
    private var mutedBy: OrderScope = []

    var isPaused: Bool { !pausedBy.isEmpty }
    var isMuted: Bool { !mutedBy.isEmpty }

    /// Applies an order that holds the topic or lifts a hold.
    ///
    /// - Returns: `true` if the order changed anything.
    mutating func apply(_ operation: FeedEvent.Operation, for scope: OrderScope) -> Bool {
        switch operation {
        case .mute: mutedBy.insert(scope).inserted
        case .unmute: mutedBy.remove(scope) != nil
        case .pause: pausedBy.insert(scope).inserted
        case .resume: pausedBy.remove(scope) != nil
        case .republish, .reset: false
        }
    }

    /// Replaces the scopes of standing orders; keeps the orders for the topic itself.
    mutating func replaceStanding(muted: OrderScope, paused: OrderScope) {
        mutedBy = mutedBy.intersection(.topic).union(muted)
        pausedBy = pausedBy.intersection(.topic).union(paused)
    }
}

extension Topic {
    /// Applies an operator's order. Changes that it releases wait for a flush that is due at once.
    ///
    /// - Returns: the record's reason.
    mutating func carryOut(_ operation: FeedEvent.Operation, for scope: OrderScope, now: FeedTime) -> String {
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

// MARK: - Serial forms

extension OrderScope {
    fileprivate init(reading reader: inout SerialReader) throws(SerialError) {
        self.init(rawValue: try reader.byte())
        guard isSubset(of: [.topic, .kind, .all]) else { throw .malformed("scope") }
    }
}

extension TopicOrders {
    func write(to writer: inout SerialWriter) {
        writer.write(byte: pausedBy.rawValue)
        writer.write(byte: mutedBy.rawValue)
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        pausedBy = try OrderScope(reading: &reader)
        mutedBy = try OrderScope(reading: &reader)
    }
}

extension StandingOrders {
    func write(to writer: inout SerialWriter) {
        for kinds in [muted, paused] {
            writer.write(kinds.contains(nil))
            writer.write(all: kinds.compactMap { $0.map { BytewiseText($0.rawValue) } }.sorted()) { $0.write($1.text) }
        }
        recentIDs.write(to: &writer)
    }

    /// Takes over orders. Their limits are those of the present rules.
    mutating func restore(from reader: inout SerialReader) throws(SerialError) {
        func kinds(_ reader: inout SerialReader) throws(SerialError) -> Set<TopicKind?> {
            let hasAll = try reader.flag("scope")
            let named = try reader.all { (reader) throws(SerialError) in TopicKind(try reader.text()) }
            return Set(named).union(hasAll ? [nil] : [])
        }
        muted = try kinds(&reader)
        paused = try kinds(&reader)
        recentIDs.insert(try RecentIDs(reading: &reader))
    }
}
