import FanfareModel

extension Rules {
    /// What the engine knows without a rules file.
    public static let builtIn = Rules(
        kinds: [
            .football: .football, .hockey: .hockey, .volleyball: .volleyball, .transit: .transit, .delivery: .delivery,
            .ride: .ride, .queue: .queue,
        ], other: .generic)
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
        beginsWhen: [Condition("periodStartedAt", .present(true))],
        // A whole half can pass without a scoreboard event; the longest recorded one lasted 58 minutes.
        staleAfter: .fixed(.seconds(3600)), relevance: 50)

    /// A trip, as people see it who wait for it or sit in it: the minute of arrival, and one alert when the last stop is next.
    public static let transit = TopicRules(
        reducer: TransitReducer(),
        fields: ["arrivesAt": .quantised(.minute)],
        occasions: [
            .arriving: OccasionRule(
                essential: true, alert: AlertRule(.ordinary, burst: 1, refill: .seconds(1800), freshFor: .seconds(120)))
        ],
        // The next stop changes every few minutes; a train that shows nothing new for ten is worth a doubt.
        staleAfter: .fixed(.seconds(600)))

    /// An order on its way. The last mile is what people wait for; who drives is theirs to know by an initial only.
    public static let delivery = TopicRules(
        reducer: CountingReducer(),
        fields: ["arrivesAt": .quantised(.minute), "courier": .redacted(Redaction(.initial))],
        derived: DerivedFields(
            compactLeading: "{status}", compactTrailing: "{stopsBefore}", minimal: "{status}",
            words: [
                "placed": "Order", "preparing": "Prep", "outForDelivery": "On way", "arriving": "Near",
                "delivered": "Here", "cancelled": "Cancel",
            ]),
        occasions: [
            "outForDelivery": .status(
                "outForDelivery", .ordinary, title: "On its way", body: "Stops before yours: {stopsBefore}"),
            "arriving": .status(
                "arriving", .essential, relevance: 80, title: "Almost there", body: "Your order arrives"),
            "delivered": .status("delivered", .essential, title: "Delivered"),
            "cancelled": .status("cancelled", .essential, title: "Order cancelled"),
        ],
        endsWhen: [Condition("status", .oneOf(["delivered", "cancelled"]))],
        minimumInterval: .seconds(10),
        staleAfter: .rhythm(times: 4, StaleAfter.Bounds(atLeast: .seconds(300), atMost: .seconds(1800))),
        dismissal: .after(.seconds(900)), relevance: 50)

    /// A ride. The plate matters once there is a car, the fare when it is over; nobody else on the Lock Screen needs them.
    public static let ride = TopicRules(
        reducer: CountingReducer(),
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
            ]),
        occasions: [
            "driverAssigned": .status("driverAssigned", .ordinary, title: "Driver found", body: "{plate}"),
            "arriving": .status("arriving", .essential, relevance: 80, title: "Your driver arrives", body: "{plate}"),
            "waiting": .status("waiting", .essential, relevance: 90, title: "Your driver is here", body: "{plate}"),
            "onTrip": .status("onTrip"),
            "ended": .status("ended"),
        ],
        endsWhen: [Condition("status", .oneOf(["ended"]))],
        minimumInterval: .seconds(5),
        staleAfter: .rhythm(times: 6, StaleAfter.Bounds(atLeast: .seconds(120), atMost: .seconds(900))),
        relevance: 60)

    /// A place in a queue. It ends when people are called, and nobody needs to look at it any more.
    public static let queue = TopicRules(
        reducer: CountingReducer(),
        fields: [
            "estimateMinutes": .quantised(Quantiser(step: 5, hysteresis: 4)), "progress": .quantised(.percent(5)),
        ],
        derived: DerivedFields(
            compactLeading: "No. {position}", compactTrailing: "{estimateMinutes} min", minimal: "{position}"),
        occasions: [
            "nextInLine": OccasionRule(
                when: [Condition("position", .atMost(1))], essential: true, relevance: 90,
                alert: AlertRule(
                    .essential, burst: 1, refill: .seconds(1800), freshFor: .seconds(300),
                    words: AlertRule.Words(title: "You are next", sound: "default")))
        ],
        endsWhen: [Condition("position", .atMost(0))],
        minimumInterval: .seconds(10),
        staleAfter: .rhythm(times: 4, StaleAfter.Bounds(atLeast: .seconds(300), atMost: .seconds(1800))),
        dismissal: .immediate,
        // A place in the queue has a number, and numbers are given out again.
        reopens: .afresh, relevance: 50)
}

extension OccasionRule {
    /// Essential, because a new status is what people wait for; silent.
    fileprivate static func status(_ status: String) -> OccasionRule {
        OccasionRule(when: [Condition("status", .oneOf([.string(status)]))], essential: true)
    }

    /// Each status comes once, or by a mistake that is soon put right: one alert, and one more in half an hour.
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
