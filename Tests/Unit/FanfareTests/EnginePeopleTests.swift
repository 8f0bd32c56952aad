import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import Testing

@testable import Fanfare

/// People of engines that follow one another on one store.
@Suite struct EnginePeopleTests {
    private static let match = TopicID("match/1")

    /// Store in memory, and all that its engines push.
    private final class Place: Sendable {
        let log: MemoryLog
        let people: MemoryPeopleStore
        let claims: MemoryClaims
        let pushes = Locked<[Push]>([])
        let events = Locked<[ActivityEvent]>([])

        init(
            log: MemoryLog = MemoryLog(), people: MemoryPeopleStore = MemoryPeopleStore(),
            claims: MemoryClaims = MemoryClaims()
        ) {
            (self.log, self.people, self.claims) = (log, people, claims)
        }

        func cards() throws -> [Card] {
            var cards: [Card] = []
            try people.read { (_, card) throws(LogError) in
                if let card = try? card.get() { cards.append(card) }
                return true
            }
            return cards
        }

        struct Push: Equatable {
            let event: Payload.Event
            let token: [UInt8]
            var hasAlert = false
            /// Index of the app in its engine.
            var app = 0
        }

        func engine(_ others: [Subscription] = [], apps: [AppID] = []) throws -> Engine {
            pushes.withLock { $0 = [] }
            var options = Engine.Options(transport: .discard, store: StoreChoice(place: .log(log, people, claims)))
            options.subscribers = SubscriberSequence(others, expectedCount: others.count)
            var observer = Engine.Observer()
            observer.onActivityEvent = { event in self.events.withLock { $0.append(event) } }
            let transports = (0..<max(1, apps.count)).map { app -> TransportFactory in
                { _, shard, _ in
                    NotingTransport(shard) { payload, token in
                        let push = Push(
                            event: payload.event, token: Array(token), hasAlert: payload.alert != nil, app: app)
                        self.pushes.withLock { $0.append(push) }
                    }
                }
            }
            return try Engine(options, observer: observer, apps: apps, makeTransports: transports)
        }

        /// Creates an engine, and returns what a goal brings to whom besides what the start brings.
        func goal(_ number: Int, _ others: [Subscription] = []) async throws -> (start: [Push], goal: [Push]) {
            let engine = try engine(others)
            #expect(await engine.settle(within: .seconds(300)))
            let start = pushes.withLock { $0 }
            pushes.withLock { $0 = [] }
            _ = try await engine.ingest(EnginePeopleTests.event(number))
            #expect(await engine.settle(within: .seconds(300)))
            let goal = pushes.withLock { $0 }
            _ = await engine.shutdown()
            return (start, goal)
        }
    }

    private static func event(_ number: Int) -> FeedEvent {
        FeedEvent(
            topic: match, topicKind: .football, at: FeedTime(seconds: 1_790_000_000 + Int64(60 * number)),
            id: "e\(number)", kind: "x",
            change: .fact(
                Fact(
                    id: "g\(number)", kind: "goal", at: FeedTime(seconds: 1_790_000_000 + Int64(60 * number)),
                    values: ["side": "home"])))
    }

    private static func follow(_ engine: Engine, _ name: String, _ token: [UInt8]) async throws {
        let receipt = try await engine.follow(
            .topic(match), activity: ActivityID(name), subscriber: "anna", token: token)
        #expect(receipt.durability == .durable)
    }

