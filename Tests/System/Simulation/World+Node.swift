import FanfareFanOut
import FanfareModel

extension World {
    /// One shard with its two rings, and its pushes in flight.
    final class Node {
        let index: Int
        let shard: Shard
        var clock: NodeClock
        /// Stamp epoch of the clock at the last pull.
        var stampEpoch: UInt32 = 0
        var service = Service()
        var credentials: Credentials?
        /// JWT of the pushes that leave now.
        var jwt: Credentials.JWT?
        /// Commands taken from the ring and not yet applied.
        var waiting = CommandQueue()
        var rings: NodeRings
        var flying: [Flight] = []
        /// Completions of removed activities, to be delivered once more.
        var echoes: [DeliveryCompletion] = []
        /// Pulls in a row for which the shard has said that it has nothing to send.
        var vainPulls = 0
        /// What was published to this shard.
        var topics = PublishedTopics()
        var judges: NodeJudges

        init(_ index: Int, _ options: WorldOptions, at moment: Moment) {
            self.index = index
            clock = NodeClock(at: moment, error: options.clockError)
            if options.provesTime {
                credentials = Credentials(at: clock.moment)
            } else if let error = options.clockError, abs(error.seconds) > 3600 {
                // A JWT by such a clock is invalid until the engine's clock is right again.
                service.revokeKey(until: moment.monotonic + .seconds(error.lasts + 20))
            }
            judges = NodeJudges(
                lanes: LaneJudge(options.lanes),
                deadTokens: DeadTokenJudge(remembering: options.deadTokenAnswers, probes: options.deadTokenProbes))
            rings = NodeRings(commandsMax: options.commandsMax, feedbackMax: options.feedbackMax)
            shard = Shard(
                lineups: options.lineupRules, feedbackMax: options.feedbackHeldMax, trackedMax: options.trackedMax,
                lifetime: options.lifetime, limits: options.limits, lanes: options.lanes,
                deadTokenAnswers: options.deadTokenAnswers, deadTokenProbes: options.deadTokenProbes)
            if options.keepsClaims {
                shard.keepClaims(
                    ClaimLimits(patience: options.claimPatience, blocks: 1...4, namedMax: options.namedMax))
                shard.reserveStamps(beyond: 0)
                clock.stamps.ceiling = 0
            }
        }

        func send(_ command: ShardCommand) { rings.send(command) }
    }
}
