import FanfareFanOut
import FanfareModel

/// Watches that alerts go before silent updates of other audiences, but for the share that keeps those from starving.
///
/// For 256 pushes of the first lane the lower ones may have 64 + 16 (`Lanes.weights`), and an audience that has begun its
/// quantum of 32 finishes it. So the balance rises with each silent push that goes while somebody elsewhere awaits an alert,
/// falls in that proportion with each push that brings one, and never exceeds one round.
struct LaneJudge {
    private static let perSilent = 256
    private static let perAlert = 64 + 16
    private static let balanceMax = (64 + 16 + 32) * perSilent
    private var balance = 0
    /// Private ends that may go in a row while somebody awaits an alert, be there as many of them as may.
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
        if payload.event == .end, phone.served != nil { return nil }
        if payload.alert != nil {
            if phone.awaitsAlert { node.lanes.alert() }
            return nil
        }
        // It goes with its audience's alert, which its subscriber does not want, or has had too many of.
        if phone.awaitsAlert { return nil }
        var isAwaitedElsewhere = false
        for other in phones where other.awaitsAlert && !other.isGone && !other.isExpired && nodes[other.node] === node {
            // Its own audience has the first lane, and this one is a joiner that stands among those who wait.
            if other.served == phone.served, payload.event == .update { return nil }
            // The system has ended the card; the one that renews it waits for its start, and nobody has been told of either yet.
            if age(of: other) >= lifetime { continue }
            // It may be gathering others.
            if case .lineup = other.served, options.lineupRules.gather > .zero { continue }
            isAwaitedElsewhere = true
        }
        guard payload.event == .update else { return isAwaitedElsewhere ? node.lanes.endBeforeAlert() : nil }
        return isAwaitedElsewhere ? node.lanes.silentBeforeAlert() : nil
    }
}