    /// A start brings the newest state once at most, and the next goal reaches everybody as the last engine was told.
    @Test(.timeLimit(.minutes(10))) func aGoalReachesThePeopleOfAnEarlierEngine() async throws {
        let place = Place()
        let engine = try place.engine()
        _ = try await engine.ingest(Self.event(0))
        for (name, token) in [("stays", 1), ("rotates", 2), ("moves", 3), ("leaves", 4)] {
            try await Self.follow(engine, name, [UInt8(token)])
        }
        _ = try await engine.replaceToken(activity: "rotates", subscriber: "anna", with: [5])
        _ = try await engine.move(activity: "moves", subscriber: "anna", to: .topic(TopicID("match/2")))
        _ = try await engine.unfollow(activity: "leaves", subscriber: "anna")
        #expect(await engine.settle(within: .seconds(300)))
        _ = await engine.shutdown()

        // A program that loads its people by itself as well has old tokens; the store's are newer.
        let old = Subscription(audience: .topic(Self.match), activity: "rotates", subscriber: "anna", token: [2])
        for (number, others) in [(1, []), (2, [old])] {
            let (start, goal) = try await place.goal(number, others)
            // Unless the store had time to note that they have it.
            let again = start.filter { $0.event == .update }.map(\.token).sorted(by: { $0[0] < $1[0] })
            #expect(again == [[1], [5]] || again == [])
            #expect(goal.map(\.token).sorted(by: { $0[0] < $1[0] }) == [[1], [5]])
            #expect(goal.allSatisfy { $0.event == .update })
        }
    }

