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
        let log = MemoryLog()
        let people = MemoryPeopleStore()
        let pushes = Locked<[Push]>([])
        let events = Locked<[ActivityEvent]>([])

        struct Push: Equatable {
            let event: Payload.Event
            let token: [UInt8]
        }

        func engine(_ others: [Subscription] = []) throws -> Engine {
            pushes.withLock { $0 = [] }
            var options = Engine.Options(transport: .discard, store: StoreChoice(place: .log(log, people)))
            options.subscribers = SubscriberSequence(others, expectedCount: others.count)
            var observer = Engine.Observer()
            observer.met = { id, fate in
                self.events.withLock { $0.append(ActivityEvent(activity: id, fate: fate)) }
            }
            return try Engine(
                options, observer: observer, apps: [],
                makeTransports: [
                    { _, shard, _ in
                        NotingTransport(shard) { payload, token in
                            self.pushes.withLock { $0.append(Push(event: payload.event, token: Array(token))) }
                        }
                    }
                ])
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

    /// A start brings the newest state once, and the next goal reaches everybody as the last engine was told.
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
            #expect(start.filter { $0.event == .update }.map(\.token).sorted(by: { $0[0] < $1[0] }) == [[1], [5]])
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

    private static func start(_ number: Int) -> StartRequest {
        StartRequest(
            activity: "card \(number)", token: [7, UInt8(number & 255), UInt8(number >> 8)],
            attributesType: "Match",
            alert: AlertText(title: "Kick-off", body: ""))
    }

    /// A backend starts its people anew while those of the engine before are given up.
    @Test(.timeLimit(.minutes(10))) func aStartThatIsRepeatedAfterARestartIsKept() async throws {
        let place = Place()
        let count = 2 * Intake.rowsMax
        for _ in 0..<2 {
            let engine = try place.engine()
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
