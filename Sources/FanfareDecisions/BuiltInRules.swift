import FanfareModel

extension Rules {
    /// Rules that the engine uses without a rules file.
    public static let builtIn = Rules(
        kinds: [
            .football: .football, .hockey: .hockey, .volleyball: .volleyball, .transit: .transit, .delivery: .delivery,
            .ride: .ride, .queue: .queue,
        ], other: .generic)
}

extension TopicRules {
    /// Topics of patches only, with every field visible.
    public static let generic = TopicRules()

    /// Football matches. Essential alerts (rule A1) are goals, cancelled goals and full time: people do not forgive missing one.
    /// Ordinary alerts are a sending-off or its cancellation, the kick-off, the start of a shoot-out and an interruption. The rest
    /// is silent: people expect half-time, and they watch the eighteen kicks of a shoot-out.
    public static let football = TopicRules(
        reducer: FootballReducer(),
        occasions: [
            // Ten goals at once and one more every two minutes: the recorded 5–4 needs nine in 72 minutes.
            .goal: OccasionRule(
                essential: true, relevance: 100,
                alert: AlertRule(.essential, burst: 10, refill: .seconds(120), freshFor: .seconds(300))
            ),
            .goalCancelled: OccasionRule(
                essential: true, relevance: 95,
                alert: AlertRule(.essential, burst: 5, refill: .seconds(120), freshFor: .seconds(300))),
            .fullTime: OccasionRule(
                essential: true, relevance: 90,
                alert: AlertRule(.essential, burst: 2, refill: .seconds(600), freshFor: .seconds(900))),
            .redCard: OccasionRule(
                essential: true, relevance: 80,
                alert: AlertRule(.ordinary, burst: 3, refill: .seconds(300), freshFor: .seconds(300))),
            .redCardCancelled: OccasionRule(
                essential: true, relevance: 75,
                alert: AlertRule(.ordinary, burst: 2, refill: .seconds(300), freshFor: .seconds(300))),
            .kickOff: OccasionRule(
                essential: true, relevance: 70,
                alert: AlertRule(.ordinary, burst: 1, refill: .seconds(1800), freshFor: .seconds(120))),
            .shootout: OccasionRule(
                essential: true, relevance: 85,
                alert: AlertRule(.ordinary, burst: 1, refill: .seconds(1800), freshFor: .seconds(300))),
            .interrupted: OccasionRule(
                essential: true, relevance: 85,
                alert: AlertRule(.ordinary, burst: 2, refill: .seconds(600), freshFor: .seconds(600))),
            .shootoutKick: OccasionRule(essential: true, relevance: 85),
            .periodChange: OccasionRule(essential: true, relevance: 65),
            .yellowCard: OccasionRule(essential: false, relevance: 60),
            .substitution: OccasionRule(essential: false, relevance: 55),
        ],
        // A whole half can pass without a scoreboard event; the longest recorded one lasted 58 minutes.
        pace: Pace(staleAfter: .fixed(.seconds(3600))),
        lifetime: Lifetime(beginsWhen: [Condition("periodStartedAt", .present(true))]), relevance: 50)

    /// Transit trips, as passengers see them: arrival in whole minutes, and one alert when the last stop is next.
    public static let transit = TopicRules(
        reducer: TransitReducer(),
        content: Content(fields: ["arrivesAt": .quantised(.minute)]),
        occasions: [
            .arriving: OccasionRule(
                essential: true, alert: AlertRule(.ordinary, burst: 1, refill: .seconds(1800), freshFor: .seconds(120)))
        ],
        // The next stop changes every few minutes, so ten minutes without a change are suspicious.
        pace: Pace(staleAfter: .fixed(.seconds(600))))

    /// Delivery orders. People wait for the last mile; the card shows only the courier's initial.
    public static let delivery = TopicRules(
        reducer: CountingReducer(),
        content: Content(
            fields: ["arrivesAt": .quantised(.minute), "courier": .redacted(Redaction(.initial))],
            derived: DerivedFields(
                compactLeading: "{status}", compactTrailing: "{stopsBefore}", minimal: "{status}",
                words: [
                    "placed": "Order", "preparing": "Prep", "outForDelivery": "On way", "arriving": "Near",
                    "delivered": "Here", "cancelled": "Cancel",
                ])),
        occasions: [
            "outForDelivery": .status(
                "outForDelivery", .ordinary, title: "On its way", body: "Stops before yours: {stopsBefore}"),
            "arriving": .status(
                "arriving", .essential, relevance: 80, title: "Almost there", body: "Your order arrives"),
            "delivered": .status("delivered", .essential, title: "Delivered"),
            "cancelled": .status("cancelled", .essential, title: "Order cancelled"),
        ],
        pace: Pace(
            minimumInterval: .seconds(10),
            staleAfter: .rhythm(times: 4, StaleAfter.Bounds(atLeast: .seconds(300), atMost: .seconds(1800)))),
        lifetime: Lifetime(
            endsWhen: [Condition("status", .oneOf(["delivered", "cancelled"]))], dismissal: .after(.seconds(900))),
        relevance: 50)

