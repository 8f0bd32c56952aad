import FanfareModel

/// One match of a synthetic match day, from ten minutes before its kick-off to its end.
struct MatchScript {
    /// Special event of a match.
    enum Story {
        case ordinary
        /// A goal in a second that another match shares.
        case sharedSecond
        /// A goal, and a minute or two later its cancellation.
        case cancelledGoal
        case secondYellow
        /// Level after ninety minutes: extra time and a shoot-out.
        case shootout
        /// A goal that the feed delivers twice.
        case repeatedGoal
        /// A card that is entered only after the final whistle.
        case cardAfterTheEnd

        /// Stories of ten matches; the seed shuffles them.
        static let oneOfEachDay: [Story] = [
            .sharedSecond, .sharedSecond, .cancelledGoal, .secondYellow, .shootout, .repeatedGoal, .cardAfterTheEnd,
            .ordinary, .ordinary, .ordinary,
        ]
    }

    private enum Side: String, CaseIterable {
        case home, away
        var other: Side { self == .home ? .away : .home }
    }

    /// Time during which the ball is in play.
    private typealias Play = ClosedRange<FeedTime>

    let topic: String
    private let teams: [Side: String]
    private let squads: [Side: [String]]
    private var random: SplitMix64
    private var rawCount = 0
    private var goalCount = 0
    private var cardCount = 0
    private var substitutionCount = 0
    private var booked: Set<String> = []
    private(set) var entries: [FeedEntry] = []

    init(topic: String, home: String, away: String, random: SplitMix64) {
        self.topic = topic
        self.random = random
        teams = [.home: home, .away: away]
        squads = [.home: SyntheticNames.squad(&self.random), .away: SyntheticNames.squad(&self.random)]
    }

    mutating func play(_ story: Story, kickoff: FeedTime, sharedSecond: FeedTime) {
        let begin = kickoff + .milliseconds(random.number(in: 0...40_000))
        let first = begin...begin + minutes(45, to: 49)
        let restart = first.upperBound + .seconds(15 * 60) + .milliseconds(random.number(in: 0...60_000))
        let second = restart...restart + minutes(46, to: 52)

        announce(at: kickoff + .seconds(-600))
        period("1H", at: first.lowerBound)
        period("HT", at: first.upperBound)
        period("2H", at: second.lowerBound)
        noise(in: first)
        noise(in: second)
        substitutions(in: second)
        cards(in: [first, second])

        switch story {
        case .shootout:
            let each = random.number(in: 0...2)
            for side in Side.allCases {
                for _ in 0..<each { goal(side, at: moment(in: random.element(of: [first, second]))) }
            }
            extraTimeAndShootout(after: second.upperBound)
            return
        case .sharedSecond:
            let at = FeedTime(seconds: sharedSecond.milliseconds / 1000)
            goal(side(), at: at + .milliseconds(random.number(in: 0...999)))
        case .cancelledGoal:
            // Leaves time for the review to end before the match does.
            let at = moment(in: second.lowerBound...second.upperBound + .seconds(-240))
            let id = goal(side(), at: at)
            add(
                at: at + .milliseconds(random.number(in: 70_000...150_000)),
                [
                    "id": .string("\(id)/review"), "kind": "goalCancelled", "retracts": .string(id),
                ])
        case .secondYellow:
            let side = side()
            let player = notYetBooked(side)
            card(side, player, "yellow", at: moment(in: first))
            card(side, player, "secondYellow", at: moment(in: second))
        case .repeatedGoal:
            let at = moment(in: second)
            goal(side(), at: at)
            if let line = entries.last?.line {
                entries.append(FeedEntry(delivered: at + .milliseconds(random.number(in: 2000...9000)), line: line))
            }
        case .cardAfterTheEnd:
            let late = second.upperBound + .seconds(random.number(in: 120...420))
            let side = side()
            card(side, notYetBooked(side), "yellow", at: moment(in: first), delivered: late)
        case .ordinary:
            break
        }
        for _ in 0..<random.element(of: [0, 1, 1, 2, 2, 3, 4]) {
            goal(side(), at: moment(in: random.element(of: [first, second])))
        }
        period("FT", kind: "end", at: second.upperBound)
    }

