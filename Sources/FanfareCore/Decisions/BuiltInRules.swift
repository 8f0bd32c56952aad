extension Rules {
    /// What the engine knows without a rules file.
    public static let builtIn = Rules(kinds: [.football: .football, .transit: .transit], other: .generic)
}

extension TopicRules {
    /// Patches only, everything visible.
    public static let generic = TopicRules()

    /// Alerts (rule A1): a goal, its cancellation and full time are what nobody forgives missing. Players sent off (and
    /// called back), the kick-off, the beginning of a shoot-out and an interruption are worth one as well. Everything else
    /// is silent: half-time comes when people expect it, and eighteen kicks of a shoot-out are watched, not announced.
    public static let football = TopicRules(
        reducer: FootballReducer(),
        occasions: [
            // Ten goals at once and one more every two minutes: the recorded 5–4 needs nine in 72 minutes.
            .goal: OccasionRule(
                essential: true, alert: AlertRule(.essential, burst: 10, refill: .seconds(120), freshFor: .seconds(300))
            ),
            .goalCancelled: OccasionRule(
                essential: true, alert: AlertRule(.essential, burst: 5, refill: .seconds(120), freshFor: .seconds(300))),
            .fullTime: OccasionRule(
                essential: true, alert: AlertRule(.essential, burst: 2, refill: .seconds(600), freshFor: .seconds(900))),
            .redCard: OccasionRule(
                essential: true, alert: AlertRule(.ordinary, burst: 3, refill: .seconds(300), freshFor: .seconds(300))),
            .redCardCancelled: OccasionRule(
                essential: true, alert: AlertRule(.ordinary, burst: 2, refill: .seconds(300), freshFor: .seconds(300))),
            .kickOff: OccasionRule(
                essential: true, alert: AlertRule(.ordinary, burst: 1, refill: .seconds(1800), freshFor: .seconds(120))),
            .shootout: OccasionRule(
                essential: true, alert: AlertRule(.ordinary, burst: 1, refill: .seconds(1800), freshFor: .seconds(300))),
            .interrupted: OccasionRule(
                essential: true, alert: AlertRule(.ordinary, burst: 2, refill: .seconds(600), freshFor: .seconds(600))),
            .shootoutKick: OccasionRule(essential: true),
            .periodChange: OccasionRule(essential: true),
        ],
        // A whole half can pass without a scoreboard event; the longest recorded one lasted 58 minutes.
        staleAfter: .seconds(3600))

    public static let transit = TopicRules(
        reducer: TransitReducer(),
        occasions: [
            .arriving: OccasionRule(
                essential: true, alert: AlertRule(.ordinary, burst: 1, refill: .seconds(1800), freshFor: .seconds(120)))
        ],
        // The next stop changes every few minutes; a train that shows nothing new for ten is worth a doubt.
        staleAfter: .seconds(600))
}
