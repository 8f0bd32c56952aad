import FanfareModel

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

    /// Returns the scopes of the orders that mute topics of a kind, and of those that pause them.
    func scopes(of kind: TopicKind) -> (muted: OrderScope, paused: OrderScope) {
        func scope(_ kinds: Set<TopicKind?>) -> OrderScope {
            var scope: OrderScope = []
            if kinds.contains(nil) { scope.insert(.all) }
            if kinds.contains(kind) { scope.insert(.kind) }
            return scope
        }
        return (scope(muted), scope(paused))
    }
}

extension FeedEvent.Operation {
    /// Is `true` for an order that applies to topics that begin later, too.
    var appliesToNewTopics: Bool { self == .mute || self == .pause }
    /// Is `true` for an order that applies until its opposite is given, and for that opposite.
    var isLasting: Bool { self != .republish && self != .reset }
}

// MARK: - Serial forms

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
