import FanfareFanOut
import FanfareModel
import FanfareQueues

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
        /// Commands that found the ring full. The core takes no new events while any wait here.
        var backlog: [ShardCommand] = []
        /// Commands taken from the ring and not yet applied.
        var waiting = CommandQueue()
        var sendCommands: RingProducer<ShardCommand>
        var commands: RingConsumer<ShardCommand>
        var sendFeedback: RingProducer<ShardFeedback>
        var feedback: RingConsumer<ShardFeedback>
        var flying: [Flight] = []
        /// Completions of removed activities, to be delivered once more.
        var echoes: [DeliveryCompletion] = []
        var lanes: LaneJudge
        /// Is `true` while a push is judged that chance has chosen, whatever its urgency.
        var isByLot = false
        /// Pulls in a row for which the shard has said that it has nothing to send.
        var vainPulls = 0
        /// What was published to this shard.
        var topics = PublishedTopics()
        var deadTokens: DeadTokenJudge
        var questions = QuestionJudge<Lack>()
        var overtaking = OvertakingJudge()
        var completions = CompletionJudge()

        init(_ index: Int, _ options: WorldOptions, at moment: Moment) {
            self.index = index
            clock = NodeClock(at: moment, error: options.clockError)
            if options.provesTime {
                credentials = Credentials(at: clock.moment)
            } else if let error = options.clockError, abs(error.seconds) > 3600 {
                // A JWT by such a clock is invalid until the engine's clock is right again.
                service.revokeKey(until: moment.monotonic + .seconds(error.lasts + 20))
            }
            deadTokens = DeadTokenJudge(remembering: options.deadTokenAnswers, probes: options.deadTokenProbes)
            lanes = LaneJudge(options.lanes)
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
            let commandRing = OneToOneRing<ShardCommand>(capacity: options.commandsMax)
            sendCommands = commandRing.takeProducer()
            commands = commandRing.takeConsumer()
            let feedbackRing = OneToOneRing<ShardFeedback>(capacity: options.feedbackMax)
            sendFeedback = feedbackRing.takeProducer()
            feedback = feedbackRing.takeConsumer()
        }

        func send(_ command: ShardCommand) {
            if !backlog.isEmpty || !sendCommands.tryPush(command) { backlog.append(command) }
        }

        /// - Returns: `true` if a command was sent.
        func flush() -> Bool {
            var sent = 0
            while sent < backlog.count, sendCommands.tryPush(backlog[sent]) { sent += 1 }
            backlog.removeFirst(sent)
            return sent > 0
        }
    }
}
