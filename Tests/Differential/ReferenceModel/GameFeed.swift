package import FanfareDecisions
package import FanfareModel

/// The feed of one made-up game, generated from a seed: duplicates, events that are late by milliseconds or minutes or dated far ahead,
/// retractions before and after their fact, bursts, clock jumps, sequence numbers that restart, operators' orders, ends at any time,
/// silence, and events after the end.
package struct GameFeed: Sendable {
    package struct Arrival: Sendable, CustomStringConvertible {
        package var now: Int64
        package var at: Int64
        /// Id of the event; facts have an id of their own.
        package var id: String?
        /// Is `true` for an operator's correction.
        package var isCorrection = false
        package var what: What

        package var description: String {
            "now \(now) ms, at \(at) ms, id \(id ?? "-"): \(isCorrection ? "correction " : "")\(what)"
        }
    }

    package enum What: Sendable {
        case start
        case end
        case pass
        case fact(id: String, kind: Kind)
        case retraction(of: String)
        case patch(seq: UInt64?, key: Key, value: Int64?)
        case operation(FeedEvent.Operation, Scope)
    }

    /// Scope of an operator's order.
    package enum Scope: CaseIterable, Sendable {
        case topic
        case kind
        case every
    }

    package enum Kind: String, CaseIterable, Sendable {
        /// An essential fact with an essential alert.
        case goal
        /// A fact that is not essential, with an ordinary alert.
        case red
        /// A silent fact.
        case card
        /// A fact that is not worth an update of its own when it is more than 5 s late.
        case shot
    }

    package enum Key: String, CaseIterable, Sendable {
        case note
        /// A field without a visible effect.
        case clock
        /// A field shown in steps of 5, which moves when it is 4 away.
        case minutes
    }

    package static let topic = TopicID("game/1")
    package static let kind = TopicKind("game")
    /// Log time of the feed's start.
    package static let zero = FeedTime(seconds: 1_600_000_000)
    package static let minimumInterval: Int64 = 2000
    package static let droppableAfter: Int64 = 5000
    package static let lateAfter: Int64 = 2000
    package static let freshFor: Int64 = 60_000
    package static let aheadMax: Int64 = 120_000
    package static let behindMax: Int64 = 120_000
    package static let lagTolerance: Int64 = 90_000
    package static let lagSpan: Int64 = 60_000
    /// Silence after which the game ends once it has begun, which means that it has minutes; `beginsWithin` is the limit before that.
    package static let endsAfterSilence: Int64 = 40_000
    package static let beginsWithin: Int64 = 100_000
    package static let dismissal: Int64 = 5000
    package static let forgetAfter: Int64 = 10_000
    package static let goalBucket = (burst: 2, refill: Int64(10_000))
    package static let redBucket = (burst: 3, refill: Int64(25_000))
    /// Smaller and faster than `redBucket`, so that either can be the empty one.
    package static let ordinaryBucket = (burst: 2, refill: Int64(10_000))
    package static let reserve = (burst: 1, refill: Int64(30_000))

    package var arrivals: [Arrival] = []
    package let reopens: Reopening

    package init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func number(_ bound: Int) -> Int { Int(random.next().multipliedFullWidth(by: UInt64(bound)).high) }
        reopens = Reopening.allCases[number(3)]
        // Length of the feed: a burst, a busy minute, long enough to end by silence, or to be forgotten.
        let spread = [3000, 20_000, 150_000, 600_000][number(4)]
        // Half of the feeds have coarse clocks: their events fall on the same moment, or on the very end of an interval.
        let step = [1, 500][number(2)]
        func time(_ bound: Int) -> Int { number(bound) / step * step }
        let isNumbered = number(2) == 0
        let countsUp = number(2) == 0
        var count: UInt64 = 0
        var facts: [String] = []
        if number(4) > 0 { arrivals.append(Arrival(now: 0, at: 0, id: nil, what: .start)) }
        for position in 0..<(4 + number(12)) {
            let at = Int64(time(spread))
            let what: What
            switch number(20) {
            case 0...8:
                facts.append("f\(position)")
                what = .fact(id: "f\(position)", kind: Kind.allCases[number(4)])
            case 9...11:
                what = .retraction(of: facts.isEmpty || number(5) == 0 ? "f\(number(16))" : facts[number(facts.count)])
            case 12...16:
                let value = number(6) == 0 ? nil : Int64(number(14))
                // Some feeds number all of their patches, some a few.
                count = number(6) == 0 ? 0 : count + 1
                let seq = isNumbered || number(5) == 0 ? countsUp ? count : UInt64(number(8)) : nil
                what = .patch(seq: seq, key: Key.allCases[number(3)], value: value)
            case 17:
                // An end cuts a feed off, so few feeds have it early.
                what =
                    number(2) == 0
                    ? .end : .operation(FeedEvent.Operation.allCases[number(6)], Scope.allCases[number(3)])
            case 18: what = .start
            default: what = .pass
            }
            // Most events arrive when they happen; some clocks are wrong.
            let delay =
                [0, 0, 0, 0, 0, number(3)][number(6)]
                + (number(10) < 6 ? 0 : time(spread) - (number(8) == 0 ? spread / 2 : 0))
            let isCorrection: Bool
            switch what {
            case .fact, .retraction, .patch: isCorrection = number(10) == 0
            case .start, .end, .pass, .operation: isCorrection = false
            }
            let now = max(0, at + Int64(delay))
            // A few events are dated so far ahead that it cannot be true, or nearly so.
            let isAhead = number(12) == 0
            let arrival = Arrival(
                now: now, at: isAhead ? now + GameFeed.aheadMax - 1000 + Int64(time(3000)) : at,
                id: number(3) == 0 ? nil : "e\(position)", isCorrection: isCorrection, what: what)
            arrivals.append(arrival)
            if number(8) == 0 {
                var again = arrival
                again.now += Int64(time(4000))
                arrivals.append(again)
            }
        }
        let order = arrivals.indices.sorted { (arrivals[$0].now, $0) < (arrivals[$1].now, $1) }
        arrivals = order.map { arrivals[$0] }
    }

    package var rules: Rules {
        var rules = GameFeed.rules
        rules.kinds[GameFeed.kind]?.lifetime.reopens = reopens
        return rules
    }

    private static let rules: Rules = {
        func condition(_ kind: Kind) -> CountingReducer.Counter { .init(fact: kind.rawValue) }
        func size(_ bucket: (burst: Int, refill: Int64)) -> TokenBucket.Size {
            .init(burst: bucket.burst, refill: .milliseconds(bucket.refill))
        }
        func alert(_ class: AlertClass, _ bucket: (burst: Int, refill: Int64)) -> AlertRule {
            AlertRule(
                `class`, burst: bucket.burst, refill: .milliseconds(bucket.refill), freshFor: .milliseconds(freshFor),
                words: .init(title: "!"))
        }
        let game = TopicRules(
            reducer: CountingReducer(
                counters: Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0.rawValue + "s", condition($0)) })),
            content: .init(fields: ["clock": .ignored, "minutes": .quantised(Quantiser(step: 5, hysteresis: 4))]),
            occasions: [
                "goal": OccasionRule(essential: true, alert: alert(.essential, goalBucket)),
                "goalCancelled": OccasionRule(essential: true, alert: alert(.essential, goalBucket)),
                "red": OccasionRule(essential: false, alert: alert(.ordinary, redBucket)),
                "shot": OccasionRule(essential: false, droppableAfter: .milliseconds(droppableAfter)),
            ],
            alerts: .init(ordinary: size(ordinaryBucket), reserved: size(reserve)),
            pace: .init(minimumInterval: .milliseconds(minimumInterval), lateAfter: .milliseconds(lateAfter)),
            lifetime: .init(
                beginsWhen: [Condition("minutes", .present(true))], beginsWithin: .milliseconds(beginsWithin),
                endsAfterSilence: .milliseconds(endsAfterSilence), dismissal: .after(.milliseconds(dismissal)),
                forgetAfter: .milliseconds(forgetAfter)))
        return Rules(kinds: [kind: game], other: .generic)
    }()

    /// Returns the arrival as an event for the engine.
    package func event(_ arrival: Arrival) -> FeedEvent {
        let at = GameFeed.zero + .milliseconds(arrival.at)
        var event = FeedEvent(
            topic: GameFeed.topic, topicKind: GameFeed.kind, at: at, id: arrival.id, kind: "event")
        event.isCorrection = arrival.isCorrection
        switch arrival.what {
        case .start: event.lifecycle = .start
        case .end: event.lifecycle = .end
        case .pass: break
        case .fact(let id, let kind): event.change = .fact(Fact(id: id, kind: kind.rawValue, at: at, values: [:]))
        case .retraction(let id): event.change = .retraction(of: id)
        case .operation(let operation, let scope):
            event.change = .operation(operation)
            if scope != .topic { event.topic = .every }
            if scope == .every { event.topicKind = nil }
        case .patch(let seq, let key, let value):
            event.seq = seq
            event.change = .patch([key.rawValue: value.map(JSONValue.int) ?? .null])
        }
        return event
    }
}
