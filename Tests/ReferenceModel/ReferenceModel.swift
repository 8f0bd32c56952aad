import FanfareCore

/// What people must see of a `GameFeed`, worked out again as simply as possible: nothing is kept up to date, everything is
/// counted anew from all that has arrived. It shares no code with the decision core, and no idea of how that does it.
public struct ReferenceModel {
    /// A version as people get it.
    public struct Version: Equatable, CustomStringConvertible {
        /// Log time in milliseconds.
        public var at: Int64
        public var state: String
        public var ends: Bool
        /// Cause of the alert it carries.
        public var alert: String?

        public init(at: Int64, state: String, ends: Bool, alert: String?) {
            self.at = at
            self.state = state
            self.ends = ends
            self.alert = alert
        }

        public var description: String { "\(at) ms\(ends ? ", end" : ""), alert \(alert ?? "-"): \(state)" }
    }

    public private(set) var versions: [Version] = []
    /// Facts whose alert was granted and whose withdrawal came after that.
    public private(set) var revoked: [String] = []
    /// Of all that arrived, also after the end.
    public var finalState: String { text(state) }

    private typealias Kind = GameFeed.Kind
    private typealias Key = GameFeed.Key

    // All that has arrived and counts.
    private var facts: [(id: String, kind: Kind)] = []
    private var withdrawn: Set<String> = []
    private var fields: [Key: Int64] = [:]
    private var seenEvents: Set<String> = []
    private var newestAt: Int64 = .min
    private var newestSeq: UInt64?
    private var newestPatchAt: Int64 = .min

    // What people see.
    private var shown: [String: Int64]?
    private var shownAt: Int64 = 0
    private var startedAt: Int64 = 0
    private var ended = false
    private var waitsUntil: Int64?
    /// By an operator: for whom the order was given.
    private var paused: Set<GameFeed.Scope> = []
    private var muted: Set<GameFeed.Scope> = []
    /// Something was kept from being shown first.
    private var startsOnResume = false
    private var alerted: Set<String> = []
    private var buckets: [String: (milliseconds: Int64, at: Int64)] = [:]

    public init(_ feed: GameFeed) {
        for arrival in feed.arrivals {
            fireTimers(until: arrival.now)
            take(arrival)
        }
        if let due = waitsUntil { flush(at: due) }
    }

    // MARK: - The state, counted

    private var state: [String: Int64] {
        var state: [String: Int64] = [:]
        for kind in Kind.allCases {
            state[kind.rawValue + "s"] = Int64(facts.filter { $0.kind == kind && !withdrawn.contains($0.id) }.count)
        }
        for (key, value) in fields { state[key.rawValue] = value }
        return state
    }

