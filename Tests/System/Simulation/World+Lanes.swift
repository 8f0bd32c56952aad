import FanfareFanOut
import FanfareModel

/// Pushes in the order of their lanes, for `LaneJudge`.
extension World {
    func judgeLane(of payload: Payload, for sight: Sight, from node: Node) -> String? {
        if node.judges.lanes.isByLot { return nil }
        let ranking = LaneRanking(
            phones: phones, histories: histories, node: node.index, now: moment.monotonic, lifetime: lifetime,
            gathers: options.lineupRules.gather > .zero, awaitsClaim: { node.shard.awaitsClaim($0) })
        return node.judges.lanes.seen(ranking.rank(of: payload, for: sight.phone, lacking: sight.history.alerts))
    }
}
