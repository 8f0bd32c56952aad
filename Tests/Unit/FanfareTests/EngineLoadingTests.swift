import Dispatch
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import Testing

@testable import Fanfare

/// An engine whose people are loaded while it serves: those who are there, and events, wait for nobody.
@Suite struct EngineLoadingTests {
    private static let match = TopicID("match/1")

    /// Stops a store's reader before a slice until the test opens it, or lets the slice fail there.
    private final class Gate: Sendable {
        let slice: Int
        private let opened = DispatchSemaphore(value: 0)
        /// Times that the slice still fails.
        private let failures: Locked<Int>

        init(before slice: Int, failures: Int) { (self.slice, self.failures) = (slice, Locked(failures)) }

        func open() { opened.signal() }

        func pass(to next: Int) throws(LogError) {
            guard next == slice else { return }
            opened.wait()
            opened.signal()
            let fails = failures.withLock { failures in
                failures -= 1
                return failures >= 0
            }
            if fails { throw LogError("slice \(slice) cannot be read", .damaged) }
        }
    }

    private final class Place: Sendable {
        let gate: Gate
        let people = TroubledPeople()
        let log = MemoryLog()
        let claims = MemoryClaims()
        let pushes = Locked<[(token: [UInt8], alert: String?)]>([])
        let fates = Locked<[ActivityEvent]>([])
        let lines = Locked<[String]>([])

        /// - Parameter count: number of cards; those of the gate's slice, or behind, are `late`.
        init(before slice: Int = Card.slices / 2, failures: Int = 0, count: Int = 100) throws {
            let gate = Gate(before: slice, failures: failures)
            self.gate = gate
            people.beforeSlice = { (next) throws(LogError) in try gate.pass(to: next) }
            for number in 0..<count {
                try people.apply([.insert(Self.card(number))])
            }
        }

        static func card(_ number: Int) -> Card {
            Card(
                subscriber: "person \(number)", activity: "card \(number)", token: [UInt8(number)],
                audience: .topic(EngineLoadingTests.match),
                startedAt: FeedTime(milliseconds: Moment.now().wallMilliseconds))
        }

        func isLate(_ number: Int) -> Bool {
            Card.slice(ofSubscriber: "person \(number)", token: [UInt8(number)]) >= gate.slice
        }

        func engine() throws -> Engine {
            var options = Engine.Options(transport: .discard, store: StoreChoice(place: .log(log, people, claims)))
            options.mailboxCapacity = 64
            var observer = Engine.Observer()
            observer.onReport = { line in self.lines.withLock { $0.append(line) } }
            observer.onActivityEvent = { event in self.fates.withLock { $0.append(event) } }
            return try Engine(
                options, observer: observer, apps: [],
                makeTransports: [
                    { _, shard, _ in
                        NotingTransport(shard) { payload, token in
                            var title: String?
                            if case .text(let text)? = payload.alert?.title { title = text }
                            self.pushes.withLock { $0.append((Array(token), title)) }
                        }
                    }
                ])
        }

        func told(_ title: String) -> [Int] {
            pushes.withLock { $0.filter { $0.alert == title }.map { Int($0.token[0]) } }.sorted()
        }
    }

    private static func goal(_ number: Int) -> FeedEvent {
        FeedEvent(
            topic: match, topicKind: .generic, at: FeedTime(milliseconds: Moment.now().wallMilliseconds),
            id: "goal \(number)", kind: "goal", change: .patch(["goals": .int(Int64(number))]),
            alert: AlertText(title: "goal \(number)", body: ""))
    }

    /// A goal reaches those who are loaded at once, and each of the others when it is. Calls for cards wait by then.
    @Test(.timeLimit(.minutes(10))) func aGoalDoesNotWaitForThoseWhoAreStillToBeLoaded() async throws {
        let place = try Place()
        let engine = try place.engine()
        _ = try await engine.ingest(Self.goal(1))
        let early = (0..<100).filter { !place.isLate($0) }
        #expect(!early.isEmpty && early.count < 100)
        while place.told("goal 1").count < early.count { await Task.yield() }
        #expect(place.told("goal 1") == early)
        #expect(await engine.settle(within: .zero) == false)
        // Questions about cards, as many as there are, hold up no event.
        for number in 0..<200 {
            _ = engine.alertDisposition(
                of: "goal 1", in: Self.match, activity: ActivityID("card \(number)"),
                subscriber: SubscriberID("person \(number)")
            ) { _ in }
            await Task.yield()
        }
        #expect(try await engine.topicState(Self.match)?.version == 1)
        #expect(try await engine.ingest(Self.goal(2)).durability == .durable)
        while place.told("goal 2").count < early.count { await Task.yield() }
        async let followed = engine.follow(
            .topic(Self.match), activity: "new", subscriber: "person new", token: [200])
        place.gate.open()
        #expect(try await followed.durability == .durable)
        #expect(await engine.settle(within: .seconds(300)))
        #expect(place.told("goal 2") == Array(0..<100), "everybody once")
        #expect(Set(place.told("goal 1")).isSubset(of: 0..<100) && place.told("goal 1").count <= 100)
        #expect(place.pushes.withLock { $0.contains { $0.token == [200] && $0.alert == nil } })
        #expect(try await engine.counts().activities == 101)
        #expect(await engine.shutdown().isDrained)
        #expect(try place.people.count() == 101)
    }

