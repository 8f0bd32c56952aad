import FanfareDecisions
import FanfareFanOut
import FanfareModel

extension World {
    /// How large a world is, what happens in it, and how often it goes wrong.
    package struct Options: Sendable {
        package var shards = 2
        package var activitiesMax = 24
        package var topics = 3
        package var lineups = true
        /// Chances per push.
        package var dead = 0.02
        package var throttled = 0.03
        package var notProcessed = 0.05
        package var unknown = 0.05
        package var refused = 0.0
        /// Somebody sets the nodes' clocks; tokens and connections are answered 5xx, or not at all; keys are revoked and mended; many
        /// come, leave or wish for silence at once.
        package var stepsClocks = true
        package var sickens = true
        /// The service judges JWTs by their time, so that the engine can know a wrong clock, and clocks are wrong by days for minutes.
        package var provesTime = false
        package var revokesKeys = true
        package var hasCrowds = true
        /// Ids are used again for other cards.
        package var reusesIDs = false
        /// Events come out of order, or from the future; topics begin long before their kick-off, or never end.
        package var disordersEvents = false
        /// Feeds fall silent, and topics begin minutes before their first event of play, or never do.
        package var silences = false
        var reopens = Reopening.never
        /// Of topics whose end has been dismissed.
        package var forgetAfter = Duration.seconds(4 * 3600)
        /// Who follows something mostly does so without having a card of it, and cards are renewed all the time.
        package var handsOver = false
        package var starts = true
        /// An answer that comes once more after its activity has gone.
        package var echo = 0.05
        /// Pushes that may be on their way at once, per shard.
        package var window = 4
        /// Capacities of the rings between core and shards, powers of two, and what a shard holds back before it is held up.
        package var commandsMax = 64
        package var feedbackMax = 64
        /// Commands that a shard takes from its ring before they are carried out.
        package var waitingMax = 64
        package var feedbackHeldMax = 64
        /// Publications per audience whose completion is told apart.
        package var openMax = 64
        /// Of each activity.
        var limits = ActivityLimits()
        var lineupRules = LineupRules()
        /// Of an activity, and whether it is renewed then.
        package var lifetime = Duration.seconds(8 * 3600)
        package var renews = false
        /// How many the dead-token guard waits for, and how many it remembers. With few of them, the environment is a wrong one
        /// now and then.
        var deadTokenAnswers = 100...1000
        /// Held activities that are tried at a time.
        package var deadTokenProbes = 100
        /// Seconds by which the engine's clock is wrong when it begins, and for which it is. Within the hour that APNs bears it must be
        /// ahead: of a clock that is late by that much nobody can know. Stamps go on from where a clock was that is put right, so together
        /// with what it is set back by later (`NodeClock.set`) it is less than the seven hours that they may be ahead.
        package var clockError: (seconds: Int64, lasts: Int64)?
        /// Every token looks dead now and then, where that can be told from tokens that are.
        var isMisconfigurable: Bool { deadTokenAnswers.lowerBound < 100 }
        package init() {}

        /// Troubles that a world may be told not to have. Each of them is in some worlds only: the seed says in which.
        package enum Extra: String, CaseIterable, Sendable {
            case refusals, ids, order, comebacks, forgetting, silence, clocks
            /// Lineups, starts and old age where every token looks dead now and then.
            case environments
            case handOvers = "hand-overs"
        }

        /// A world of the seed's own kind. Of every size: the smallest make the rarest meetings.
        package init(varying seed: UInt64, having extras: Set<Extra> = Set(Extra.allCases)) {
            func pick<Value>(_ values: [Value], _ salt: UInt64) -> Value {
                values[Int((seed &+ salt << 32).mixed % UInt64(values.count))]
            }
            shards = pick([1, 2], 1)
            activitiesMax = pick([1, 2, 3, 8, 24, 24, 100], 2)
            topics = pick([1, 2, 3, 4, 12], 3)
            window = pick([1, 2, 4, 16], 4)
            commandsMax = pick([1, 2, 64], 5)
            feedbackMax = pick([1, 2, 64], 6)
            feedbackHeldMax = pick([1, 4, 64], 7)
            openMax = pick([1, 2, 64], 8)
            waitingMax = pick([1, 4, 64], 25)
            limits = pick([ActivityLimits(), .tight], 9)
            deadTokenAnswers = pick([100...1000, 100...1000, 3...8, 6...30], 17)
            deadTokenProbes = pick([100, 1, 2, 5], 26)
            let wrong: Int64 = pick(
                [-20, 600, 1800, 3500, 9000, 40 * 3600, -3 * 3600, -12 * 3600] + Array(repeating: 0, count: 32), 27)
            if wrong != 0 { clockError = (wrong, pick([2, 20, 60, 200], 28)) }
            lineupRules = LineupRules(
                dwell: .seconds(pick([20, 20, 3], 13)), round: pick([nil, nil, .seconds(4)], 10),
                minimumInterval: .seconds(pick([2, 2, 0, 5], 11)), gather: .milliseconds(pick([0, 0, 1000, 300], 18)),
                rotationPushes: pick(
                    [.init(burst: 4, refill: .seconds(60)), .init(burst: 1, refill: .seconds(600))], 12))
            let isSimple = isMisconfigurable && !extras.contains(.environments)
            (lineups, starts) = (!isSimple, !isSimple)
            handsOver = !isSimple && extras.contains(.handOvers) && pick([false, false, true], 19)
            lifetime = isSimple ? .seconds(8 * 3600) : pick([.seconds(8 * 3600), .seconds(144)], 14)
            if handsOver { lifetime = .seconds(144) }
            renews = handsOver || pick([false, true], 15)
            reusesIDs = extras.contains(.ids) && pick([false, true], 23)
            disordersEvents = extras.contains(.order) && pick([false, true], 24)
            silences = extras.contains(.silence) && pick([false, false, true], 29)
            provesTime = extras.contains(.clocks) && pick([false, true], 30)
            if provesTime { revokesKeys = false }
            if extras.contains(.refusals) { refused = pick([0, 0.03], 20) }
            if extras.contains(.comebacks) { reopens = pick([.never, .afresh, .resumed], 21) }
            if extras.contains(.forgetting) { forgetAfter = pick([.seconds(4 * 3600), .zero, .seconds(20)], 22) }
        }
    }
}
