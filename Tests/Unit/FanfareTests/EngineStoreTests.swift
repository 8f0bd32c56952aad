import Dispatch
import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import CrashSimulation
@testable import Fanfare

/// Engines that follow one another on one store.
@Suite struct EngineStoreTests {
    private static let match = TopicID("match/1")

    private static func engine(
        _ store: StoreChoice, rules: Rules = .builtIn, _ observer: Engine.Observer = Engine.Observer()
    ) throws -> Engine {
        var options = Engine.Options(transport: .discard, store: store)
        options.rules = rules
        return try Engine(options, observer: observer)
    }

    private static func event(_ number: Int) -> FeedEvent {
        let at = FeedTime(seconds: 1_790_000_000 + Int64(60 * number))
        let change: FeedEvent.Change =
            number == 0
            ? .fact(Fact(id: "k", kind: "period", at: at, values: ["period": "1H"]))
            : .fact(Fact(id: "g\(number)", kind: "goal", at: at, values: ["side": "home"]))
        return FeedEvent(topic: match, topicKind: .football, at: at, id: "e\(number)", kind: "x", change: change)
    }

    private static func follow(_ engine: Engine) async throws {
        _ = try await engine.follow(.topic(match), activity: "card", subscriber: "anna", token: [1, 2, 3])
    }

    @Test(.timeLimit(.minutes(10))) func receiptsSayHowWellACallIsKept() async throws {
        let engine = try Self.engine(StoreChoice(place: .log(MemoryLog())))
        #expect(engine.offer(Self.event(0)).receipt?.durability == .prompt)
        let first = try await engine.ingest(Self.event(1))
        #expect(first.durability == .durable && first.entry != nil)
        let order = try await engine.order(.mute, for: .all)
        #expect(order.durability == .durable && order.entry?.number ?? 0 > first.entry?.number ?? 0)
        let follow = try await engine.follow(.topic(Self.match), activity: "card", subscriber: "anna", token: [1])
        #expect(follow.durability == .durable && follow.entry == nil)
        // The store has no card of which it could keep this.
        let unknown = try await engine.unfollow(activity: "other", subscriber: "anna")
        #expect(unknown.durability == .memory)
        #expect(try await engine.confirmDeadTokens().durability == .memory)
        _ = await engine.shutdown()

        let without = try await Engine.launch(Engine.Options(transport: .discard))
        #expect(without.offer(Self.event(0)).receipt?.durability == .memory)
        #expect(try await without.ingest(Self.event(1)).durability == .memory)
        _ = await without.shutdown()
    }

    /// The second engine shows what the first one did, alerts nobody again, and knows the events that the first one has taken.
    @Test(.timeLimit(.minutes(10))) func anEngineGoesOnWhereTheLastOneStopped() async throws {
        let folder = TemporaryFolder()
        var states: [TopicState?] = []
        for run in 0..<2 {
            let records = Locked<[DecisionRecord]>([])
            var observer = Engine.Observer()
            observer.onDecision = { record in records.withLock { $0.append(record) } }
            let engine = try Self.engine(.folder(folder.path), observer)
            try await Self.follow(engine)
            for number in 0...2 { _ = try await engine.ingest(Self.event(number)) }
            #expect(await engine.settle(within: .seconds(300)))
            states.append(try await engine.topicState(Self.match))
            let report = await engine.shutdown()
            #expect(report.isDrained)
            let decided = records.withLock { $0 }.filter { $0.origin == .event }
            #expect(decided.count == 3)
            #expect(decided.allSatisfy { ($0.outcome == .duplicate) == (run == 1) }, "\(decided)")
        }
        #expect(states[0] != nil && states[0]?.version == states[1]?.version)
        #expect(states[0]?.contentState == states[1]?.contentState)
    }