    private mutating func extraTimeAndShootout(after end: FeedTime) {
        let first = end + .seconds(5 * 60)...end + .seconds(5 * 60) + minutes(15, to: 16)
        let second = first.upperBound + .seconds(60)...first.upperBound + .seconds(60) + minutes(15, to: 17)
        period("ETB", at: end)
        period("ET1", at: first.lowerBound)
        period("ET2", at: second.lowerBound)
        noise(in: first)
        noise(in: second)
        var at = second.upperBound + .seconds(240)
        period("PEN", at: at)

        var kicks: [Side: Int] = [.home: 0, .away: 0]
        var scored: [Side: Int] = [.home: 0, .away: 0]
        var side = side()
        while !MatchScript.isDecided(kicks: kicks, scored: scored) {
            at = at + .milliseconds(random.number(in: 32_000...48_000))
            let isIn = random.chance(perThousand: 740)
            kicks[side, default: 0] += 1
            scored[side, default: 0] += isIn ? 1 : 0
            let id = "kick/\(kicks.values.reduce(0, +))"
            fact(
                id, "shootoutKick", at: at,
                [
                    "side": .string(side.rawValue), "scored": .bool(isIn), "player": .string(onTheField(side)),
                ])
            side = side.other
        }
        period("FT", kind: "end", at: at + .seconds(20))
    }

    /// Returns `true` after five kicks each, or earlier if one side cannot catch up, and then after the first unequal pair.
    private static func isDecided(kicks: [Side: Int], scored: [Side: Int]) -> Bool {
        let (home, away) = (kicks[.home, default: 0], kicks[.away, default: 0])
        let lead = scored[.home, default: 0] - scored[.away, default: 0]
        if max(home, away) > 5 { return home == away && lead != 0 }
        return lead > 5 - away || -lead > 5 - home
    }

    // MARK: - Events

    /// Begins the topic with its teams; a match without a period shows as `PRE`.
    private mutating func announce(at: FeedTime) {
        let (home, away) = (teams[.home, default: ""], teams[.away, default: ""])
        fact("teams", "start", at: at, ["kind": "teams", "home": .string(home), "away": .string(away)])
    }

    private mutating func period(_ name: String, kind: String = "period", at: FeedTime) {
        fact("period/\(name)", kind, at: at, ["kind": "period", "period": .string(name)])
    }

    @discardableResult
    private mutating func goal(_ side: Side, at: FeedTime) -> String {
        goalCount += 1
        let id = "goal/\(goalCount)"
        var values: JSONObject = ["side": .string(side.rawValue), "player": .string(onTheField(side))]
        if random.chance(perThousand: 90) { values["penalty"] = true }
        fact(id, "goal", at: at, values)
        return id
    }

    private mutating func cards(in plays: [Play]) {
        for _ in 0..<random.number(in: 1...2) {
            let side = side()
            let at = moment(in: random.element(of: plays))
            // Every second card is entered late, some by minutes.
            let delay = random.chance(perThousand: 500) ? random.number(in: 15_000...240_000) : 0
            card(
                side, notYetBooked(side), "yellow", at: at,
                delivered: min(at + .milliseconds(delay), plays[1].upperBound)
            )
        }
    }

    private mutating func card(
        _ side: Side, _ player: String, _ color: String, at: FeedTime, delivered: FeedTime? = nil
    ) {
        cardCount += 1
        fact(
            "card/\(cardCount)", "card", at: at, delivered: delivered,
            [
                "side": .string(side.rawValue), "color": .string(color), "player": .string(player),
            ])
    }

