import FanfareFanOut
import FanfareModel

/// Checks that alerts go before silent updates of other audiences, apart from the share that keeps those from starving.
///
/// For 256 pushes of the first lane the lower lanes may have 64 + 16 (`Lanes.weights`), and an audience that has begun its quantum of 32
/// finishes it. The balance therefore rises with each silent push while another audience awaits an alert, falls in that proportion with
/// each push that carries one, and never exceeds one round.
struct LaneJudge {
    private static let perSilent = 256
    private static let perAlert = 64 + 16
    private static let balanceMax = (64 + 16 + 32) * perSilent
    private var balance = 0
    /// Most private ends in a row while another audience awaits an alert.
    private static let endsMax = 64
    private var ends = 0

    mutating func silentBeforeAlert() -> String? {
        balance += LaneJudge.perSilent
        return balance > LaneJudge.balanceMax ? "silent pushes overtake the alerts of other audiences" : nil
    }

    mutating func endBeforeAlert() -> String? {
        ends += 1
        return ends > LaneJudge.endsMax ? "private ends overtake the alerts of others (10)" : nil
    }

    mutating func alert() {
        balance = max(0, balance - LaneJudge.perAlert)
        ends = 0
    }
}

extension World {
    func judgeLane(of payload: Payload, for phone: Phone, from node: Node) -> String? {
        if node.isByLot || payload.event == .end && phone.served != nil { return nil }
        if payload.alert != nil {
            if phone.awaitsAlert { node.lanes.alert() }
            return nil
        }
        // The push goes with the alert of its audience, which its subscriber does not want or has had too often.
        if phone.awaitsAlert { return nil }
        var isAwaitedElsewhere = false
        for other in phones where other.awaitsAlert && !other.isGone && !other.isExpired && nodes[other.node] === node {
            // The other phone's audience is in the first lane, and this phone is a joiner among its members.
            if other.served == phone.served, payload.event == .update { return nil }
            // Its subscriber does not want the alert or has had too many, and nothing else may change on the card: no push will come.
            if other.missed.allSatisfy(\.mayBeSettled) { continue }
            // The system has ended the card, and the start of its successor is pending; neither has been reported.
            if age(of: other) >= lifetime { continue }
            // A lineup may be gathering further alerts.
            if case .lineup = other.served, options.lineupRules.gather > .zero { continue }
            isAwaitedElsewhere = true
        }
        guard payload.event == .update else { return isAwaitedElsewhere ? node.lanes.endBeforeAlert() : nil }
        return isAwaitedElsewhere ? node.lanes.silentBeforeAlert() : nil
    }
}
