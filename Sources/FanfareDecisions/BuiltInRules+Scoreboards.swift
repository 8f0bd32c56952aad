import FanfareModel

/// Games whose decoders state in each fact its effect on the scoreboard: `side`, a `text` for people, and the `key` that changes.
extension TopicRules {
    /// Ice hockey: `teams`, `period`, `goal`, `penalty`, `shootoutAttempt`. Goals alert, because they are rarer than in other fast
    /// games and people wait for them; penalties are silent.
    public static let hockey = TopicRules(
        reducer: CountingReducer(
            counters: [
                "homeScore": .side("home", "goal"), "awayScore": .side("away", "goal"),
                "homePenalties": .side("home", "penalty"), "awayPenalties": .side("away", "penalty"),
            ],
            latest: scoreboard(["goal", "penalty", "period", "shootoutAttempt"], period: ["teams", "period"])),
        content: Content(
            derived: DerivedFields(
                compactLeading: "{home:3} {homeScore}", compactTrailing: "{awayScore} {away:3}",
                minimal: "{homeScore}–{awayScore}")),
        occasions: [
            "goal": OccasionRule(
                essential: true,
                alert: AlertRule(
                    .essential, burst: 8, refill: .seconds(120), freshFor: .seconds(300),
                    words: .init(title: "{fact.text}", body: score, sound: "default"))),
            "goalCancelled": OccasionRule(
                essential: true,
                alert: AlertRule(
                    .essential, burst: 4, refill: .seconds(120), freshFor: .seconds(300),
                    words: .init(title: "Goal cancelled", body: score, sound: "default"))),
            "shootoutAttempt": OccasionRule(essential: true),
            "final": OccasionRule(
                when: [Condition("period", .oneOf(["FT"]))], essential: true,
                alert: AlertRule(
                    .essential, burst: 2, refill: .seconds(600), freshFor: .seconds(900),
                    words: .init(title: "Final", body: score, sound: "default"))),
        ],
        // An intermission is 18 minutes in which nothing happens.
        pace: Pace(staleAfter: .fixed(.seconds(1800))))

    /// Volleyball: `teams`, `point`, `set`, `timeout`. A set alerts; a point comes every 20 seconds and only updates the card.
    public static let volleyball = TopicRules(
        reducer: CountingReducer(
            counters: ["homeSets": .side("home", "set"), "awaySets": .side("away", "set")],
            latest: scoreboard(["point", "set", "timeout"], period: []).merging([
                "homePoints": .init(of: ["teams", "point", "set"], value: "homePoints"),
                "awayPoints": .init(of: ["teams", "point", "set"], value: "awayPoints"),
                "set": .init(of: ["teams", "point", "set"], value: "set"),
            ]) { $1 }),
        content: Content(
            derived: DerivedFields(
                compactLeading: "{home:3} {homeSets}", compactTrailing: "{awaySets} {away:3}",
                minimal: "{homePoints}–{awayPoints}")),
        occasions: [
            "set": OccasionRule(
                essential: true,
                alert: AlertRule(
                    .essential, burst: 3, refill: .seconds(300), freshFor: .seconds(300),
                    words: .init(title: "{fact.text}", body: "{home} {homeSets}–{awaySets} {away}", sound: "default")))
        ],
        pace: Pace(staleAfter: .fixed(.seconds(900))))

    private static let score: Template = "{home} {homeScore}–{awayScore} {away}"

    private static func scoreboard(_ news: Set<String>, period: Set<String>) -> [String: CountingReducer.Latest] {
        var latest: [String: CountingReducer.Latest] = [
            "home": .init(of: ["teams"], value: "home"), "away": .init(of: ["teams"], value: "away"),
            "lastEvent": .init(of: news, value: "text"), "highlight": .init(of: news, value: "key"),
        ]
        if !period.isEmpty { latest["period"] = .init(of: period, value: "period") }
        return latest
    }
}

extension CountingReducer.Counter {
    fileprivate static func side(_ side: String, _ fact: String) -> Self {
        .init(fact: fact, where: [Condition("side", .oneOf([.string(side)]))])
    }
}
