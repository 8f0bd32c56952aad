import FanfareFanOut
import FanfareModel

/// Pushes in the order of their lanes, for `LaneJudge`.
extension World {
    func judgeLane(of payload: Payload, for phone: Phone, from node: Node) -> String? {
        if node.judges.lanes.isByLot { return nil }
        if payload.alert != nil {
            node.judges.lanes.alert()
            return nil
        }
        let rank = rank(of: payload, for: phone, from: node)
        if payload.event == .end, phone.served == nil {
            return rank == .overtaking ? node.judges.lanes.endBeforeAlert() : nil
        }
        switch rank {
        case .urgent:
            node.judges.lanes.urgent()
            return nil
        case .alone: return nil
        case .overtaking: return node.judges.lanes.silentBeforeAlert()
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
            if age(of: other).isOver { continue }
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