    /// Makes four or five substitutions, each in a window of its own, so that each is a visible version.
    private mutating func substitutions(in play: Play) {
        let count = random.number(in: 4...5)
        let start = play.lowerBound + .seconds(5 * 60)
        let window = (play.upperBound - start).milliseconds / Int64(count + 1)
        for number in 0..<count {
            let side: Side = number % 2 == 0 ? .home : .away
            let at = start + .milliseconds(Int64(number) * window + random.number(in: 0...window - 60_000))
            substitutionCount += 1
            fact(
                "substitution/\(substitutionCount)", "substitution", at: at,
                [
                    "side": .string(side.rawValue),
                    "playerIn": .string(squads[side, default: []][11 + number / 2]),
                    "playerOut": .string(squads[side, default: []][number / 2]),
                ])
        }
    }

    /// Kinds of raw events, repeated by frequency: of twenty events, ten are passes and five are duels.
    private static let rawKinds = [
        "pass", "pass", "pass", "pass", "pass", "pass", "pass", "pass", "pass", "pass", "duel", "duel", "duel", "duel",
        "duel", "touch", "throwIn", "freeKick", "interruption", "shot",
    ]

    /// Adds invisible events such as passes and duels, in bursts with pauses, 17 a minute on average.
    private mutating func noise(in play: Play) {
        var at = play.lowerBound
        while true {
            // The product of two draws from 0…1 is one quarter on average: 80 ms + 13,800 ms / 4 = 3.53 s.
            let product = random.number(in: 0...1000) * random.number(in: 0...1000)
            at = at + .milliseconds(80 + 13_800 * product / 1_000_000)
            if at >= play.upperBound { return }
            rawCount += 1
            let side = side()
            let line: JSONObject = [
                "id": .string("e\(rawCount)"), "kind": .string(random.element(of: MatchScript.rawKinds)),
                "side": .string(side.rawValue), "player": .string(onTheField(side)),
            ]
            let delay = random.chance(perThousand: 15) ? random.number(in: 3000...70_000) : 0
            add(at: at, delivered: at + .milliseconds(delay), line)
            if random.chance(perThousand: 3), let again = entries.last {
                entries.append(
                    FeedEntry(
                        delivered: again.delivered + .milliseconds(random.number(in: 500...5000)), line: again.line))
            }
        }
    }

    // MARK: - Lines

    private mutating func fact(
        _ id: String, _ kind: String, at: FeedTime, delivered: FeedTime? = nil, _ values: JSONObject
    ) {
        var fact = values
        fact["id"] = .string(id)
        add(at: at, delivered: delivered, ["id": .string(id), "kind": .string(kind), "fact": .object(fact)])
    }

    private mutating func add(at: FeedTime, delivered: FeedTime? = nil, _ members: JSONObject) {
        var line = members
        line["topic"] = .string(topic)
        line["at"] = .string(at.description)
        if entries.isEmpty { line["topicKind"] = .string(TopicKind.football.rawValue) }
        entries.append(FeedEntry(delivered: delivered ?? at, line: line))
    }

    // MARK: - Draws

    private mutating func side() -> Side { random.chance(perThousand: 540) ? .home : .away }

    /// Returns a player who is not substituted.
    private mutating func onTheField(_ side: Side) -> String { squads[side, default: []][random.number(in: 3...10)] }

    private mutating func notYetBooked(_ side: Side) -> String {
        while true {
            // Terminates: a match has at most four cards, and a side has eight players to draw from.
            let player = onTheField(side)
            if booked.insert("\(side.rawValue) \(player)").inserted { return player }
        }
    }

    /// Returns a time outside the first and last minute, so that a fact and a change of period are two versions.
    private mutating func moment(in play: Play) -> FeedTime {
        let length = (play.upperBound - play.lowerBound).milliseconds
        return play.lowerBound + .milliseconds(random.number(in: 60_000...length - 60_000))
    }

    private mutating func minutes(_ least: Int64, to most: Int64) -> Duration {
        .milliseconds(random.number(in: least * 60_000...most * 60_000))
    }
}
