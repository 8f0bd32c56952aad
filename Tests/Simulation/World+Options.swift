import FanfareCore

extension World {
    /// How large a world is, what happens in it, and how often it goes wrong.
    public struct Options: Sendable {
        public var shards = 2
        public var activitiesMax = 24
        public var topics = 3
        public var lineups = true
        /// Chances per push.
        public var dead = 0.02
        public var throttled = 0.03
        public var notProcessed = 0.05
        public var unknown = 0.05
        public var refused = 0.0
        /// An answer that comes once more after its activity has gone.
        public var echo = 0.05
        /// Pushes that may be on their way at once, per shard.
        public var window = 4
        /// Capacities of the rings between core and shards, powers of two, and what a shard holds back before it is held up.
        public var commandsMax = 64
        public var feedbackMax = 64
        public var feedbackHeldMax = 64
        /// Publications per audience whose completion is told apart.
        public var openMax = 64
        /// Of each activity.
        var limits = ActivityLimits()
        var lineupRules = LineupRules()
        /// Of an activity, and whether it is renewed then.
        public var lifetime = Duration.seconds(8 * 3600)
        public var renews = false
        /// How many the dead-token guard waits for, and how many it remembers. With few of them, the environment is a wrong one
        /// now and then.
        var deadTokenAnswers = 100...1000
        /// One thing at a time: there are neither lineups then, nor starts, nor ends of old age.
        var isMisconfigurable: Bool { deadTokenAnswers.lowerBound < 100 }
        public init() {}

        /// A world of the seed's own kind. Of every size: the smallest make the rarest meetings.
        public init(varying seed: UInt64) {
            func pick<Value>(_ values: [Value], _ salt: UInt64) -> Value {
                values[Int((seed &+ salt << 32).mixed % UInt64(values.count))]
            }
            shards = pick([1, 2], 1)
            activitiesMax = pick([1, 2, 3, 8, 24], 2)
            topics = pick([1, 2, 3, 4, 12], 3)
            window = pick([1, 2, 4, 16], 4)
            commandsMax = pick([1, 2, 64], 5)
            feedbackMax = pick([1, 2, 64], 6)
            feedbackHeldMax = pick([1, 4, 64], 7)
            openMax = pick([1, 2, 64], 8)
            limits = pick([ActivityLimits(), .tight], 9)
            deadTokenAnswers = pick([100...1000, 100...1000, 3...8, 6...30], 17)
            lineups = !isMisconfigurable
            lineupRules = LineupRules(
                dwell: .seconds(pick([20, 20, 3], 13)), round: pick([nil, nil, .seconds(4)], 10),
                minimumInterval: .seconds(pick([2, 2, 0, 5], 11)), gather: .milliseconds(pick([0, 0, 1000, 300], 18)),
                rotationPushes: pick(
                    [.init(burst: 4, refill: .seconds(60)), .init(burst: 1, refill: .seconds(600))], 12))
            lifetime = isMisconfigurable ? .seconds(8 * 3600) : pick([.seconds(8 * 3600), .seconds(144)], 14)
            renews = pick([false, true], 15)
        }
    }
}
