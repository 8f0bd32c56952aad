import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import Fanfare

/// Calls with idempotency keys, of engines with threads that follow one another on one store.
@Suite(.timeLimit(.minutes(10))) struct EngineKeyTests {
    private static let match = TopicID("match/1")

    private static func engine(_ store: StoreChoice?, checkpoints: UInt64? = nil) throws -> Engine {
        var store = store
        if let checkpoints { store?.checkpointInterval = checkpoints }
        return try Engine(Engine.Options(transport: .discard, store: store))
    }

    private static func removeCheckpoints(of folder: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix("checkpoint-") {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }

    /// Event without an id, which a topic takes each time it comes.
    private static func goal(_ number: Int) -> FeedEvent {
        let at = FeedTime(seconds: 1_790_000_000 + Int64(60 * number))
        return FeedEvent(
            topic: match, topicKind: .football, at: at, kind: "goal",
            change: .fact(Fact(id: "g\(number)", kind: "goal", at: at, values: ["side": "home"])))
    }

    /// Every verb that takes a key is carried out once, and tells the caller so.
    @Test(arguments: [false, true]) func eachVerbWithAKeyIsCarriedOutOnce(hasStore: Bool) async throws {
        let log = MemoryLog()
        let engine = try Self.engine(hasStore ? StoreChoice(place: .log(log)) : nil)
        let request = StartRequest(
            activity: "card", token: [7], attributesType: "Match", alert: AlertText(title: "Kick-off", body: ""))
        let verbs: [(String, @Sendable (IdempotencyKey) async throws(EngineError) -> Receipt)] = [
            ("event", { key async throws(EngineError) in try await engine.ingest(Self.goal(1), key: key) }),
            ("order", { key async throws(EngineError) in try await engine.order(.mute, for: .all, key: key) }),
            (
                "correction",
                { key async throws(EngineError) in
                    try await engine.correct(Self.match, .retraction(of: "g1"), key: key)
                }
            ),
            (
                "state",
                { key async throws(EngineError) in
                    try await engine.publish(["a": 1], for: TopicID("ride/1"), key: key)
                }
            ),
            (
                "start",
                { key async throws(EngineError) in
                    try await engine.start(.topic(Self.match), request, subscriber: "anna", key: key)
                }
            ),
        ]
        for (name, verb) in verbs {
            let key = try IdempotencyKey(name)
            let first = try await verb(key)
            let count = log.end
            let again = try await verb(key)
            #expect(!first.isRepeat && again.isRepeat, "\(name)")
            #expect(again.position == first.position && again.entry == first.entry, "\(name)")
            #expect(first.durability == (hasStore ? .durable : .memory), "\(name)")
            #expect(again.durability == first.durability && (first.entry != nil) == hasStore, "\(name)")
            if hasStore { #expect(log.end == count) }
            // The verb before has another content.
            guard name != "event" else { continue }
            await #expect(throws: EngineError.self, "\(name)") { try await verb(IdempotencyKey("event")) }
        }
        _ = await engine.shutdown()
    }

    @Test(arguments: [false, true]) func ofCallsAtTheSameTimeOneIsCarriedOut(hasStore: Bool) async throws {
        let log = MemoryLog()
        let engine = try Self.engine(hasStore ? StoreChoice(place: .log(log)) : nil)
        let key = try IdempotencyKey("k")
        let receipts = try await withThrowingTaskGroup(of: Receipt.self) { group in
            for _ in 0..<50 { group.addTask { try await engine.ingest(Self.goal(1), key: key) } }
            return try await group.reduce(into: [Receipt]()) { $0.append($1) }
        }
        #expect(receipts.count { !$0.isRepeat } == 1)
        #expect(Set(receipts.map(\.position)).count == 1 && Set(receipts.map(\.entry)).count == 1)
        _ = await engine.shutdown()
        if hasStore {
            var keyed = 0
            try log.read(from: 1) { (_, entry) throws(LogError) in
                keyed += entry.key == nil ? 0 : 1
                return true
            }
            #expect(keyed == 1)
        }
    }

    @Test func aKeyWithAnotherContentIsRefusedWithASentence() async throws {
        let engine = try Self.engine(StoreChoice(place: .log(MemoryLog())))
        let key = try IdempotencyKey("job/7")
        let first = try await engine.ingest(Self.goal(1), key: key)
        do throws(EngineError) {
            _ = try await engine.ingest(Self.goal(2), key: key)
            Issue.record("a key was taken for two contents")
        } catch {
            guard case .refused(let refusal) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(refusal.cause == .key)
            let text = refusal.description
            #expect(
                text.hasPrefix("the idempotency key \"job/7\" is that of another call with another content, taken at "))
            let entry = try #require(first.entry)
            #expect(text.hasSuffix(", at entry \(entry) of the store; give each call a key of its own"))
        }
        _ = await engine.shutdown()
    }

    /// In a folder, behind checkpoints and trimmed entries, and by the entries alone, as after a crash.
    @Test(arguments: [UInt64(3), 1 << 20]) func theNextEngineKnowsTheKeys(checkpoints: UInt64) async throws {
        let folder = TemporaryFolder()
        var entries: [Receipt.EntryPosition?] = []
        for run in 0..<3 {
            let engine = try Self.engine(.folder(folder.path), checkpoints: checkpoints)
            for number in 0..<40 {
                let receipt = try await engine.ingest(Self.goal(number), key: IdempotencyKey("goal \(number)"))
                #expect(receipt.isRepeat == (run > 0))
                #expect(receipt.durability == .durable)
                if run == 0 { entries.append(receipt.entry) } else { #expect(receipt.entry == entries[number]) }
                // Entries after which the log is trimmed.
                if run == 1 { for _ in 0..<3 { _ = try await engine.ingest(Self.goal(100 + number)) } }
            }
            await #expect(throws: EngineError.self) {
                try await engine.ingest(Self.goal(1), key: IdempotencyKey("goal 0"))
            }
            _ = await engine.shutdown()
            if checkpoints > 3 { try Self.removeCheckpoints(of: folder.path) }
        }
        let log = try LMDBLog(folder: folder.path, isReadOnly: true)
        #expect((log.start > entries[0]?.number ?? 0) == (checkpoints == 3))
    }

    /// The crash comes when the store has both, the card and the key: whoever repeats the start gets no second card.
    @Test func aStartIsNotRepeatedByTheNextEngine() async throws {
        let (log, people) = (MemoryLog(), MemoryPeopleStore())
        let request = StartRequest(
            activity: "card", token: [7], attributesType: "Match", alert: AlertText(title: "Kick-off", body: ""))
        let starts = Locked(0)
        let key = try IdempotencyKey("anna's card")
        for run in 0..<2 {
            let engine = try Engine(
                Engine.Options(transport: .discard, store: StoreChoice(place: .log(log, people))),
                observer: Engine.Observer(), apps: [],
                makeTransports: [
                    { _, shard, _ in
                        NotingTransport(shard) { payload, _ in
                            if payload.event == .start { starts.withLock { $0 += 1 } }
                        }
                    }
                ])
            _ = try await engine.ingest(Self.goal(run))
            let receipt = try await engine.start(.topic(Self.match), request, subscriber: "anna", key: key)
            #expect(receipt.durability == .durable && receipt.isRepeat == (run == 1) && receipt.entry != nil)
            #expect(await engine.settle(within: .seconds(300)))
            _ = await engine.shutdown()
        }
        #expect(starts.withLock { $0 } == 1)
    }

    /// The store has no way to renew a card, so the receipt says that the call is in memory.
    @Test func aStartOfACardThatExistsSaysThatItIsNotKept() async throws {
        let (log, people) = (MemoryLog(), MemoryPeopleStore())
        let request = StartRequest(
            activity: "card", token: [7], attributesType: "Match", alert: AlertText(title: "Kick-off", body: ""))
        let engine = try Engine(
            Engine.Options(transport: .discard, store: StoreChoice(place: .log(log, people))),
            observer: Engine.Observer(), apps: [],
            makeTransports: [{ _, shard, _ in NotingTransport(shard) { _, _ in } }])
        _ = try await engine.follow(.topic(Self.match), activity: "card", subscriber: "anna", token: [1])
        let receipt = try await engine.start(
            .topic(Self.match), request, subscriber: "anna", key: try IdempotencyKey("k"))
        #expect(receipt.durability == .memory && !receipt.isRepeat)
        _ = await engine.shutdown()
    }

    /// The hash of a call is in stores: another release makes the same one of the same call.
    @Test func theContentOfACallIsAsItWas() throws {
        let request = StartRequest(
            activity: "card", token: [7], attributesType: "Match", attributes: ["a": 1],
            alert: AlertText(title: "Kick-off", body: ""))
        let commands: [Engine.Command] = [
            .ingest(Self.goal(1)), .order(.mute, for: .all), .correct(Self.match, .retraction(of: "g1")),
            try .publish(["a": 1], for: Self.match), .start(.topic(Self.match), request, subscriber: "anna"),
            .start(.lineup([Self.match]), request, subscriber: "anna"),
        ]
        let contents = commands.map(\.content)
        #expect(contents == commands.map(\.content))
        #expect(Set(contents).count == contents.count)
        // The system replaces a phone's token at any time, and the call stays the same.
        let rotated = StartRequest(
            activity: request.activity, token: [8], attributesType: request.attributesType,
            attributes: request.attributes, alert: request.alert)
        #expect(Engine.Command.start(.topic(Self.match), rotated, subscriber: "anna").content == contents[4])
        #expect(
            contents == [
                0x4438_c193_1fae_ee18, 0xcfab_6ee2_d209_aaf9, 0x3e45_f6db_8fe9_710c, 0x57a5_48d8_6616_7f3e,
                0x2f70_375e_d160_3d49, 0x9044_d45a_dfa0_4152,
            ])
    }
}