    /// Rides. The card shows the plate once a car is assigned, and the fare once the ride is over, because others can see the Lock Screen.
    public static let ride = TopicRules(
        reducer: CountingReducer(),
        content: Content(
            fields: [
                "arrivesAt": .quantised(.minute),
                "plate": .redacted(
                    Redaction(
                        .removed,
                        unless: [
                            Condition("status", .oneOf(["driverAssigned", "arriving", "waiting", "onTrip", "ended"]))
                        ])),
                "fare": .redacted(Redaction(.removed, unless: [Condition("status", .oneOf(["ended"]))])),
            ],
            derived: DerivedFields(
                compactLeading: "{status}", compactTrailing: "{driver}", minimal: "{status}",
                words: [
                    "matching": "Search", "driverAssigned": "Coming", "arriving": "Near", "waiting": "Here",
                    "onTrip": "Trip", "ended": "Done",
                ])),
        occasions: [
            "driverAssigned": .status("driverAssigned", .ordinary, title: "Driver found", body: "{plate}"),
            "arriving": .status("arriving", .essential, relevance: 80, title: "Your driver arrives", body: "{plate}"),
            "waiting": .status("waiting", .essential, relevance: 90, title: "Your driver is here", body: "{plate}"),
            "onTrip": .status("onTrip"),
            "ended": .status("ended"),
        ],
        pace: Pace(
            minimumInterval: .seconds(5),
            staleAfter: .rhythm(times: 6, StaleAfter.Bounds(atLeast: .seconds(120), atMost: .seconds(900)))),
        lifetime: Lifetime(endsWhen: [Condition("status", .oneOf(["ended"]))]), relevance: 60)

    /// Places in a queue. The topic ends, and its card is dismissed, when the person is called.
    public static let queue = TopicRules(
        reducer: CountingReducer(),
        content: Content(
            fields: [
                "estimateMinutes": .quantised(Quantiser(step: 5, hysteresis: 4)), "progress": .quantised(.percent(5)),
            ],
            derived: DerivedFields(
                compactLeading: "No. {position}", compactTrailing: "{estimateMinutes} min", minimal: "{position}")),
        occasions: [
            "nextInLine": OccasionRule(
                when: [Condition("position", .atMost(1))], essential: true, relevance: 90,
                alert: AlertRule(
                    .essential, burst: 1, refill: .seconds(1800), freshFor: .seconds(300),
                    words: AlertRule.Words(title: "You are next", sound: "default")))
        ],
        pace: Pace(
            minimumInterval: .seconds(10),
            staleAfter: .rhythm(times: 4, StaleAfter.Bounds(atLeast: .seconds(300), atMost: .seconds(1800)))),
        // Queue numbers are given out again.
        lifetime: Lifetime(
            endsWhen: [Condition("position", .atMost(0))], dismissal: .immediate, reopens: .afresh),
        relevance: 50)
}

extension OccasionRule {
    /// An essential, silent occasion for a status: people wait for each new status.
    fileprivate static func status(_ status: String) -> OccasionRule {
        OccasionRule(when: [Condition("status", .oneOf([.string(status)]))], essential: true)
    }

    /// An occasion for a status, with one alert and one more per half hour: a status comes once, or twice after a mistake is corrected.
    fileprivate static func status(
        _ status: String, _ class: AlertClass, relevance: Int? = nil, title: Template, body: Template = ""
    ) -> OccasionRule {
        var rule = OccasionRule.status(status)
        rule.relevance = relevance
        rule.alert = AlertRule(
            `class`, burst: 1, refill: .seconds(1800), freshFor: .seconds(600),
            words: AlertRule.Words(title: title, body: body, sound: "default"))
        return rule
    }
}
