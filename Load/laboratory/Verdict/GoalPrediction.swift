/// The way of one goal to its audience, predicted from measured costs: the client and its simulator share one machine's processors.
package struct GoalPrediction: Sendable {
    package var audience: Double
    package var shards = 1
    package var processors = 2
    package var hasLineups = false
    package var connections = 64.0
    /// Seconds of a round trip to the server, and between a request's arrival there and its answer.
    package var roundTrip = 0.0
    package var answerDelay = 0.0
    /// Mean seconds of a stall of one connection, and seconds from one stall to the next; `nil`: none stalls.
    package var stall: (length: Double, every: Double)?

    /// First congestion window of a connection (RFC 6928), and the most that a socket's buffer lets it become.
    private static let windowBytes = (first: 14_600.0, most: 4_194_304.0)

    package init(audience: Double) { self.audience = audience }

    /// Goals of a scenario, as far as its summary tells what they meet.
    ///
    /// - Parameter processors: of the machine.
    package init(_ goal: Goal, of scenario: ScenarioSummary, processors: Int) {
        audience = Double(goal.followers ?? goal.audience)
        shards = scenario.shards
        self.processors = processors
        hasLineups = scenario.hasLineups ?? false
        roundTrip = scenario.roundTrip ?? 0
        answerDelay = scenario.answerDelay ?? 0
        if let length = scenario.stall, let every = scenario.stallEvery { stall = (length, every) }
    }

    /// Pushes a second, when nothing but processors and streams limits them: each shard and the simulator use one processor at most, and
    /// a stream is taken until its answer is there.
    private func rate(_ costs: MeasuredCosts) -> Double {
        let push = hasLineups ? costs.lineupSend : costs.cpuPerPush
        let alone = max(push / Double(shards), costs.cpuPerSimulatedPush)
        let use = shards > 1 && shards + 1 > processors ? costs.sharedUse : 1
        let together = (push + costs.cpuPerSimulatedPush) / (Double(processors) * use)
        let answer = roundTrip + answerDelay
        let byStreams = answer > 0 ? connections * CapacityPlan.streams / answer : .infinity
        return min(1 / max(alone, together), byStreams)
    }

    /// Seconds for which a lineup waits for further alerts before it has the first (`lineups.gather` of a shard).
    private static let gatherSeconds = 1.0

    /// Seconds from the goal to its last accepted push. The pushes of a connection that stalls are the last ones, if a stall meets the goal.
    package func last(_ costs: MeasuredCosts) -> Double {
        let spread = spread(costs)
        let stalled = stall.map { $0.length * min(1, spread / $0.every) } ?? 0
        return (hasLineups ? gathering(costs) : 0) + spread + stalled
    }

    /// Seconds until the first lineup's push: each lineup looks at the news meanwhile, which may take longer than alerts wait.
    private func gathering(_ costs: MeasuredCosts) -> Double {
        let look = max(0, costs.cpuPerLineupPush - costs.lineupSend)
        return max(GoalPrediction.gatherSeconds, audience * look / Double(min(shards, processors)))
    }

    /// Over a distance TCP begins slowly: each connection sends one window in a round trip, and the window doubles.
    private func spread(_ costs: MeasuredCosts) -> Double {
        let rate = rate(costs)
        guard roundTrip > 0 else { return audience / rate + answerDelay }
        let bytes = costs.bodyBytes + MeasuredCosts.bytesBesideBody
        var (sent, seconds, window) = (0.0, 0.0, GoalPrediction.windowBytes.first)
        while window < GoalPrediction.windowBytes.most {
            let room = min(connections * window / bytes, rate * roundTrip)
            // At the full rate slow start is over.
            guard room < rate * roundTrip, sent + room < audience else { break }
            sent += room
            seconds += roundTrip
            window *= 2
        }
        return seconds + (audience - sent) / rate + roundTrip + answerDelay
    }
}
