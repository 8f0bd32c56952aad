import FanfareModel

@testable import FanfareLog

/// Cards that have every member of the serial form, and random ones.
enum CardSamples {
    private static let at = FeedTime(milliseconds: 1_781_359_200_123)

    static let all: [Card] = {
        let topics = [TopicID("m/1"), TopicID("ä/☂")]
        var cards = [
            Card(token: [0], audience: .topic(topics[0]), startedAt: at),
            Card(subscriber: "anna", token: [1, 2], audience: .lineup(topics), startedAt: at),
            Card(
                subscriber: "", activity: "Käse\u{0}", token: [UInt8](repeating: 0xFF, count: 512),
                audience: .lineup(topics, favourite: topics[1]), startedAt: FeedTime(milliseconds: -1)),
            Card(
                activity: "card", token: [3], audience: .lineup((0..<64).map { TopicID("t\($0)") }), startedAt: at),
        ]
        cards[1].preferences = Preferences()
        cards[2].preferences = Preferences(
            alerts: .none, quietHours: .init(from: 1439, until: 0, utcOffset: 0, breakthrough: .all),
            frequentUpdates: true)
        cards[1].app = AppID(bundleID: "com.example")
        cards[2].app = AppID(bundleID: "", environment: .development)
        cards[2].generation = .max
        cards[2].joinedAt = FeedTime(milliseconds: -1)
        cards[1].phase = .starting
        cards[2].phase = .leaving
        return cards
    }()

    /// Cards whose starts have requests.
    static let starting: [Card] = {
        var plain = Card(
            subscriber: "anna", activity: "card", token: [7], audience: .topic(TopicID("m/1")), startedAt: at)
        plain.phase = .starting
        var other = plain
        plain.request = StartRequest(
            activity: "card", token: [7], attributesType: "Match", alert: AlertText(title: "Kick-off", body: "")
        ).numbered(0x0102_0304)
        other.preferences = Preferences()
        other.app = AppID(bundleID: "com.example")
        other.joinedAt = at
        other.activity = "Käse\u{0}"
        other.request = StartRequest(
            activity: "Käse\u{0}", token: [7], attributesType: "", attributes: ["a": [1, ["b": .null]], "c": -1.5],
            activityKey: "id",
            alert: AlertText(
                title: .localized(key: "kick-off", arguments: ["ä", ""]), body: "The match has started",
                sound: "whistle")
        ).numbered(.max)
        return [plain, other]
    }()

    static func random(using random: inout some RandomNumberGenerator) -> Card {
        var card = (all + starting).randomElement(using: &random)!
        card.token = (0..<Int.random(in: 1...100, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
        }
        card.request = card.request.map {
            StartRequest(
                activity: $0.activity, token: card.token, attributesType: $0.attributesType, attributes: $0.attributes,
                activityKey: $0.activityKey, alert: $0.alert)
        }
        card.startedAt = FeedTime(
            milliseconds: Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0...63, using: &random))
        card.joinedAt = FeedTime(
            milliseconds: Int64.random(in: 1...(.max), using: &random) >> Int64.random(in: 0...30, using: &random))
        return card
    }

    /// Card of a subscriber, told apart by its token.
    static func card(_ number: Int, subscriber: String? = nil) -> Card {
        Card(
            subscriber: subscriber ?? "s\(number)", token: withUnsafeBytes(of: UInt64(number).littleEndian, Array.init),
            audience: .topic(TopicID("m/1")), startedAt: at)
    }
}
