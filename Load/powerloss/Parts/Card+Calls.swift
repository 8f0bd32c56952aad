internal import FanfareLog
internal import FanfareModel

/// Cards and their changes, as calls of a program make them. The numbers of the card and of the step choose everything.
extension Card {
    private static func seed(_ serial: UInt64, _ step: UInt64) -> UInt64 { serial &* 100_000 &+ step }

    /// Creates the card of a follow, or of a start.
    init(_ serial: UInt64, in step: UInt64) {
        let seed = Card.seed(serial, step)
        self.init(
            subscriber: "person \(serial)", activity: "card \(serial)", token: Card.token(seed),
            audience: Card.audience(seed), startedAt: FeedTime(milliseconds: Int64(step)))
        joinedAt = startedAt
        generation = step
        if seed.mixed.isMultiple(of: 2) { preferences = Card.preferences(seed) }
        guard seed.mixed % 3 == 0 else { return }
        phase = .starting
        request = StartRequest(
            activity: "card \(serial)", token: token, attributesType: "Match", attributes: ["seat": .int(Int64(step))],
            activityKey: "activity", alert: AlertText(title: "Kick-off", body: "\(seed)"),
            number: UInt32(truncatingIfNeeded: seed.mixed))
    }

    /// Changes the card as a move, new preferences, a new token or an unfollow does.
    mutating func change(_ serial: UInt64, in step: UInt64) {
        let seed = Card.seed(serial, step)
        switch (seed.mixed >> 8) % 5 {
        case 0:
            audience = Card.audience(seed)
            joinedAt = FeedTime(milliseconds: Int64(step))
        case 1:
            // The same topics in another order, with another favourite.
            let topics = Array(audience.topics.reversed())
            audience = .lineup(topics, favourite: topics.first)
        case 2: preferences = Card.preferences(seed)
        case 3:
            (token, generation) = (Card.token(seed), generation + 1)
            if phase == .starting { (phase, request) = (.shown, nil) }
        default: (phase, request) = (.leaving, nil)
        }
    }

    private static func token(_ seed: UInt64) -> [UInt8] { Array(seed.text(bytes: 32 + Int(seed % 100)).utf8) }

    /// Returns a topic, a small lineup, or one that is larger than a page.
    private static func audience(_ seed: UInt64) -> AudienceKey {
        let isLarge = seed.isMultiple(of: 11)
        guard isLarge || seed % 3 == 1 else { return .topic(TopicID("topic \(seed)")) }
        let count = 1 + Int(seed.mixed % (isLarge ? 40 : 6))
        let topics = (0..<count).map { place -> TopicID in
            let topic = seed &+ UInt64(place)
            return TopicID(isLarge ? topic.text(bytes: 200) : "topic \(topic)")
        }
        let favourite = Int((seed.mixed >> 16) % UInt64(2 * count))
        return .lineup(topics, favourite: favourite < count ? topics[favourite] : nil)
    }

    private static func preferences(_ seed: UInt64) -> Preferences {
        let masks = AlertMask.allCases
        let until = 1439
        let hours = Preferences.QuietHours(from: Int(seed % UInt64(until)), until: until, utcOffset: 0)
        return Preferences(
            alerts: masks[Int(seed.mixed >> 24) % masks.count], quietHours: seed.isMultiple(of: 3) ? nil : hours,
            frequentUpdates: seed.isMultiple(of: 5))
    }
}
