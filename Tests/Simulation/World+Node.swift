import FanfareFanOut
import FanfareModel

extension World {
    /// One shard with its two rings, and the pushes it has on the network.
    final class Node {
        let index: Int
        let shard: Shard
        var clock: NodeClock
        /// Of the last pull.
        var stampEpoch: UInt32 = 0
        var service = Service()
        var credentials: Credentials?
        /// Of what leaves now.
        var jwt: Credentials.JWT?
        /// What found the ring of commands full: while anything waits here, the core takes nothing new.
        var backlog: [ShardCommand] = []
        /// Taken from the ring, not yet carried out; the versions among them by serial, and how many questions had been taken before.
        var waiting = CommandQueue()
        var waitingVersions: [UInt64: (version: Publication, questions: Int)] = [:]
        var questionsTaken = 0
        var sendCommands: RingProducer<ShardCommand>
        var commands: RingConsumer<ShardCommand>
        var sendFeedback: RingProducer<ShardFeedback>
        var feedback: RingConsumer<ShardFeedback>
        var flying: [Flight] = []
        /// Answers of the past that will come again.
        var echoes: [Completion] = []
        var lanes = LaneJudge()
        /// Newest publication per topic that this shard has been told of, and alerts it was told to revoke.
        var latest: [TopicID: Publication] = [:]
        /// Per topic everything it was told, and when the topic ended.
        var told: [TopicID: [Told]] = [:]
        var endedAt: [TopicID: Int64] = [:]
        /// The turn of each topic's id that was published last, and what was published last of each turn.
        var turns: [TopicID: Int] = [:]
        var lastOfTurn: [Turn: Publication] = [:]
        /// Those of them that the core publishes no more, and somebody still looks at.
        var forgotten: Set<TopicID> = []
        /// Of those the ones that nobody may have looked at for a moment, so that the shard may have forgotten them, too.
        var mayBeUnknown: Set<TopicID> = []
        /// Lineups that somebody has had, and since when.
        var lineups: [AudienceKey: Int64] = [:]
        /// Of those the ones in which nothing has been published since they began.
        var waitingLineups: Set<AudienceKey> = []
        var deadTokens: DeadTokenJudge
        /// Told of dead tokens, and that they are few again.
        var alarmsHeard = 0
        var resumptionsHeard = 0
        var revoked: Set<String> = []
        /// Questions whether all is quiet: how many there were, up to which they are answered, and who lacked what when the shard got
        /// each of the others.
        var asked: UInt64 = 0
        var answered: UInt64 = 0
        var questions: [UInt64: [Lack]] = [:]
        var completed: [UInt64: Int] = [:]
        var overtaken: Set<UInt64> = []
        /// Of which topic each was, and when it was told of it, monotonic nanoseconds.
        var published: [UInt64: (topic: TopicID, at: Int64)] = [:]

        init(_ index: Int, _ options: Options, at moment: Moment) {
            self.index = index
            clock = NodeClock(at: moment, error: options.clockError)
            if options.provesTime {
                credentials = Credentials(at: clock.moment)
            } else if let error = options.clockError, abs(error.seconds) > 3600 {
                // A JWT by such a clock is none, until the engine goes by the right time again.
                service.revokeKey(until: moment.monotonicNanoseconds + (error.lasts + 20) * 1_000_000_000)
            }
            deadTokens = DeadTokenJudge(remembering: options.deadTokenAnswers, probes: options.deadTokenProbes)
            shard = Shard(
                lineups: options.lineupRules, feedbackMax: options.feedbackHeldMax, openMax: options.openMax,
                lifetime: options.lifetime, limits: options.limits, deadTokenAnswers: options.deadTokenAnswers,
                deadTokenProbes: options.deadTokenProbes)
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

        /// - Returns: whether anything went.
        func flush() -> Bool {
            var sent = 0
            while sent < backlog.count, sendCommands.tryPush(backlog[sent]) { sent += 1 }
            backlog.removeFirst(sent)
            return sent > 0
        }
    }

    struct Flight {
        let delivery: Delivery
        let payload: Payload
        /// The alerts it names.
        let told: [AlertText]
        let phone: Int
        let token: [UInt8]
        var outcome: DeliveryOutcome
        var arrives: Bool
        var jwt: Credentials.JWT?
        /// By the phone's own clock it is neither of long ago nor of tomorrow.
        let isTaken: Bool
        /// What it has met.
        let trouble: Trouble?
    }
}
