import FanfareDecisions
import FanfareModel

/// Versions that people must see of a `GameFeed`, worked out as simply as possible: nothing is updated, everything is computed anew from
/// all arrivals. Shares neither code nor method with the decision core.
package struct ReferenceModel {
    /// A version as people see it.
    package struct Version: Equatable, CustomStringConvertible {
        /// Log time in milliseconds.
        package var at: Int64
        package var state: String
        package var ends: Bool
        /// Cause of the alert that it carries.
        package var alert: String?

        package init(at: Int64, state: String, ends: Bool, alert: String?) {
            self.at = at
            self.state = state
            self.ends = ends
            self.alert = alert
        }

        package var description: String { "\(at) ms\(ends ? ", end" : ""), alert \(alert ?? "-"): \(state)" }
    }

    package private(set) var versions: [Version] = []
    /// Facts whose alert was granted and that were withdrawn afterwards.
    package private(set) var revoked: [String] = []
    /// Times at which the game was forgotten.
    package private(set) var forgotten: [Int64] = []
    /// State of all arrivals, including those after the end; `nil` before the game and after it was forgotten.
    package var finalState: String? { life.map { text($0.state) } }

    private typealias Kind = GameFeed.Kind
    private typealias Key = GameFeed.Key

    /// One life of the game: from its first arrival until it is forgotten or begun afresh.
    private struct Life {
        // Arrivals that count.
        var facts: [(id: String, kind: Kind)] = []
        var withdrawn: Set<String> = []
        var fields: [Key: Int64] = [:]
        var seenEvents: Set<String> = []
        var newestAt: Int64 = .min
        /// Lag behind log time and time of arrival, for each event that was no older than the events before it.
        var lags: [(lag: Int64, at: Int64)] = []
        /// Time of the start, if the start was the first arrival.
        var tenureBeganAt: Int64?
        /// Patches that were taken. `doubts` has the refused ones since then whose times were newer nevertheless; `formerAt` is the newest
        /// time of the numbering before the present one.
        var patches: [(seq: UInt64?, at: Int64)] = []
        var doubts: [(seq: UInt64, at: Int64, key: Key, value: Int64?)] = []
        var formerAt: Int64?

        // State that people see.
        var shown: [String: Int64]?
        var shownAt: Int64 = 0
        var ended = false
        var mayReopen = false
        var waitsUntil: Int64?
        /// Time at which silence ends the game, or at which it is forgotten.
        var lapsesAt: Int64 = 0
        /// Is `true` if a pause held back the first version.
        var startsOnResume = false
        var alerted: Set<String> = []
        var buckets: [String: (milliseconds: Int64, at: Int64)] = [:]

        var state: [String: Int64] {
            var state: [String: Int64] = [:]
            for kind in Kind.allCases {
                state[kind.rawValue + "s"] = Int64(facts.filter { $0.kind == kind && !withdrawn.contains($0.id) }.count)
            }
            for (key, value) in fields { state[key.rawValue] = value }
            return state
        }

        /// Lag with which later ones are compared: the greatest of the last minute.
        var greatestLag: Int64? {
            var greatest = lags.first
            for next in lags.dropFirst() {
                if next.lag > greatest!.lag || next.at >= greatest!.at + GameFeed.lagSpan { greatest = next }
            }
            return greatest?.lag
        }

        var hasSomething: Bool { !fields.isEmpty || facts.contains { !withdrawn.contains($0.id) } }
        var silence: Int64 { shown?["minutes"] != nil ? GameFeed.endsAfterSilence : GameFeed.beginsWithin }
    }

    private let reopens: Reopening
    private var life: Life?
    /// Scopes of the operator's orders in force.
    private var paused: Set<GameFeed.Scope> = []
    private var muted: Set<GameFeed.Scope> = []
    /// Ids of orders that are not for this game alone.
    private var seenOrders: Set<String> = []

    package init(_ feed: GameFeed) {
        reopens = feed.reopens
        for arrival in feed.arrivals {
            fireTimers(until: arrival.now)
            take(arrival)
        }
        if let due = life?.waitsUntil { flush(at: due) }
    }

    private func text(_ state: [String: Int64]) -> String {
        "{" + state.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private func looksAlike(_ a: [String: Int64], _ b: [String: Int64]) -> Bool {
        a.filter { $0.key != "clock" } == b.filter { $0.key != "clock" }
    }

    // MARK: - Arrivals

    private mutating func take(_ arrival: GameFeed.Arrival) {
        if case .operation(let operation, let scope) = arrival.what, scope != .topic {
            if let id = arrival.id, !seenOrders.insert(id).inserted { return }
            return operate(operation, scope, at: arrival.now)
        }
        // The arrival belongs to a tenure before: it has no effect and begins no game.
        if life == nil, isOfBefore(arrival, at: arrival.at, Life()) { return }
        var game = life ?? Life()
        life = nil
        tell(arrival, to: &game)
        if !game.ended { game.lapsesAt = arrival.now + game.silence }
        life = game
    }

    private mutating func tell(_ arrival: GameFeed.Arrival, to game: inout Life) {
        let now = arrival.now
        let at = arrival.at > now + GameFeed.aheadMax ? now : arrival.at
        var isRetraction = false
        var isStart = false
        if case .retraction = arrival.what { isRetraction = true }
        if case .start = arrival.what { isStart = true }
        if let id = arrival.id, !isRetraction, game.seenEvents.contains(id) { return }

        if case .operation(let operation, _) = arrival.what {
            operate(operation, .topic, on: &game, at: now)
            if let id = arrival.id { game.seenEvents.insert(id) }
            return
        }
        // A start older than the latest arrivals is the former tenure's, delivered again.
        let isLate = game.newestAt != .min && at < game.newestAt - GameFeed.lateAfter
        if game.ended, isStart, reopens == .afresh, !isLate { game = Life() }
        if isOfBefore(arrival, at: at, game) { return }
        if isStart, reopens == .afresh, game.newestAt == .min, game.shown == nil { game.tenureBeganAt = min(at, now) }
        let before = game.state
        let age = max(0, game.newestAt == .min ? 0 : game.newestAt - at)
        // For the first arrival and for a backlog, log time alone tells how long ago the event happened.
        let isFirst = game.newestAt == .min && game.shown == nil
        let isBacklog =
            isFirst
            || !arrival.isCorrection && game.greatestLag.map { $0 - (now - at) > GameFeed.lagTolerance } ?? false
        let alertAge = isBacklog && now - at > GameFeed.freshFor ? now - at : age
        var changed: (kind: String, cause: String)?
        var hasFolded = false
        var counts = true
        switch arrival.what {
        case .start, .end, .pass, .operation: break
        case .fact(let id, let kind):
            counts = !game.facts.contains { $0.id == id }
            if counts {
                game.facts.append((id, kind))
                hasFolded = !game.withdrawn.contains(id)
                changed = hasFolded ? (kind.rawValue, id) : nil
            }
        case .retraction(let id):
            counts = game.withdrawn.insert(id).inserted
            if counts, let fact = game.facts.first(where: { $0.id == id }) {
                hasFolded = true
                changed = (fact.kind.rawValue + "Cancelled", id)
                if game.alerted.contains(id) { revoked.append(id) }
            }
        case .patch(let seq, let key, let value):
            let newestSeq = game.patches.last { $0.seq != nil }?.seq
            let newestAt = game.patches.map(\.at).max() ?? .min
            var isOld = at < newestAt
            var withIt: [(seq: UInt64, at: Int64, key: Key, value: Int64?)] = []
            if let seq, let newestSeq {
                isOld = seq <= newestSeq || game.formerAt.map { at <= $0 } ?? false
                if seq < newestSeq, !arrival.isCorrection, at > newestAt {
                    let speaksFrom = newestAt + GameFeed.lateAfter
                    let lower = game.doubts.filter { $0.seq < seq }
                    if at > speaksFrom, lower.contains(where: { $0.at > speaksFrom }) {
                        isOld = false
                        withIt = lower.sorted { $0.seq < $1.seq }
                        withIt.removeAll { [first = withIt[0]] in $0.at < first.at - GameFeed.lateAfter }
                        game.formerAt = newestAt
                    } else {
                        game.doubts.removeAll { $0.seq == seq }
                        game.doubts.append((seq, at, key, value))
                    }
                }
            }
            if isOld, !arrival.isCorrection {
                // A patch with a known number is a duplicate and has no effect on the newest time; an old patch has.
                counts = !(seq != nil && seq == newestSeq)
            } else {
                // A correction does not affect the feed's own order.
                if !arrival.isCorrection {
                    game.patches.append((seq, at))
                    game.doubts = []
                }
                for (key, value) in withIt.map({ ($0.key, $0.value) }) + [(key, value)] {
                    game.fields[key] = value.map { key == .minutes ? quantised($0, shown: game.fields[.minutes]) : $0 }
                }
                hasFolded = true
            }
        }
        if let id = arrival.id, !isRetraction { game.seenEvents.insert(id) }
        if counts, !arrival.isCorrection, at >= game.newestAt { game.lags.append((now - min(at, now), now)) }
        if counts, !arrival.isCorrection { game.newestAt = max(game.newestAt, min(at, now)) }

        if game.ended {
            if case .end = arrival.what { return }
            guard game.mayReopen || reopens == .resumed else { return }
            let hasNews = hasFolded && game.hasSomething && !looksAlike(game.state, game.shown ?? [:])
            guard isStart || hasNews else { return }
            (game.ended, game.mayReopen, game.shown) = (false, false, nil)
        }
        if case .end = arrival.what {
            publish(&game, at: now, ends: true, alert: nil)
            return
        }
        guard let shown = game.shown else {
            guard isStart || (hasFolded && game.hasSomething) else { return }
            if !paused.isEmpty {
                game.startsOnResume = true
            } else {
                publish(
                    &game, at: now, ends: false, alert: alert(changed, in: &game, age: alertAge, at: now))
            }
            return
        }
        guard !looksAlike(game.state, before), !looksAlike(game.state, shown) else { return }
        if changed?.kind == "shot", age > GameFeed.droppableAfter, !arrival.isCorrection { return }
        if !paused.isEmpty { return }
        let alert = alert(changed, in: &game, age: alertAge, at: now)
        let isEssential = changed?.kind == "goal" || changed?.kind == "goalCancelled"
        let free = game.shownAt + GameFeed.minimumInterval
        if isEssential || arrival.isCorrection || alert != nil || now >= free {
            publish(&game, at: now, ends: false, alert: alert)
        } else {
            game.waitsUntil = free
        }
    }

    /// Is `true` for an arrival of the tenure before: one older than the tenure's start, unless its number is newer; and an old end as the
    /// first arrival, which ends something that was never shown.
    private func isOfBefore(_ arrival: GameFeed.Arrival, at: Int64, _ game: Life) -> Bool {
        if arrival.isCorrection { return false }
        var isNewByNumber = false
        if case .patch(let seq?, _, _) = arrival.what, let newest = game.patches.last(where: { $0.seq != nil })?.seq {
            isNewByNumber = seq > newest
        }
        if let tenureBeganAt = game.tenureBeganAt, at < tenureBeganAt - GameFeed.lateAfter, !isNewByNumber {
            return true
        }
        guard case .end = arrival.what, reopens == .afresh else { return false }
        return game.newestAt == .min && game.shown == nil && arrival.now - at > GameFeed.behindMax
    }

    private func quantised(_ value: Int64, shown: Int64?) -> Int64 {
        if let shown, abs(value - shown) < 4 { return shown }
        return (value + 2) / 5 * 5
    }

    // MARK: - Content on phones

    private mutating func publish(_ game: inout Life, at now: Int64, ends: Bool, alert: String?) {
        game.shown = game.state
        game.shownAt = now
        game.waitsUntil = nil
        game.startsOnResume = false
        game.ended = ends
        game.lapsesAt = now + (ends ? GameFeed.dismissal + GameFeed.forgetAfter : game.silence)
        versions.append(Version(at: now, state: text(game.state), ends: ends, alert: alert))
    }

    private mutating func operate(_ operation: FeedEvent.Operation, _ scope: GameFeed.Scope, at now: Int64) {
        var game = life
        life = nil
        if game == nil {
            order(operation, scope)
        } else {
            operate(operation, scope, on: &game!, at: now)
        }
        life = game
    }

    private mutating func order(_ operation: FeedEvent.Operation, _ scope: GameFeed.Scope) {
        switch operation {
        case .mute: muted.insert(scope)
        case .unmute: muted.remove(scope)
        case .pause: paused.insert(scope)
        case .resume: paused.remove(scope)
        case .republish, .reset: break
        }
    }

    private mutating func operate(
        _ operation: FeedEvent.Operation, _ scope: GameFeed.Scope, on game: inout Life, at now: Int64
    ) {
        let wasPaused = !paused.isEmpty
        order(operation, scope)
        // An order for all topics affects only those that have not ended.
        if game.ended, scope != .topic { return }
        switch operation {
        case .mute, .unmute, .pause: break
        case .resume:
            guard wasPaused, paused.isEmpty, !game.ended else { return }
            if let shown = game.shown {
                if !looksAlike(game.state, shown) { publish(&game, at: now, ends: false, alert: nil) }
            } else if game.startsOnResume {
                publish(&game, at: now, ends: false, alert: nil)
            }
        case .republish:
            if game.shown != nil, !game.ended, paused.isEmpty { publish(&game, at: now, ends: false, alert: nil) }
        case .reset:
            game.seenEvents = []
            game.newestAt = .min
            game.tenureBeganAt = nil
            game.lags = []
            game.patches = []
            game.doubts = []
            game.formerAt = nil
            game.mayReopen = game.ended
        }
    }

    private mutating func flush(at now: Int64) {
        guard var game = life else { return }
        life = nil
        game.waitsUntil = nil
        if paused.isEmpty, let shown = game.shown, !looksAlike(game.state, shown) {
            publish(&game, at: now, ends: false, alert: nil)
        }
        life = game
    }

    private mutating func fireTimers(until now: Int64) {
        while var game = life {
            if let due = game.waitsUntil, due <= now, due <= game.lapsesAt {
                flush(at: due)
            } else if game.lapsesAt <= now {
                let due = game.lapsesAt
                life = nil
                if game.ended || game.shown == nil {
                    forgotten.append(due)
                    // Orders for this game alone are forgotten with it.
                    paused.remove(.topic)
                    muted.remove(.topic)
                } else {
                    publish(&game, at: due, ends: true, alert: nil)
                    life = game
                }
            } else {
                return
            }
        }
    }

    // MARK: - Alerts

    private func alert(
        _ change: (kind: String, cause: String)?, in game: inout Life, age: Int64, at now: Int64
    ) -> String? {
        guard let change, muted.isEmpty else { return nil }
        switch change.kind {
        case "goal" where age <= GameFeed.freshFor && !game.alerted.contains(change.cause):
            guard take("goal", GameFeed.goalBucket, of: &game, now) || take("reserve", GameFeed.reserve, of: &game, now)
            else { return nil }
            game.alerted.insert(change.cause)
            return change.cause
        case "goalCancelled" where game.alerted.contains(change.cause):
            guard
                take("goalCancelled", GameFeed.goalBucket, of: &game, now)
                    || take("reserve", GameFeed.reserve, of: &game, now)
            else { return nil }
            return change.cause + "/cancelled"
        case "red" where age <= GameFeed.lateAfter:
            guard level("red", GameFeed.redBucket, of: game, now) >= GameFeed.redBucket.refill,
                level("ordinary", GameFeed.ordinaryBucket, of: game, now) >= GameFeed.ordinaryBucket.refill
            else { return nil }
            _ = take("red", GameFeed.redBucket, of: &game, now)
            _ = take("ordinary", GameFeed.ordinaryBucket, of: &game, now)
            game.alerted.insert(change.cause)
            return change.cause
        default: return nil
        }
    }

    private func level(_ name: String, _ size: (burst: Int, refill: Int64), of game: Life, _ now: Int64) -> Int64 {
        let full = Int64(size.burst) * size.refill
        guard let bucket = game.buckets[name] else { return full }
        return min(full, bucket.milliseconds + now - bucket.at)
    }

    private func take(
        _ name: String, _ size: (burst: Int, refill: Int64), of game: inout Life, _ now: Int64
    ) -> Bool {
        let level = level(name, size, of: game, now)
        let isThere = level >= size.refill
        game.buckets[name] = (level - (isThere ? size.refill : 0), now)
        return isThere
    }
}