    /// Rows go when their cards are over, so nothing is left to be loaded.
    @Test(.timeLimit(.minutes(10))) func cardsThatAreOverLeaveTheStore() async throws {
        let place = Place()
        let engine = try place.engine()
        _ = try await engine.ingest(Self.event(0))
        let cards = (0..<Intake.rowsMax + 1).map { (ActivityID("\($0)"), [1, UInt8($0 & 255), UInt8($0 >> 8)]) }
        for (card, token) in cards {
            _ = engine.offer(.follow(.topic(Self.match), activity: card, subscriber: "anna", token: token))
        }
        for (card, _) in cards { _ = engine.offer(.unfollow(activity: card, subscriber: "anna")) }
        // By then the shard has told which cards are over, and that they are so still.
        for _ in 0..<2 { #expect(await engine.settle(within: .seconds(300))) }
        // Each of these is a commit at least, which takes a part of the removals with it.
        for _ in 0..<3 { try await Self.follow(engine, "stays", [1]) }
        _ = await engine.shutdown()
        let (start, goal) = try await place.goal(1)
        #expect(start.map(\.token) == [[1]] && goal.map(\.token) == [[1]])
        #expect(try place.people.count() == 1)
    }

    /// A stop waits for them: each row that stays is an end push, or a start that is told to be given up, after the next start once more.
    @Test(.timeLimit(.minutes(10))) func cardsThatAreOverLeaveTheStoreBeforeAStop() async throws {
        let place = Place()
        let engine = try place.engine()
        _ = try await engine.ingest(Self.event(0))
        let cards = (0..<8 * Intake.rowsMax).map { ActivityID("\($0)") }
        for card in cards {
            _ = engine.offer(.follow(.topic(Self.match), activity: card, subscriber: "anna", token: [1]))
        }
        #expect(await engine.settle(within: .seconds(300)))
        #expect(try place.people.count() == cards.count)
        for card in cards { _ = engine.offer(.unfollow(activity: card, subscriber: "anna")) }
        _ = await engine.shutdown(within: .seconds(300))
        #expect(try place.people.count() == 0)
    }

    private static func start(_ number: Int) -> StartRequest {
        StartRequest(
            activity: "card \(number)", token: [7, UInt8(number & 255), UInt8(number >> 8)],
            attributesType: "Match",
            alert: AlertText(title: "Kick-off", body: ""))
    }

    /// A backend starts its people anew as soon as those of the engine before are given up.
    @Test(.timeLimit(.minutes(10))) func aStartThatIsRepeatedAfterARestartIsKept() async throws {
        let place = Place()
        let count = 2 * Intake.rowsMax
        for life in 0..<2 {
            let engine = try place.engine()
            // All of them leave, so that the next engine gives them up, while they are repeated.
            if life == 0 { _ = try await engine.ingest(Self.event(0)) }
            #expect(await engine.settle(within: .seconds(300)))
            for number in 0..<count {
                _ = engine.offer(.start(.topic(Self.match), Self.start(number), subscriber: "anna"))
            }
            #expect(await engine.settle(within: .seconds(300)))
            _ = await engine.shutdown()
            #expect(try place.people.count() == count)
        }
    }

    /// The shard says that the first start is over when the second one is in the store and on its way to it.
    @Test(.timeLimit(.minutes(10))) func aStartBehindItsOwnEndIsKept() async throws {
        let place = Place()
        let engine = try place.engine()
        for _ in 0..<20 {
            _ = try await engine.start(.topic(Self.match), Self.start(1), subscriber: "anna")
            _ = try await engine.unfollow(activity: "card 1", subscriber: "anna")
        }
        _ = try await engine.start(.topic(Self.match), Self.start(1), subscriber: "anna")
        #expect(await engine.settle(within: .seconds(300)))
        _ = await engine.shutdown()
        #expect(try place.people.count() == 1)
    }

    /// Starts that wait for a match, at whatever moment the engine is started anew, leave once it has something to show: as they were moved, with
    /// the newest token, and none that was unfollowed.
    @Test(.timeLimit(.minutes(10)), arguments: [0, 1, 3]) func startsThatHaveNotLeftLeaveAfterARestart(
        restarts: Int
    ) async throws {
        let place = Place()
        var engine = try place.engine()
        func restart() async throws {
            _ = await engine.shutdown()
            engine = try place.engine()
        }
        for number in 0..<5 {
            let receipt = try await engine.start(.topic(TopicID("other")), Self.start(number), subscriber: "anna")
            #expect(receipt.durability == .durable)
        }
        for _ in 0..<restarts { try await restart() }
        _ = try await engine.move(activity: "card 0", subscriber: "anna", to: .topic(Self.match))
        _ = try await engine.unfollow(activity: "card 1", subscriber: "anna")
        _ = try await engine.setPreferences(Preferences(alerts: .none), activity: "card 2", subscriber: "anna")
        let rotated = StartRequest(
            activity: "card 3", token: [9], attributesType: "Match", alert: AlertText(title: "Kick-off", body: ""))
        _ = try await engine.start(.topic(Self.match), rotated, subscriber: "anna")
        for _ in 0..<restarts { try await restart() }
        _ = try await engine.move(activity: "card 2", subscriber: "anna", to: .topic(Self.match))
        #expect(place.pushes.withLock(\.isEmpty) && place.events.withLock(\.isEmpty))
        _ = try await engine.ingest(Self.event(0))
        #expect(await engine.settle(within: .seconds(300)))
        let pushes = place.pushes.withLock { $0 }
        #expect(pushes.allSatisfy { $0.event == .start })
        let tokens: [[UInt8]] = [[7, 0, 0], [7, 2, 0], [9]]
        #expect(pushes.count == 3 && Set(pushes.map(\.token)) == Set(tokens))
        for _ in 0..<restarts { try await restart() }
        if restarts > 0 {
            // They may be on the phones, and none of them leaves again.
            #expect(await engine.settle(within: .seconds(300)))
            let told = place.events.withLock { $0 }
            #expect(Set(told.map(\.activity)) == ["card 0", "card 2", "card 3"])
            #expect(told.count == 3 && told.allSatisfy { $0.fate == .notStarted(.uncertain) })
        }
        #expect(place.pushes.withLock(\.count) == 3 * (restarts == 0 ? 1 : 0))
        _ = await engine.shutdown()
        #expect(try place.people.count() == (restarts == 0 ? 4 : 1))
    }

    /// A card that is to be started.
    private static func starting(_ number: Int, in topic: TopicID = TopicID("other"), app: AppID? = nil) -> Card {
        var card = Card(
            subscriber: "anna", activity: "card \(number)", token: start(number).token, audience: .topic(topic),
            startedAt: FeedTime(seconds: 1_790_000_000))
        (card.phase, card.request, card.app) = (.starting, start(number), app)
        return card
    }

    /// A start goes to its own app, and to no other one while the engine does not push to that.
    @Test(.timeLimit(.minutes(10))) func aStartWaitsForItsApp() async throws {
        let place = Place()
        let apps = ["one", "two"].map { AppID(bundleID: $0) }
        _ = await (try place.engine(apps: apps)).shutdown()
        try place.people.apply(
            [.insert(Self.starting(1, in: Self.match)), .insert(Self.starting(2, in: Self.match, app: apps[1]))],
            upTo: place.people.position + 1)
        for pushed in [[apps[0]], apps] {
            let engine = try place.engine(apps: pushed)
            _ = try await engine.ingest(Self.event(pushed.count))
            #expect(await engine.settle(within: .seconds(300)))
            #expect(place.pushes.withLock { $0 }.map(\.token) == [Self.start(pushed.count).token])
            #expect(place.events.withLock(\.count) == pushed.count - 1)
            _ = await engine.shutdown()
        }
    }

    /// The order of the apps may change between two engines. A token is of one app alone.
    @Test(.timeLimit(.minutes(10))) func aCardThatNamesNoAppStaysWithTheFirstAppOfItsEngine() async throws {
        let place = Place()
        let apps = ["one", "two"].map { AppID(bundleID: $0) }
        var engine = try place.engine(apps: apps)
        _ = try await engine.ingest(Self.event(0))
        try await Self.follow(engine, "card", [1])
        #expect(await engine.settle(within: .seconds(300)))
        _ = try await engine.start(.topic(TopicID("other")), Self.start(2), subscriber: "anna")
        _ = await engine.shutdown()
        let stored = try place.cards().map(\.app)
        #expect(stored == [apps[0], apps[0]])
        engine = try place.engine(apps: [apps[1], apps[0]])
        _ = try await engine.ingest(Self.event(1))
        #expect(await engine.settle(within: .seconds(300)))
        _ = await engine.shutdown()
        let pushes = place.pushes.withLock { $0 }
        #expect(pushes.contains { $0.token == [1] } && pushes.allSatisfy { $0.app == 1 })
    }

    /// A row of an earlier release has no app: its card is loaded into the first one, and the next change of the card names that.
    @Test(.timeLimit(.minutes(10))) func aRowWithoutAnAppIsOfTheFirstApp() async throws {
        let place = Place()
        var card = Card(
            subscriber: "anna", activity: "card", token: [1], audience: .topic(Self.match),
            startedAt: FeedTime(milliseconds: Moment.now().wallMilliseconds))
        card.joinedAt = FeedTime(seconds: 1_789_999_000)
        try place.people.apply([.insert(card)], upTo: place.people.position + 1)
        let apps = ["one", "two"].map { AppID(bundleID: $0) }
        let engine = try place.engine(apps: apps)
        _ = try await engine.ingest(Self.event(0))
        try await Self.follow(engine, "card", [1])
        #expect(await engine.settle(within: .seconds(300)))
        _ = await engine.shutdown()
        let pushes = place.pushes.withLock { $0 }
        #expect(pushes.contains { $0.token == [1] } && pushes.allSatisfy { $0.app == 0 })
        let stored = try place.cards()
        #expect(stored.map(\.app) == [apps[0]] && stored.map(\.joinedAt) == [card.joinedAt])
    }

    /// Where nobody knows which starts have left, those of other apps are given up as well: later nobody would know any more.
    @Test(.timeLimit(.minutes(10))) func withoutClaimsNoStartOfAnotherAppLeavesAgain() async throws {
        let place = Place()
        let apps = ["one", "two"].map { AppID(bundleID: $0) }
        try place.people.apply(
            [.insert(Self.starting(2, in: Self.match, app: apps[1]))], upTo: place.people.position + 1)
        for pushed in [[apps[0]], apps] {
            let engine = try place.engine(apps: pushed)
            _ = try await engine.ingest(Self.event(pushed.count))
            #expect(await engine.settle(within: .seconds(300)))
            #expect(place.pushes.withLock(\.count) == 0)
            _ = await engine.shutdown()
        }
        #expect(place.events.withLock(\.count) == 1)
    }

    /// A topic that ended while no start could leave, or whose end was told and whose row was not removed.
    @Test(.timeLimit(.minutes(10))) func aStartOfATopicThatIsOverDoesNotLeave() async throws {
        let place = Place()
        let engine = try place.engine()
        _ = try await engine.ingest(Self.event(1))
        var end = Self.event(2)
        (end.id, end.lifecycle, end.change) = ("end", .end, .nothing)
        _ = try await engine.ingest(end)
        _ = await engine.shutdown()
        try place.people.apply([.insert(Self.starting(1, in: Self.match))], upTo: place.people.position + 1)
        let (start, goal) = try await place.goal(2)
        #expect(!(start + goal).contains { $0.event == .start })
        #expect(place.events.withLock { $0 } == [ActivityEvent(activity: "card 1", fate: .notStarted(.over))])
        #expect(try place.people.count() == 0)
    }

    /// An import may bring a card whose name has a start in the store.
    @Test(.timeLimit(.minutes(10))) func aStartDoesNotMoveANewerCardOfItsName() async throws {
        let place = Place()
        _ = await (try place.engine()).shutdown()
        var shown = Self.starting(1, in: Self.match)
        (shown.phase, shown.request, shown.token) = (.shown, nil, [1])
        shown.startedAt = FeedTime(milliseconds: Moment.now().wallMilliseconds)
        try place.people.apply([.insert(Self.starting(1)), .insert(shown)], upTo: place.people.position + 1)
        let (_, goal) = try await place.goal(1)
        #expect(goal.map(\.token) == [[1]])
        #expect(place.events.withLock(\.count) == 0)
        #expect(try place.people.count() == 1, "the older row would be the newest one day")
    }

    /// A card that is started after a restart has the preferences of the person who waited for it.
    @Test(.timeLimit(.minutes(10)), arguments: [AlertMask.all, .none]) func aStartKeepsItsPreferences(
        alerts: AlertMask
    ) async throws {
        let place = Place()
        var engine = try place.engine()
        _ = try await engine.start(.topic(Self.match), Self.start(1), subscriber: "anna")
        _ = try await engine.setPreferences(Preferences(alerts: alerts), activity: "card 1", subscriber: "anna")
        _ = await engine.shutdown()
        engine = try place.engine()
        _ = try await engine.ingest(Self.event(0))
        #expect(await engine.settle(within: .seconds(300)))
        _ = try await engine.replaceToken(activity: "card 1", subscriber: "anna", with: [1])
        #expect(await engine.settle(within: .seconds(300)))
        _ = try await engine.ingest(Self.event(1))
        #expect(await engine.settle(within: .seconds(300)))
        _ = await engine.shutdown()
        let updates = place.pushes.withLock { $0 }.filter { $0.event == .update }
        #expect(updates.contains { $0.hasAlert } == (alerts == .all) && !updates.isEmpty)
    }

    /// The people of a restored backup are older than the claims: nobody knows which of their starts have left.
    @Test(.timeLimit(.minutes(10))) func noStartOfARestoredBackupLeaves() async throws {
        let place = Place()
        _ = try await place.goal(1)
        try place.people.apply([.insert(Self.starting(1, in: Self.match))], upTo: place.people.position + 1)
        let restored = Place(log: MemoryLog(), people: place.people, claims: place.claims)
        place.claims.append([], Self.completions(through: place.log.end))
        let (start, goal) = try await restored.goal(1)
        #expect(!(start + goal).contains { $0.event == .start })
        #expect(restored.events.withLock(\.count) == 1)
    }

    private static func completions(through position: LogPosition) -> CompletionChanges {
        var changes = CompletionChanges()
        let completion = StoredCompletion(
            topic: match, app: nil, birth: 1, version: 1, displayHash: nil, before: FeedTime(seconds: 1), serials: 0)
        changes.note(
            completion, at: CompletionKey(birth: 1, app: 0),
            CompletionHead(position: position, now: FeedTime(seconds: 1)))
        return changes
    }

    /// A start waits for seven days, by log time and over restarts.
    @Test(.timeLimit(.minutes(10)), arguments: [6, 8]) func aStartIsGivenUpAfterAWeek(days: Int64) async throws {
        let place = Place()
        let now = FeedTime(milliseconds: Moment.now().wallMilliseconds)
        _ = try await place.goal(1)
        let log = try #require(place.log.end > 0 ? place.log : nil)
        var last = now
        try log.read(from: log.end) { (_, entry) throws(LogError) in
            last = entry.now
            return false
        }
        var card = Self.starting(1)
        card.joinedAt = FeedTime(milliseconds: last.milliseconds - days * 86_400_000)
        try place.people.apply([.insert(card)], upTo: place.people.position + 1)
        _ = try await place.goal(2)
        let told = place.events.withLock { $0 }
        #expect(
            told == (days > 7 ? [ActivityEvent(activity: "card 1", fate: .notStarted(.waitedTooLong))] : []))
        #expect(try place.people.count() == (days > 7 ? 0 : 1))
    }

