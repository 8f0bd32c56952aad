import FanfareDecisions
import FanfareLog
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

/// Plays the lives of engines that leave a golden store: two end in order, each with a checkpoint, and the third one ends with an alert in flight.
struct GoldenStoreRecorder {
    static let start = FeedTime(seconds: 1_790_000_000)
    /// Topics of the store, of several kinds and reducers.
    static let topics = [
        "match/1", "match/2", "match/9", "hockey/1", "trip/1", "order/1", "order/2", "order/9", "queue/1",
    ].map { TopicID($0) }

    private let store: String

    /// - Parameter store: folder that is not there yet.
    init(store: String) { self.store = store }

    func record() async throws {
        try importPeople()
        try await playFirst()
        try await playSecond()
        try await playThird()
    }

    // MARK: Rules

    /// Rules without intervals, so that no change waits for the time to pass.
    private static let rules: Rules = {
        var rules = Rules.builtIn
        for kind in rules.kinds.keys { rules.kinds[kind]?.pace.minimumInterval = .zero }
        rules.other.pace.minimumInterval = .zero
        rules.lineups.minimumInterval = .zero
        rules.lineups.gather = .zero
        return rules
    }()

    /// Rules of the later lives, for an entry of their own.
    private static let laterRules: Rules = {
        var rules = GoldenStoreRecorder.rules
        rules.lineups.dwell = .seconds(30)
        return rules
    }()

    // MARK: Lives

    /// A card that was imported has neither an app nor a time at which it joined.
    private func importPeople() throws {
        let card = Card(
            subscriber: "ida", activity: "card/ida", token: [0x1d, 0xa0], audience: .topic(TopicID("order/1")),
            startedAt: Self.start + .seconds(-60))
        try LMDBPeopleStore(store: store).apply([.insert(card)])
    }

    private func playFirst() async throws {
        let life = try GoldenEngine(store: store, rules: Self.rules, at: Self.start)
        let engine = life.engine
        for event in Self.beginnings(at: Self.start) { _ = try await engine.ingest(event) }
        _ = try await engine.order(.mute, for: .kind(.queue), id: "order/mute-queues")
        _ = try await engine.order(.mute, for: .app(GoldenEngine.apps[1]))
        let match = AudienceKey.topic(TopicID("match/1"))
        try await follow(engine, "anna", [0xa1], match)
        try await follow(engine, "erik", [0xe1], match)
        try await follow(engine, "gus", [0x91], match)
        try await follow(engine, "hugo", [0x41], match)
        try await follow(engine, "carl", [0xc1], match, app: GoldenEngine.apps[1])
        try await follow(engine, "dora", [0xd1], match, preferences: Preferences(alerts: .essential))
        try await follow(engine, "fay", [0xf1], .topic(TopicID("order/1")))
        try await follow(
            engine, "bob", [0xb1],
            .lineup(["match/1", "trip/1", "order/1"].map { TopicID($0) }, favourite: TopicID("trip/1")))
        try await end(life)
    }

    private func playSecond() async throws {
        let at = Self.start + .seconds(600)
        let life = try GoldenEngine(store: store, rules: Self.laterRules, at: at)
        let engine = life.engine
        _ = try await engine.ingest(Self.goal("2-1", of: "match/2", at: at))
        _ = try await engine.ingest(
            Self.patch("job", of: "order/1", .delivery, at: at, ["status": "outForDelivery", "stopsBefore": 4]),
            key: IdempotencyKey("job-1"))
        _ = try await engine.correct(TopicID("order/1"), .patch(["stopsBefore": 3]), id: "correction-1")
        _ = try await engine.order(.pause, for: .topic(TopicID("order/2")))
        _ = try await engine.replaceToken(activity: "card/erik", subscriber: "erik", with: [0xe1, 0xe2])
        _ = try await engine.move(activity: "card/fay", subscriber: "fay", to: .topic(TopicID("trip/1")))
        _ = try await engine.unfollow(activity: "card/hugo", subscriber: "hugo")
        try await end(life)
    }