    /// The next engine serves cards that have not been loaded.
    @Test(.timeLimit(.minutes(10))) func aStopDoesNotWaitForThoseWhoAreStillToBeLoaded() async throws {
        let place = try Place()
        let engine = try place.engine()
        _ = try await engine.ingest(Self.goal(1))
        let early = (0..<100).filter { !place.isLate($0) }
        while place.told("goal 1").count < early.count { await Task.yield() }
        _ = await engine.shutdown(within: .seconds(300))
        #expect(place.told("goal 1") == early)
        place.gate.open()
        let next = try place.engine()
        #expect(await next.settle(within: .seconds(300)))
        #expect(place.told("goal 1") == Array(0..<100), "everybody once")
        _ = await next.shutdown()
    }

    /// A slice that cannot be read for a while is read later; one that never can is left out, and the others are served.
    @Test(.timeLimit(.minutes(10)), arguments: [(2, 100), (1000, 50)]) func aSliceThatCannotBeReadKeepsNobodyElse(
        failures: Int, least: Int
    ) async throws {
        let place = try Place(failures: failures)
        place.gate.open()
        let engine = try place.engine()
        #expect(await engine.settle(within: .seconds(300)))
        let count = try await engine.counts().activities
        #expect(count >= least && (count == 100) == (failures == 2), "\(count)")
        let lines = place.lines.withLock { $0 }
        #expect(lines.contains { $0.contains("people behind that place wait until the store can be read") })
        #expect(lines.contains { $0.contains("are left out: stop the engine") } == (failures > 10), "\(lines)")
        let receipt = try await engine.follow(
            .topic(Self.match), activity: "new", subscriber: "person new", token: [200])
        #expect(receipt.durability == .durable)
        _ = await engine.shutdown()
    }

    /// Cards that were left out lack newer states: a topic is complete for nobody, and the next engine, which can read them, sends it.
    @Test(.timeLimit(.minutes(10))) func cardsThatLoadingLeftOutAreServedByTheNextEngine() async throws {
        let place = try Place(failures: 3)
        place.gate.open()
        var engine = try place.engine()
        #expect(await engine.settle(within: .seconds(300)))
        _ = try await engine.ingest(Self.goal(1))
        #expect(await engine.settle(within: .seconds(300)))
        #expect(place.told("goal 1").count < 100)
        _ = await engine.shutdown()
        engine = try place.engine()
        #expect(await engine.settle(within: .seconds(300)))
        #expect(place.told("goal 1") == Array(0..<100), "everybody once")
        _ = await engine.shutdown()
    }

    /// A backend that starts a card anew because it is told that it was given up is not taken for one that could not know.
    @Test(.timeLimit(.minutes(10))) func aStartAfterTheNewsIsCarriedOut() async throws {
        let place = try Place(count: 0)
        place.gate.open()
        var engine = try place.engine()
        _ = try await engine.ingest(Self.goal(1))
        func start() -> StartRequest {
            StartRequest(
                activity: "card", token: [7], attributesType: "Match", alert: AlertText(title: "Kick-off", body: ""))
        }
        _ = try await engine.start(.topic(Self.match), start(), subscriber: "anna")
        #expect(await engine.settle(within: .seconds(300)))
        _ = await engine.shutdown()
        place.pushes.withLock { $0 = [] }
        engine = try place.engine()
        while place.fates.withLock(\.isEmpty) { await Task.yield() }
        _ = try await engine.start(.topic(Self.match), start(), subscriber: "anna")
        #expect(await engine.settle(within: .seconds(300)))
        #expect(place.fates.withLock(\.count) == 1 && place.pushes.withLock(\.count) == 1)
        _ = await engine.shutdown()
    }

    /// A call may take the place of a start whose topic is over. The store then keeps the call's start, which a claim names, so that no later engine
    /// repeats it.
    @Test(.timeLimit(.minutes(10))) func aStartInThePlaceOfOneThatIsGivenUpLeavesOnce() async throws {
        let place = try Place(count: 0)
        func start() -> StartRequest {
            StartRequest(
                activity: "card", token: [7], attributesType: "Match", alert: AlertText(title: "Kick-off", body: ""))
        }
        var engine = try place.engine()
        var end = Self.goal(1)
        end.lifecycle = .end
        _ = try await engine.ingest(end)
        _ = await engine.shutdown()
        var row = Card(
            subscriber: "anna", activity: "card", token: [7], audience: .topic(Self.match),
            startedAt: FeedTime(milliseconds: Moment.now().wallMilliseconds))
        (row.phase, row.request) = (.starting, start())
        try place.people.apply([.insert(row)], upTo: place.people.position + 1)

        engine = try place.engine()
        let other = TopicID("match/2")
        guard case .taken = engine.offer(.start(.topic(other), start(), subscriber: "anna")) else {
            Issue.record("the call is not taken")
            return
        }
        var event = Self.goal(2)
        event.topic = other
        _ = try await engine.ingest(event)
        place.gate.open()
        #expect(await engine.settle(within: .seconds(300)))
        #expect(place.fates.withLock { $0 } == [ActivityEvent(activity: "card", fate: .notStarted(.over))])
        #expect(place.pushes.withLock(\.count) == 1)
        _ = await engine.shutdown()

        engine = try place.engine()
        #expect(await engine.settle(within: .seconds(300)))
        #expect(place.pushes.withLock(\.count) == 1, "the start has left")
        #expect(place.fates.withLock { $0.last } == ActivityEvent(activity: "card", fate: .notStarted(.uncertain)))
        _ = await engine.shutdown()
    }
}
