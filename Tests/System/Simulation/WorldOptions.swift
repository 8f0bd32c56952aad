import FanfareDecisions
import FanfareFanOut
import FanfareModel

/// Size of a world, its events, and the frequency of its troubles.
package struct WorldOptions: Sendable {
    package var shards = 2
    package var activitiesMax = 24
    package var topics = 3
    package var lineups = true
    /// Chance per push that its token is dead; likewise for the following four outcomes.
    package var dead = 0.02
    package var throttled = 0.03
    package var notProcessed = 0.05
    package var uncertain = 0.05
    package var refused = 0.0
    /// Sets the nodes' clocks. `sickens` makes tokens and connections answer 5xx or not at all, `revokesKeys` revokes and mends keys,
    /// and `hasCrowds` lets many people come, leave or mute alerts at once.
    package var stepsClocks = true
    package var sickens = true
    /// Lets the service judge JWTs by their time, so that the engine can know a wrong clock; clocks are then wrong by days for minutes.
    package var provesTime = false
    package var revokesKeys = true
    package var hasCrowds = true
    /// Uses ids again for other cards.
    package var reusesIDs = false
    /// Delivers events out of order or from the future; topics begin long before their kick-off, or never end.
    package var disordersEvents = false
    /// Silences feeds; topics begin minutes before their first event of play, or never.
    package var silences = false
    var reopens = Reopening.never
    /// Time after a topic's dismissal until it is forgotten.
    package var forgetAfter = Duration.seconds(4 * 3600)
    /// Lets most people follow without a card, so that pushes start the cards, and renews cards all the time.
    package var handsOver = false
    package var starts = true
    /// Chance that an answer comes once more after its activity has gone.
    package var echo = 0.05
    /// Most pushes in flight per shard.
    package var window = 4
    /// Capacity of the ring from core to shard, a power of two; `feedbackMax` is that of the other ring, `feedbackHeldMax` the facts
    /// that a shard holds before it stops.
    package var commandsMax = 64
    package var feedbackMax = 64
    /// Most commands that a shard takes from its ring before it applies them.
    package var waitingMax = 64
    package var feedbackHeldMax = 64
    /// Publications per audience whose completion is tracked one by one.
    package var trackedMax = 64
    /// Shares of the lanes. With small ones a few pushes are a round, so that small worlds see one lane overtake another.
    var lanes = LaneShares()
    /// Limits of each activity.
    var limits = ActivityLimits()
    var lineupRules = LineupRules()
    /// Plans kick-offs in the content states, and moves them; otherwise a match is scheduled for the time of its first version.
    var plansKickOffs = false
    /// Lifetime of an activity; `renews` renews it at its end.
    package var lifetime = Duration.seconds(8 * 3600)
    package var renews = false
    /// Answers that the dead-token guard waits for, and answers that it remembers. With few
    /// of them, the environment is wrong now and then.
    var deadTokenAnswers = 100...1000
    /// Held activities that are tried at a time.
    package var deadTokenProbes = 100
    /// Seconds by which the engine's clock is wrong at the start, and for how many. Within the hour that APNs tolerates the clock must
    /// be ahead, because a clock that is late by less cannot be detected. After a correction, stamps go on from the wrong time, so this
    /// error and later ones (`NodeClock.set`) together are less than the seven hours that stamps may be ahead.
    package var clockError: (seconds: Int64, lasts: Int64)?
    /// Is `true` if alerts wait for claims, and stamps ahead of the clock for their ceiling, which the core confirms at once.
    var keepsClaims = false
    /// Names without an answer from which on others wait, and the time after which alerts leave without claims.
    var namedMax = 3
    var claimPatience = Duration.seconds(1_000_000)
    /// Is `true` if every token looks dead now and then; requires options in which that can be distinguished from dead tokens.
    var isMisconfigurable: Bool { deadTokenAnswers.lowerBound < 100 }
    package init() {}

    /// Troubles that can be switched off. Each is in some worlds only, selected by the seed.
    package enum Extra: String, CaseIterable, Sendable {
        case refusals, ids, order, comebacks, forgetting, silence, clocks, lanes, claims, schedule
        /// Lineups, starts and old age in worlds where every token looks dead now and then.
        case environments
        case handOvers = "hand-overs"
    }

    /// Makes the options of the seed's own world. Sizes vary widely, because the smallest worlds have the rarest coincidences.
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
        trackedMax = pick([1, 2, 64], 8)
        waitingMax = pick([1, 4, 64], 25)
        if extras.contains(.lanes) {
            lanes = pick([LaneShares(), LaneShares(visits: [8, 4, 2, 1], quantum: 4)], 31)
        }
        keepsClaims = extras.contains(.claims) && pick([false, false, true], 32)
        namedMax = pick([3, 3, 4096], 35)
        claimPatience = pick([.seconds(1_000_000), .seconds(2)], 36)
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
        if extras.contains(.schedule), pick([false, false, true], 33) {
            lineupRules.order = .schedule
            plansKickOffs = pick([true, true, false], 34)
        }
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