    private func playThird() async throws {
        let at = Self.start + .seconds(1200)
        let life = try GoldenEngine(store: store, rules: Self.laterRules, at: at)
        let engine = life.engine
        _ = try await engine.ingest(Self.localized(at: at))
        _ = try await engine.ingest(
            FeedEvent(
                topic: TopicID("match/2"), topicKind: .football, at: at, id: "withdrawn", kind: "goal",
                change: .retraction(of: "2-1")))
        let quiet = Preferences.QuietHours(from: 1320, until: 420, utcOffset: 0)
        _ = try await engine.setPreferences(
            Preferences(alerts: .none, quietHours: quiet, frequentUpdates: true), activity: "card/dora",
            subscriber: "dora")
        _ = try await engine.replaceToken(activity: "card/anna", subscriber: "anna", with: [0xa1, 0xa2])
        // One start leaves, and one waits for something to show.
        for (name, topic) in [("jan", "match/1"), ("kim", "match/9")] {
            _ = try await engine.start(.topic(TopicID(topic)), Self.request(name), subscriber: SubscriberID(name))
        }
        let receipt = try await engine.ingest(Self.patch("aside", of: "order/9", .generic, at: at, ["n": 1]))
        try await settle(life)
        _ = life.takePhones()
        life.holds.set()
        _ = try await engine.ingest(Self.goal("1-1", of: "match/1", at: at))
        // Those of Anna, Erik and Gus; their claims are durable then.
        while life.alerts < 3 { await Task.yield() }
        _ = try await engine.unfollow(activity: "card/gus", subscriber: "gus")
        _ = await engine.shutdown(within: .zero)
        _ = try LMDBLog.skip(try #require(receipt.entry).number, in: store)
    }

    private func follow(
        _ engine: Engine, _ name: String, _ token: [UInt8], _ audience: AudienceKey, app: AppID? = nil,
        preferences: Preferences? = nil
    ) async throws {
        _ = try await engine.follow(
            audience, activity: ActivityID("card/\(name)"), subscriber: SubscriberID(name, app: app), token: token,
            preferences: preferences)
    }

    private func settle(_ life: GoldenEngine) async throws {
        let isSettled = await life.engine.settle(within: .seconds(300))
        try #require(isSettled)
    }

    private func end(_ life: GoldenEngine) async throws {
        try await settle(life)
        let report = await life.engine.shutdown()
        #expect(report.isDrained)
    }

    // MARK: Events

    private static func beginnings(at: FeedTime) -> [FeedEvent] {
        var events: [FeedEvent] = []
        for match in ["match/1", "match/2"] { events += kickOff(of: match, at: at) }
        events.append(
            fact(
                "teams", "teams", of: "hockey/1", .hockey, at: at,
                ["home": "Montréal", "away": "Vancouver", "period": "1"]))
        events.append(fact("h1", "goal", of: "hockey/1", .hockey, at: at, ["side": "home", "text": "Goal: A"]))
        events.append(
            fact(
                "poll-1", "position", of: "trip/1", .transit, at: at,
                [
                    "line": "A", "destination": "Inwood-207 St", "status": "enRoute", "nextStop": "145 St",
                    "nextStopId": "A12N", "stopsLeft": 5, "arrivesAt": .int(at.milliseconds / 1000 + 1800),
                ]))
        events.append(
            patch("placed", of: "order/1", .delivery, at: at, ["status": "preparing", "courier": "Sofia", "ä": 1.5]))
        var second = patch("2", of: "order/2", .generic, at: at, ["eta": 5, "list": [1, .null, true]])
        second.seq = 7
        events.append(second)
        events.append(patch("1", of: "queue/1", .queue, at: at, ["position": 4, "estimateMinutes": 12]))
        return events
    }

    static func kickOff(of match: String, at: FeedTime) -> [FeedEvent] {
        var teams = fact("teams", "teams", of: match, .football, at: at, ["home": "Ajax", "away": "Feyenoord"])
        teams.lifecycle = .start
        return [teams, fact("1H", "period", of: match, .football, at: at, ["period": "1H"])]
    }

    static func goal(_ id: String, of match: String, at: FeedTime) -> FeedEvent {
        fact(id, "goal", of: match, .football, at: at, ["side": "home", "player": "Pelé"])
    }

    private static func fact(
        _ id: String, _ kind: String, of topic: String, _ topicKind: TopicKind, at: FeedTime, _ values: JSONObject
    ) -> FeedEvent {
        FeedEvent(
            topic: TopicID(topic), topicKind: topicKind, at: at, id: "event-\(id)", kind: kind,
            change: .fact(Fact(id: id, kind: kind, at: at, values: values)))
    }

    private static func patch(
        _ id: String, of topic: String, _ topicKind: TopicKind, at: FeedTime, _ values: JSONObject
    ) -> FeedEvent {
        FeedEvent(
            topic: TopicID(topic), topicKind: topicKind, at: at, id: "event-\(id)", kind: "patch",
            change: .patch(values))
    }

    /// Returns a whole content state with an alert in the app's own words.
    private static func localized(at: FeedTime) -> FeedEvent {
        FeedEvent(
            topic: TopicID("order/2"), topicKind: .generic, at: at, seq: 8, id: "event-localized", kind: "state",
            change: .contentState(["eta": 4]),
            alert: AlertText(
                title: .localized(key: "ETA", arguments: ["4", "min"]), body: "Four minutes", sound: "default"))
    }

    private static func request(_ name: String) -> StartRequest {
        StartRequest(
            activity: "card/\(name)", token: Array(name.utf8), attributesType: "MatchAttributes",
            attributes: ["club": "Ajax"], alert: AlertText(title: "Kick-off", body: "Ajax – Feyenoord")
        ).numbered(7)
    }
}