    private func text(_ state: [String: Int64]) -> String {
        "{" + state.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private func looksAlike(_ a: [String: Int64], _ b: [String: Int64]) -> Bool {
        a.filter { $0.key != "clock" } == b.filter { $0.key != "clock" }
    }

    // MARK: - What arrives

    private mutating func take(_ arrival: GameFeed.Arrival) {
        var isRetraction = false
        if case .retraction = arrival.what { isRetraction = true }
        if let id = arrival.id, !isRetraction, seenEvents.contains(id) { return }

        if case .operation(let operation, let scope) = arrival.what {
            if let id = arrival.id { seenEvents.insert(id) }
            operate(operation, scope, at: arrival.now)
            return
        }
        let before = state
        let lateBy = newestAt > arrival.at ? newestAt - arrival.at : 0
        var changed: (kind: String, cause: String)?
        var hasFolded = false
        var counts = true
        switch arrival.what {
        case .start, .end, .pass, .operation: break
        case .fact(let id, let kind):
            counts = !facts.contains { $0.id == id }
            if counts {
                facts.append((id, kind))
                hasFolded = !withdrawn.contains(id)
                changed = hasFolded ? (kind.rawValue, id) : nil
            }
        case .retraction(let id):
            counts = withdrawn.insert(id).inserted
            if counts, let fact = facts.first(where: { $0.id == id }) {
                hasFolded = true
                changed = (fact.kind.rawValue + "Cancelled", id)
                if alerted.contains(id) { revoked.append(id) }
            }
        case .patch(let seq, let key, let value):
            var isOld = arrival.at < newestPatchAt
            if let seq, let newest = newestSeq { isOld = seq <= newest }
            if isOld, !arrival.isCorrection {
                // A patch with a known number is a duplicate, and tells nothing of time; an old one does.
                counts = !(seq != nil && seq == newestSeq)
            } else {
                // A correction leaves the feed's own order alone.
                if !arrival.isCorrection {
                    newestSeq = seq ?? newestSeq
                    newestPatchAt = max(newestPatchAt, arrival.at)
                }
                fields[key] = value.map { key == .minutes ? quantised($0) : $0 }
                hasFolded = true
            }
        }
        if let id = arrival.id, !isRetraction { seenEvents.insert(id) }
        if counts, !arrival.isCorrection { newestAt = max(newestAt, arrival.at) }
        if ended { return }

        if case .end = arrival.what {
            publish(at: arrival.now, ends: true, alert: nil)
            return
        }
        guard let shown else {
            var isStart = false
            if case .start = arrival.what { isStart = true }
            let hasSomething = !fields.isEmpty || facts.contains { !withdrawn.contains($0.id) }
            guard isStart || (hasFolded && hasSomething) else { return }
            if !paused.isEmpty {
                startsOnResume = true
            } else {
                publish(at: arrival.now, ends: false, alert: alert(changed, lateBy: lateBy, at: arrival.now))
            }
            return
        }
        guard !looksAlike(state, before), !looksAlike(state, shown) else { return }
        if changed?.kind == "shot", lateBy > GameFeed.droppableAfter, !arrival.isCorrection { return }
        if !paused.isEmpty { return }
        let alert = alert(changed, lateBy: lateBy, at: arrival.now)
        let isEssential = changed?.kind == "goal" || changed?.kind == "goalCancelled"
        let free = shownAt + GameFeed.minimumInterval
        if isEssential || arrival.isCorrection || alert != nil || arrival.now >= free {
            publish(at: arrival.now, ends: false, alert: alert)
        } else {
            waitsUntil = free
        }
    }

    private func quantised(_ value: Int64) -> Int64 {
        if let shown = fields[.minutes], abs(value - shown) < 4 { return shown }
        return (value + 2) / 5 * 5
    }

    // MARK: - What people see

    private mutating func publish(at now: Int64, ends: Bool, alert: String?) {
        if shown == nil { startedAt = now }
        shown = state
        shownAt = now
        waitsUntil = nil
        ended = ends
        versions.append(Version(at: now, state: text(state), ends: ends, alert: alert))
    }

    private mutating func operate(_ operation: FeedEvent.Operation, _ scope: GameFeed.Scope, at now: Int64) {
        switch operation {
        case .mute: muted.insert(scope)
        case .unmute: muted.remove(scope)
        case .pause: paused.insert(scope)
        case .resume:
            guard paused.remove(scope) != nil, paused.isEmpty else { return }
            if ended { return }
            if let shown {
                if !looksAlike(state, shown) { publish(at: now, ends: false, alert: nil) }
            } else if startsOnResume {
                publish(at: now, ends: false, alert: nil)
            }
        case .republish:
            if shown != nil, !ended, paused.isEmpty { publish(at: now, ends: false, alert: nil) }
        }
    }

    private mutating func flush(at now: Int64) {
        waitsUntil = nil
        if !paused.isEmpty { return }
        if let shown, !looksAlike(state, shown) { publish(at: now, ends: false, alert: nil) }
    }

    private mutating func fireTimers(until now: Int64) {
        if let due = waitsUntil, due <= now, due <= startedAt + GameFeed.maximumDuration { flush(at: due) }
        let limit = startedAt + GameFeed.maximumDuration
        if shown != nil, !ended, limit <= now { publish(at: limit, ends: true, alert: nil) }
    }

    // MARK: - Alerts

    private mutating func alert(_ change: (kind: String, cause: String)?, lateBy: Int64, at now: Int64) -> String? {
        guard let change, muted.isEmpty else { return nil }
        switch change.kind {
        case "goal" where lateBy == 0 && !alerted.contains(change.cause):
            guard take("goal", GameFeed.goalBucket, now) || take("reserve", GameFeed.reserve, now) else { return nil }
            alerted.insert(change.cause)
            return change.cause
        case "goalCancelled" where alerted.contains(change.cause):
            guard take("goalCancelled", GameFeed.goalBucket, now) || take("reserve", GameFeed.reserve, now) else {
                return nil
            }
            return change.cause + "/cancelled"
        case "red" where lateBy == 0:
            guard level("red", GameFeed.redBucket, now) >= GameFeed.redBucket.refill,
                level("ordinary", GameFeed.ordinaryBucket, now) >= GameFeed.ordinaryBucket.refill
            else { return nil }
            _ = take("red", GameFeed.redBucket, now)
            _ = take("ordinary", GameFeed.ordinaryBucket, now)
            alerted.insert(change.cause)
            return change.cause
        default: return nil
        }
    }

    private func level(_ name: String, _ size: (burst: Int, refill: Int64), _ now: Int64) -> Int64 {
        let full = Int64(size.burst) * size.refill
        guard let bucket = buckets[name] else { return full }
        return min(full, bucket.milliseconds + now - bucket.at)
    }

    private mutating func take(_ name: String, _ size: (burst: Int, refill: Int64), _ now: Int64) -> Bool {
        let level = level(name, size, now)
        let isThere = level >= size.refill
        buckets[name] = (level - (isThere ? size.refill : 0), now)
        return isThere
    }
}
