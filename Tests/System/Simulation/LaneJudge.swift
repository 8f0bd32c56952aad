import FanfareFanOut
import FanfareModel

/// Checks that alerts go before silent updates of other audiences, apart from the share that keeps those from starving.
///
/// For each round of the first lane the lower lanes may have a round of theirs, and an audience that has begun its quantum finishes it. The
/// balance therefore rises with each silent push while another audience awaits an alert, falls in that proportion with each push of the
/// first lane, and never exceeds a round. Another one is for visits of the first lane that bring no push, which this judge does not see.
struct LaneJudge {
    private let perSilent: Int
    private let perUrgent: Int
    private let balanceMax: Int
    private var balance = 0
    /// Visits that cursors may make to lineups which another topic's cursor has brought up to date: visits of the first lane without a push.
    private var vainVisits = 0
    /// Most private ends in a row while another audience awaits an alert.
    private let endsMax: Int
    private var ends = 0

    init(_ shares: LaneShares) {
        perSilent = shares.visits[0]
        perUrgent = shares.visits.dropFirst().reduce(0, +)
        balanceMax = (2 * perUrgent + shares.quantum) * perSilent
        endsMax = 4 * shares.quantum
    }

    mutating func silentBeforeAlert() -> String? {
        balance += perSilent
        let excused = min(vainVisits, max(0, balance - balanceMax + perUrgent - 1) / perUrgent)
        vainVisits -= excused
        balance -= excused * perUrgent
        return balance > balanceMax ? "silent pushes overtake the alerts of other audiences" : nil
    }

    /// Notes that a topic's cursor is to visit this many lineups, of so many topics together.
    mutating func cursorBegins(over lineups: Int, most: Int) { vainVisits = min(vainVisits + lineups, most) }

    mutating func endBeforeAlert() -> String? {
        urgent()
        ends += 1
        return ends > endsMax ? "private ends overtake the alerts of others (10)" : nil
    }

    mutating func alert() {
        urgent()
        ends = 0
    }

    /// Notes a push of the first lane: an alert, a start, or an end.
    mutating func urgent() { balance = max(0, balance - perUrgent) }
}

extension World {
    func judgeLane(of payload: Payload, for phone: Phone, from node: Node) -> String? {
        if node.isByLot { return nil }
        if payload.alert != nil {
            node.lanes.alert()
            return nil
        }
        let rank = rank(of: payload, for: phone, from: node)
        if payload.event == .end, phone.served == nil {
            return rank == .overtaking ? node.lanes.endBeforeAlert() : nil
        }
        switch rank {
        case .urgent:
            node.lanes.urgent()
            return nil
        case .alone: return nil
        case .overtaking: return node.lanes.silentBeforeAlert()
        }
    }

    private enum Rank { case urgent, alone, overtaking }

    /// Returns whether the silent push is one of the first lane, or overtakes somebody's alert, or nobody's.
    private func rank(of payload: Payload, for phone: Phone, from node: Node) -> Rank {
        if payload.event == .start || payload.event == .end && phone.served != nil { return .urgent }
        // The push goes with the alert of its audience, which its subscriber does not want or has had too often.
        if phone.alerts.isAwaited { return .urgent }
        var rank = Rank.alone
        for other in phones
        where other.alerts.isAwaited && !other.life.isGone && !other.life.isExpired && nodes[other.node] === node {
            // The other phone's audience is in the first lane, and this phone is a joiner among its members.
            if other.served == phone.served, payload.event == .update { return .urgent }
            // The alert may not leave yet, and nobody waits for the disk with it.
            if node.shard.awaitsClaim(other.id) { continue }
            // Its subscriber does not want the alert or has had too many, and nothing else may change on the card: no push will come.
            if other.alerts.missed.allSatisfy(\.mayBeSettled) { continue }
            // The system has ended the card, and the start of its successor is pending; neither has been reported.
            if age(of: other) >= lifetime { continue }
            // A lineup may be gathering further alerts.
            if case .lineup = other.served, options.lineupRules.gather > .zero { continue }
            // The cursor that brings the alert to lineups comes to this one, too, which has had it or does not want it.
            if case .lineup(let topics, _) = phone.served,
                other.alerts.missed.contains(where: { topics.contains($0.topic) })
            {
                return .urgent
            }
            rank = .overtaking
        }
        return rank
    }
}