    /// Without its claims nobody knows which starts have left: a folder was removed, or a replay has used the store.
    @Test(.timeLimit(.minutes(10))) func withoutClaimsNoStartLeavesAgain() async throws {
        var place = Place()
        let engine = try place.engine()
        _ = try await engine.start(.topic(Self.match), Self.start(1), subscriber: "anna")
        _ = await engine.shutdown()
        // The row is there once more, as if the engine had died before it was removed.
        let row = try #require(try place.cards().first)
        place = Place(log: place.log, people: place.people)
        for life in 0..<2 {
            let engine = try place.engine()
            #expect(await engine.settle(within: .seconds(300)))
            _ = await engine.shutdown()
            #expect(place.events.withLock(\.count) == life + 1)
            #expect(try place.people.count() == 0)
            try place.people.apply([.insert(row)], upTo: place.people.position + 1)
        }
        let (start, goal) = try await place.goal(1)
        #expect(start.isEmpty && goal.isEmpty)
    }

    /// A start that a release before this one has written says not what it sends.
    @Test(.timeLimit(.minutes(10))) func aStartOfAnEarlierReleaseIsGivenUp() async throws {
        let place = Place()
        _ = await (try place.engine()).shutdown()
        var card = Card(
            subscriber: "anna", activity: "card", token: [7], audience: .topic(Self.match),
            startedAt: FeedTime(seconds: 1_790_000_000))
        card.phase = .starting
        try place.people.apply([.insert(card)], upTo: place.people.position + 1)
        let (start, goal) = try await place.goal(1)
        #expect(start.isEmpty && goal.isEmpty)
        #expect(place.events.withLock { $0 } == [ActivityEvent(activity: "card", fate: .notStarted(.uncertain))])
    }

    /// A start is written before it leaves; one without an answer is told as uncertain, and never sent again.
    @Test(.timeLimit(.minutes(10))) func aStartWithoutATokenIsToldAndNotSentAgain() async throws {
        let place = Place()
        let request = StartRequest(
            activity: "card", token: [7], attributesType: "Match", alert: AlertText(title: "Kick-off", body: ""))
        let engine = try place.engine()
        _ = try await engine.ingest(Self.event(0))
        let receipt = try await engine.start(.topic(Self.match), request, subscriber: "anna")
        #expect(receipt.durability == .durable)
        #expect(await engine.settle(within: .seconds(300)))
        #expect(place.pushes.withLock { $0 }.map(\.event) == [.start])
        _ = await engine.shutdown()
        let (start, goal) = try await place.goal(1)
        #expect(start.isEmpty && goal.isEmpty)
        #expect(place.events.withLock { $0 } == [ActivityEvent(activity: "card", fate: .notStarted(.uncertain))])
        _ = try await place.goal(2)
        #expect(place.events.withLock(\.count) == 1)
    }
}
