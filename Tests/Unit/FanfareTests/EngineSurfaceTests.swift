import FanfareDecisions
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import Fanfare

/// An engine as a program with tasks uses it. Each test has a time limit, because a fault here hangs.
@Suite(.timeLimit(.minutes(5))) struct EngineSurfaceTests {
    private let topic = TopicID("topic")

    /// An engine whose core blocks in its first decision until `go` is called.
    private struct Standing {
        let engine: Engine
        let go = DispatchSemaphore(value: 0)

        init(capacity: Int) throws {
            let stands = DispatchSemaphore(value: 0)
            let go = go
            var observer = Engine.Observer()
            observer.onDecision = { record in
                guard record.seq == 0 else { return }
                stands.signal()
                go.wait()
            }
            var options = Engine.Options(transport: .discard)
            options.mailboxCapacity = capacity
            engine = try Engine(options, observer: observer)
            guard engine.offer(.number(0)).isTaken else { throw EngineError.full }
            stands.wait()
        }

        /// - Returns: the last position that was taken.
        func fill() -> UInt64 {
            var last: UInt64 = 0
            while let receipt = engine.offer(.number(1)).receipt { last = receipt.position }
            return last
        }

        func callersInLine(_ count: Int) async { while engine.core.inbox.line.count < count { await Task.yield() } }
    }

    // MARK: Receipts

    @Test func receiptsSayInWhichOrderTheCoreTakes() async throws {
        let decided = Locked<[UInt64]>([])
        var observer = Engine.Observer()
        observer.onDecision = { record in if let seq = record.seq { decided.withLock { $0.append(seq) } } }
        var options = Engine.Options(transport: .discard)
        options.mailboxCapacity = 8
        let engine = try await Engine.launch(options, observer: observer)
        // Each task has others behind it and in front of it, and waits for room repeatedly.
        let receipts = try await withThrowingTaskGroup(of: [(Receipt, UInt64)].self) { group in
            for task in 0..<4 {
                group.addTask {
                    var receipts: [(Receipt, UInt64)] = []
                    for number in 0..<200 {
                        let seq = task * 1000 + number + 1
                        receipts.append((try await engine.ingest(.number(seq, of: "topic \(task)")), UInt64(seq)))
                    }
                    return receipts
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(await engine.shutdown().isDrained)
        let ordered = receipts.sorted { $0.0 < $1.0 }
        #expect(ordered.map(\.1) == decided.withLock { $0 })
        #expect(Set(receipts.map(\.0.position)).count == 800 && ordered[0].0.position >= 1)
        #expect(receipts.allSatisfy { $0.0.durability == .memory })
    }

    @Test func aRefusedCallThrowsTheCause() async throws {
        let engine = try await Engine.launch(Engine.Options(transport: .discard))
        func cause(_ command: Engine.Command) async -> Refusal.Cause? {
            do { _ = try await engine.send(command) } catch {
                guard case .refused(let refusal) = error, !refusal.description.isEmpty else { return nil }
                return refusal.cause
            }
            return nil
        }
        #expect(await cause(.replaceToken(activity: "a", subscriber: "s", with: [])) == .token)
        #expect(await cause(.confirmStart(activity: "a", subscriber: "s", token: [])) == .token)
        #expect(await cause(.move(activity: "a", subscriber: "s", to: .lineup([]))) == .lineup)
        #expect(await cause(.move(activity: "a", subscriber: "s", to: .topic(TopicID("")))) == .topic)
        #expect(await cause(.order(.pause, for: .app(AppID(bundleID: "nobody's")))) == .app)
        #expect(await cause(.correct(topic, .operation(.mute))) == .correction)
        await #expect(throws: EngineError.self) {
            try await engine.alertDisposition(
                of: "goal", in: topic, activity: "a",
                subscriber: SubscriberID("s", app: AppID(bundleID: "nobody's")))
        }
        do {
            _ = try await engine.publish([1, 2], for: topic)
            Issue.record("an array is no content state")
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            #expect(refusal.cause == .contentState)
        }
        _ = await engine.shutdown()
    }

    // MARK: Room

    @Test func aCallerThatWaitsForRoomGetsThePositionBehindEntriesTaken() async throws {
        let standing = try Standing(capacity: 4)
        let (engine, last) = (standing.engine, standing.fill())
        var sends: [Task<Receipt, any Error>] = []
        for number in 1...3 {
            sends.append(Task { try await engine.ingest(.number(number)) })
            await standing.callersInLine(number)
        }
        standing.go.signal()
        var positions: [UInt64] = []
        for send in sends { positions.append(try await send.value.position) }
        #expect(positions == [last + 1, last + 2, last + 3])
        _ = await engine.shutdown()
    }

    @Test func roomIsToldWhenThereIsSome() async throws {
        let standing = try Standing(capacity: 4)
        let engine = standing.engine
        try await engine.room()
        _ = standing.fill()
        #expect(engine.offer(.confirmDeadTokens) == .full)
        let told = Task {
            try await engine.room()
            return engine.offer(.confirmDeadTokens)
        }
        await standing.callersInLine(1)
        standing.go.signal()
        #expect(try await told.value.isTaken)
        _ = await engine.shutdown()
    }

    @Test func waitingForRoomHasAnEnd() async throws {
        let standing = try Standing(capacity: 4)
        let engine = standing.engine
        _ = standing.fill()
        let cancelled = Task { try await engine.room() }
        let stopped = [Task { try await engine.room() }, Task { _ = try await engine.ingest(.number(9)) }]
        let settled = Task { await engine.settle(within: .seconds(3600)) }
        let asked = Task { _ = try await engine.counts() }
        await standing.callersInLine(5)
        cancelled.cancel()
        await #expect(throws: EngineError.cancelled) { try await cancelled.value }
        let shutdown = Task { await engine.shutdown() }
        for task in stopped + [asked] {
            await #expect(throws: EngineError.stopped) { try await task.value }
        }
        #expect(await !settled.value)
        standing.go.signal()
        #expect(await shutdown.value.isDrained)
        await #expect(throws: EngineError.stopped) { try await engine.room() }
    }

    /// Core and shard run in one thread, where the test advances the time.
    @Test func patienceForRoomIsBounded() async {
        let stage = OneThread(mailbox: 2)
        stage.begin()
        while stage.ask(.confirmDeadTokens) {}
        let inbox = stage.inbox
        let until = stage.clock.now + .seconds(1)
        let impatient = Task { () -> EngineError? in
            do throws(EngineError) {
                _ = try await inbox.post(.confirmDeadTokens, until: until, wake: {})
                return nil
            } catch { return error }
        }
        while inbox.line.count == 0 { await Task.yield() }
        stage.clock.pass(.seconds(1))
        _ = stage.turn.run()
        #expect(await impatient.value == .full)
    }

    // MARK: Questions

    @Test func questionsToAnEngineAreAnswered() async throws {
        let engine = try await Engine.launch(Engine.Options(transport: .discard))
        #expect(try await engine.topicState(topic) == nil)
        _ = try await engine.follow(.topic(topic), activity: "card", subscriber: "anna", token: [1])
        var event = FeedEvent.number(1, of: topic.rawValue)
        event.alert = AlertText(title: "One", body: "")
        event.id = "first"
        _ = try await engine.ingest(event)
        let state = try #require(try await engine.topicState(topic))
        #expect(state.version == 1 && !state.isEnded && state.kind == .generic)
        #expect(state.contentState?["number"] == 1)
        #expect(await engine.settle(within: .seconds(120)))
        #expect(try await engine.counts().pushes.accepted == 1)
        #expect(try await engine.freshness().kinds.count <= 1, "a tenth of a second old at most")
        let disposition = try await engine.alertDisposition(
            of: "first", in: topic, activity: "card", subscriber: "anna")
        #expect(disposition != .noActivity)
        var end = FeedEvent.number(2, of: topic.rawValue)
        end.lifecycle = .end
        _ = try await engine.ingest(end)
        #expect(try await engine.topicState(topic)?.isEnded == true)
        _ = await engine.shutdown()
        await #expect(throws: EngineError.stopped) { _ = try await engine.counts() }
    }

    @Test func aKnownActivityMovesAndChangesItsToken() async throws {
        // Set and used on the shard's thread; read here after that has ended.
        nonisolated(unsafe) var source: RecordingSource?
        let engine = try Engine(
            Engine.Options(transport: .discard), observer: Engine.Observer(), apps: [],
            makeTransports: [
                { loop, shard, _ in
                    let recording = RecordingSource(shard)
                    source = recording
                    return try DiscardTransport(loop: loop, source: recording)
                }
            ])
        let events = engine.activityEvents()
        _ = try await engine.ingest(.number(1, of: "one"))
        _ = try await engine.ingest(.number(2, of: "two"))
        _ = try await engine.follow(.topic(TopicID("one")), activity: "card", subscriber: "anna", token: [1])
        #expect(await engine.settle(within: .seconds(120)))
        _ = try await engine.replaceToken(activity: "card", subscriber: "anna", with: [2])
        _ = try await engine.move(activity: "card", subscriber: "anna", to: .topic(TopicID("two")))
        _ = try await engine.replaceToken(activity: "nobody", subscriber: "anna", with: [3])
        _ = try await engine.confirmStart(activity: "nobody", subscriber: "anna", token: [3])
        _ = try await engine.move(activity: "nobody", subscriber: "anna", to: .topic(TopicID("two")))
        #expect(await engine.settle(within: .seconds(120)))
        _ = await engine.shutdown()
        #expect(source?.accepted[[1]]?.map(\.state) == [Array(#"{"number":1}"#.utf8)])
        #expect(source?.accepted[[2]]?.map(\.state) == [Array(#"{"number":2}"#.utf8)])
        var told: [ActivityEvent] = []
        for await event in events { told.append(event) }
        let refused = ActivityEvent(
            activity: ActivityID(hashing: "nobody"), fate: .refused(.unknownActivity))
        #expect(told == [refused, refused, refused] && told.allSatisfy { $0.activity.text == "nobody" })
    }

    // MARK: Events

    @Test func everyConsumerGetsAllThatIsTold() async throws {
        let tally = Tally()
        let engine = try Engine.scripted({ .everyThirdIsDead(tally) })
        let (decisions, few, dead) = (engine.decisions(), engine.decisions(buffering: 1), engine.deadTokens())
        for person in 0..<30 {
            _ = try await engine.follow(.topic(topic), activity: "\(person)", subscriber: "\(person)", token: [1])
        }
        for number in 1...5 { _ = try await engine.ingest(.number(number)) }
        #expect(await engine.settle(within: .seconds(120)))
        _ = await engine.shutdown()
        var outcomes: [Outcome] = []
        for await record in decisions where record.origin == .event { outcomes.append(record.outcome) }
        #expect(outcomes == [.published, .conflated, .conflated, .conflated, .conflated])
        var last: [DecisionRecord] = []
        for await record in few { last.append(record) }
        #expect(last.map(\.kind) == ["flush"] && few.lost == 5)
        var gone: Set<String> = []
        for await activity in dead { gone.insert(activity.text ?? "") }
        #expect(gone.count == tally.count && tally.count > 0)
        #expect(gone.isSubset(of: (0..<30).map { "\($0)" }), "ids come back as what went in")
        var late = engine.reports().makeAsyncIterator()
        #expect(await late.next() == nil, "nothing is told any more")
    }

    @Test func theFirstToAskGetsTheReportsOfTheStart() async throws {
        let nobody = Subscription(audience: .topic(topic), activity: ActivityID(1), subscriber: "anna", token: [])
        var options = Engine.Options(transport: .discard)
        options.subscribers = SubscriberSequence([nobody], expectedCount: 1)
        let engine = try await Engine.launch(options)
        var reports = engine.reports().makeAsyncIterator()
        #expect(await reports.next() == "left out 1 subscriber: a token has 1 to 512 bytes, not 0")
        _ = await engine.shutdown()
    }

    // MARK: The end

    @Test func everyShutdownSaysWhatBecameOfWhatWasOwed() async throws {
        let engine = try Engine.scripted({ .silent })
        for person in 0..<10 {
            _ = try await engine.follow(.topic(topic), activity: "\(person)", subscriber: "\(person)", token: [1])
        }
        _ = try await engine.ingest(.number(1))
        let other = Task { await engine.shutdown(within: .seconds(3600)) }
        let report = await engine.shutdown(within: .milliseconds(50))
        #expect(report.owed == 10 && !report.isDrained && report.refused == 0)
        #expect(await other.value == report)
        #expect(await engine.shutdown() == report)
    }

    /// A task that waits for the ending joins the core's thread, and would block a thread of the pool while the topics are released.
    @Test func theEndingComesAfterTheTopicsAreReleased() async throws {
        let living = Locked(0)
        var options = Engine.Options(transport: .discard)
        options.rules = Rules(kinds: [:], other: TopicRules(reducer: SlowlyReleased(living: living)))
        let engine = try await Engine.launch(options)
        let time = FeedTime(seconds: 1_790_000_000)
        let fact = Fact(id: "first", kind: "move", at: time, values: [:])
        _ = try await engine.ingest(
            FeedEvent(topic: topic, topicKind: .generic, at: time, kind: "move", change: .fact(fact)))
        #expect(try await engine.topicState(topic) != nil)
        let before = living.withLock { $0 }
        #expect(before > 0)
        engine.core.stop(within: Engine.stopTimeout)
        _ = await engine.core.ending.wait()
        let after = living.withLock { $0 }
        #expect(after == 0)
        _ = await engine.shutdown()
    }
}

/// Reducer whose state takes a tenth of a second to release, so that the test sees an ending that does not wait for the release.
private struct SlowlyReleased: Reducer {
    final class Weight: Sendable {
        private let living: Locked<Int>

        init(_ living: Locked<Int>) {
            self.living = living
            living.withLock { $0 += 1 }
        }

        deinit {
            usleep(100_000)
            living.withLock { $0 -= 1 }
        }
    }

    /// Number of the weights that are not released.
    let living: Locked<Int>
    private var weight: Weight?
    var state: JSONObject { ["moved": .bool(weight != nil)] }
    var isPresentable: Bool { true }
    var ending: String? { nil }

    init(living: Locked<Int>) { self.living = living }

    func understands(factKind: String) -> Bool { true }
    func fault(in fact: Fact) -> String? { nil }
    mutating func fold(_ entry: LedgerEntry) { weight = Weight(living) }
    func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? { nil }
}
