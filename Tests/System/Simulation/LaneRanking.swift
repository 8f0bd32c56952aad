import FanfareFanOut
import FanfareModel

/// The rank of a push among what the phones of its shard wait for.
struct LaneRanking {
    let phones: [Phone]
    /// What was pushed to each of these phones.
    let histories: [PushHistory]
    /// Number of the shard's node.
    let node: Int
    let now: MonotonicTime
    /// Time for which the system keeps a card.
    let lifetime: Duration
    /// Is `true` if lineups gather alerts.
    let gathers: Bool
    /// Tells whether an activity waits for the claim of an alert.
    let awaitsClaim: (ActivityID) -> Bool

    /// - Parameter alerts: alerts that the phone lacks.
    func rank(of payload: Payload, for phone: Phone, lacking alerts: LackedAlerts) -> LaneJudge.Rank {
        if payload.alert != nil { return .alert }
        let rank = silentRank(of: payload, for: phone, lacking: alerts)
        guard payload.event == .end, phone.served == nil else { return rank }
        return rank == .overtaking ? .overtakingEnd : .alone
    }

    /// Returns whether the silent push is one of the first lane, or overtakes somebody's alert, or nobody's.
    private func silentRank(
        of payload: Payload, for phone: Phone, lacking alerts: LackedAlerts
    ) -> LaneJudge.Rank {
        if payload.event == .start || payload.event == .end && phone.served != nil { return .urgent }
        // The push goes with the alert of its audience, which its subscriber does not want or has had too often.
        if alerts.isAwaited { return .urgent }
        var rank = LaneJudge.Rank.alone
        for (other, history) in zip(phones, histories)
        where history.alerts.isAwaited && !other.life.isGone && !other.life.isExpired && other.node == node {
            // The other phone's audience is in the first lane, and this phone is a joiner among its members.
            if other.served == phone.served, payload.event == .update { return .urgent }
            // The alert may not leave yet, and nobody waits for the disk with it.
            if awaitsClaim(other.id) { continue }
            // Its subscriber does not want the alert or has had too many, and nothing else may change on the card: no push will come.
            if history.alerts.missed.allSatisfy(\.mayBeSettled) { continue }
            // The system has ended the card, and the start of its successor is pending; neither has been reported.
            if CardAge(passed: now - other.life.beganAt, lifetime: lifetime).isOver { continue }
            // A lineup may be gathering further alerts.
            if case .lineup = other.served, gathers { continue }
            // The cursor that brings the alert to lineups comes to this one, too, which has had it or does not want it.
            if case .lineup(let topics, _) = phone.served,
                history.alerts.missed.contains(where: { topics.contains($0.topic) })
            {
                return .urgent
            }
            rank = .overtaking
        }
        return rank
    }
}