    /// A program may make one engine after the other.
    @Test(.timeLimit(.minutes(10))) func anEngineThatHasStoppedKeepsNothingOfItsStore() async throws {
        weak var left: MemoryLog?
        do {
            let log = MemoryLog()
            left = log
            var store = StoreChoice(place: .log(log))
            store.checkpointInterval = 2
            let engine = try Self.engine(store)
            for number in 0...9 { _ = try await engine.ingest(Self.event(number)) }
            _ = await engine.shutdown()
            #expect(!log.checkpoints.positionsInMemory.isEmpty)
        }
        // Threads that have ended let go of it a moment later.
        while left != nil { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(10))) func nobodyIsAlertedTwice() async throws {
        let (log, people, claims) = (MemoryLog(), MemoryPeopleStore(), MemoryClaims())
        for run in 0..<2 {
            let engine = try Self.engine(StoreChoice(place: .log(log, people, claims)))
            if run == 0 {
                try await Self.follow(engine)
                for number in 0...2 { _ = try await engine.ingest(Self.event(number)) }
            }
            #expect(await engine.settle(within: .seconds(300)))
            // Figures are a tenth of a second old at most; their next reading has everything.
            let counts = try await Self.counts(of: engine) { run == 0 ? $0.pushes.accepted > 0 : $0.activities > 0 }
            #expect((counts.alerts.accepted > 0) == (run == 0), "run \(run): \(counts)")
            if run == 1 { #expect(counts.pushes.sent == 0, "the card has what its topic shows") }
            _ = await engine.shutdown()
        }
    }

    private static func counts(of engine: Engine, _ isMeant: (ShardCounts) -> Bool) async throws -> ShardCounts {
        while true {
            let counts = try await engine.counts()
            if isMeant(counts) { return counts }
        }
    }

    @Test(.timeLimit(.minutes(10))) func anEventThatIsNestedTooDeepIsRejectedAndReadBack() async throws {
        let folder = TemporaryFolder()
        var nested = JSONValue.int(1)
        for _ in 0...LogEntry.depthMax { nested = .array([nested]) }
        for run in 0..<2 {
            let engine = try Self.engine(.folder(folder.path))
            if run == 0 {
                let event = FeedEvent(
                    topic: Self.match, at: FeedTime(seconds: 1_790_000_000), kind: "x", change: .patch(["a": nested]))
                #expect(try await engine.ingest(event).durability == .durable)
            }
            _ = await engine.shutdown()
        }
    }

    // MARK: Faults

    private func fault(_ store: StoreChoice, rules: Rules = .builtIn) -> EngineFault? {
        #expect(throws: EngineFault.self) { try Self.engine(store, rules: rules) }
    }

    @Test(.timeLimit(.minutes(10))) func aFolderServesOneEngineAtATime() async throws {
        let folder = TemporaryFolder()
        let engine = try Self.engine(.folder(folder.path))
        let fault = fault(.folder(folder.path))
        #expect((fault?.underlying as? StoreFault)?.cause == .inUse)
        #expect(fault?.description.contains("another process uses this store") == true, "\(fault.debugDescription)")
        _ = await engine.shutdown()
    }

    /// An operator changes the rules and starts the engine again: a running match goes on under them.
    @Test(.timeLimit(.minutes(10))) func otherRulesHoldForRunningTopics() async throws {
        let log = MemoryLog()
        var hidden = Rules.builtIn
        hidden.kinds[.football]?.content.fields["homeScore"] = .redacted(Redaction(.removed))
        var version: UInt32 = 0
        for (run, rules) in [Rules.builtIn, hidden, .builtIn].enumerated() {
            let engine = try Self.engine(StoreChoice(place: .log(log)), rules: rules)
            if run == 0 { for number in 0...2 { _ = try await engine.ingest(Self.event(number)) } }
            // The first run's events, and then the state as the other rules show it, are new versions.
            while try await engine.topicState(Self.match)?.version ?? 0 <= version {}
            #expect(await engine.settle(within: .seconds(300)))
            version = try #require(try await engine.topicState(Self.match)).version
            _ = await engine.shutdown()
        }
    }

    @Test(.timeLimit(.minutes(10))) func rulesThatCannotBeReadAreToldApart() {
        let log = MemoryLog()
        log.append([
            LogEntry(
                now: FeedTime.plausible.lowerBound, .rules("[football", decisionVersion: UInt64(DecisionCore.version)))
        ])
        #expect((fault(StoreChoice(place: .log(log)))?.underlying as? StoreFault)?.cause == .otherRules)
    }

    /// Releases of a program whose reducer decides otherwise by the same rules file, one after the other on one store.
    @Test(.timeLimit(.minutes(10))) func anotherDecisionVersionShowsOnceWhatItDecidesOtherwise() async throws {
        let folder = TemporaryFolder()
        var shown: [(version: UInt32, edition: JSONValue?)] = []
        for (edition, version) in [(0, 0), (1, 1), (1, 1), (0, 2), (0, 3)] as [(Int, UInt32)] {
            var kind = TopicRules(reducer: EditionReducer(edition: edition))
            kind.pace.minimumInterval = .zero
            var store = StoreChoice.folder(folder.path)
            store.decisionVersion = version
            let engine = try Self.engine(store, rules: Rules(kinds: [:], other: kind))
            if shown.isEmpty {
                let at = FeedTime(milliseconds: Moment.now().wallMilliseconds)
                let event = FeedEvent(
                    topic: Self.match, topicKind: .generic, at: at, id: "1", kind: "x",
                    change: .patch(["number": .int(1)]))
                _ = try await engine.ingest(event)
            }
            #expect(await engine.settle(within: .seconds(300)))
            let state = try #require(try await engine.topicState(Self.match))
            shown.append((state.version, state.contentState?["edition"]))
            _ = await engine.shutdown()
        }
        #expect(shown.map(\.edition) == [.int(0), .int(1), .int(1), .int(0), .int(0)])
        let first = shown[0].version
        #expect(shown.map(\.version) == [first, first + 1, first + 1, first + 2, first + 2])
    }

    @Test func aFolderThatCannotBeMadeIsTheSystemsFault() {
        #expect((fault(.folder("/proc/none/store"))?.underlying as? StoreFault)?.cause == .system)
    }

    /// A file that lacks its last pages, as after a copy that was stopped.
    @Test(.timeLimit(.minutes(10)), arguments: ["", "/people"])
    func aFolderWhoseFileWasCutShortIsDamaged(part: String) async throws {
        let folder = TemporaryFolder()
        do {
            let engine = try Self.engine(.folder(folder.path))
            _ = try await engine.ingest(Self.event(0))
            try await Self.follow(engine)
            _ = await engine.shutdown()
        }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + part + "/data.mdb"))
        // The two pages of the file's head stay.
        try handle.truncate(atOffset: UInt64(2 * getpagesize()))
        try handle.close()
        #expect((fault(.folder(folder.path))?.underlying as? StoreFault)?.cause == .damaged)
    }

    // MARK: Trouble

    @Test(.timeLimit(.minutes(10))) func aFullDiskIsToldAndNothingIsLostWhenItIsFreeAgain() async throws {
        let log = FailingLog()
        let lines = Locked<[String]>([])
        var observer = Engine.Observer()
        observer.onReport = { line in
            lines.withLock { $0.append(line) }
            if line.hasPrefix("the disk is full") { log.fails.withLock { $0 = false } }
        }
        let engine = try Self.engine(StoreChoice(place: .log(log)), observer)
        log.fails.withLock { $0 = true }
        #expect(try await engine.ingest(Self.event(0)).durability == .durable)
        #expect(try await engine.topicState(Self.match) != nil)
        _ = await engine.shutdown()
        let told = lines.withLock { $0 }
        #expect(told.count == 2 && told[1] == "the store takes entries again", "\(told)")
    }

    /// A caller that gives up waiting keeps a receipt that says so.
    @Test(.timeLimit(.minutes(10))) func aCancelledCallerHasAReceiptThatIsNotDurable() async throws {
        let log = FailingLog()
        let told = DispatchSemaphore(value: 0)
        var observer = Engine.Observer()
        observer.onReport = { _ in told.signal() }
        let engine = try Self.engine(StoreChoice(place: .log(log)), observer)
        log.fails.withLock { $0 = true }
        let call = Task { try await engine.ingest(Self.event(0)) }
        await withCheckedContinuation { continuation in
            _ = Background {
                _ = told.wait(timeout: .now() + 60)
                continuation.resume()
            }
        }
        call.cancel()
        #expect(try await call.value.durability == .prompt)
        let report = await engine.shutdown(within: .zero)
        #expect(report.unstored == 1 && !report.isDrained)
    }
}

extension CheckpointStore {
    fileprivate var positionsInMemory: [LogPosition] { (try? positions()) ?? [] }
}
