import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareQueues
import Testing

@testable import Fanfare

@Suite struct EngineCoreTests {
    @Test func L1_aCardCannotHaveStartedBeforeLiveActivitiesExistedOrInTheFuture() {
        let now = FeedTime(seconds: 1_790_000_000)
        #expect(StartDate.isPossible(now + .seconds(-7 * 3600), now: now))
        #expect(StartDate.isPossible(now + .seconds(-400 * 86_400), now: now), "it is over")
        for recent in [now, now + .seconds(300)] { #expect(StartDate.isPossible(recent, now: now)) }
        // A default; Unix seconds instead of milliseconds, and the reverse; the seconds of `Date`'s own reference date.
        for impossible in [
            FeedTime(milliseconds: 0), FeedTime(milliseconds: 1_790_000_000), FeedTime(seconds: 1_790_000_000_000),
            FeedTime(seconds: 811_692_800), now + .seconds(301), FeedTime(seconds: -1),
            FeedTime(milliseconds: .max), FeedTime(milliseconds: .min),
        ] {
            #expect(!StartDate.isPossible(impossible, now: now), "\(impossible)")
        }
    }

    private static let apps = [AppID(bundleID: "one"), AppID(bundleID: "two", environment: .development)]

    /// A core of two apps with a shard each.
    private static func core() -> EngineCore {
        let links = apps.map { _ in ShardLink(ShardRings(commandsMax: 16, feedbackMax: 16)) {} }
        return EngineCore(shards: links, perApp: 1, apps: apps, isLive: true)
    }

    /// The core's own row of a checkpoint as this release writes it: 300 records, 2 of them rejected; an app that is muted, and one that is paused.
    private static let ownRow: [UInt8] = [
        64, 0xac, 0x02, 2, 2, 3, 0x6f, 0x6e, 0x65, 0, 1, 0, 3, 0x74, 0x77, 0x6f, 1, 0, 1,
    ]

    /// The bytes of a row never change.
    @Test func theFormOfTheCoresOwnRowStaysReadable() throws {
        let core = Self.core()
        try core.restore(Self.ownRow)
        let written = core.beginCheckpoint()
        core.endCheckpoint()
        #expect(written == Self.ownRow)
    }

    /// Rows of another process may have any bytes: the core refuses them, or writes rows from which another core goes on alike.
    @Test(arguments: [UInt64(1), 2, 3]) func aStrangeRowOfTheCoreIsRefusedOrWrittenAgain(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let alerts: [UInt8] = [
            65, 1, 1, 0x6d, 1, 3, 0x6f, 0x6e, 0x65, 0, 1, 0x67, 1, 1, 0, 1, 0x67, 0, 1, 0x6b, 0, 0xc0, 0xa9, 0x07, 0, 0,
            0,
        ]
        let calls: [UInt8] = [66, 1, 2, 0x6b, 0x31, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0xac, 0x02]
        var taken = 0
        for round in 0..<1500 {
            var row = [Self.ownRow, alerts, calls][round % 3]
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                row[Int.random(in: 1..<row.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            row.removeLast(random.chance(0.2) ? Int.random(in: 1..<row.count, using: &random) : 0)
            let core = EngineCore(rowsOf: Self.apps)
            do throws(SerialError) { try core.restore(row) } catch { continue }
            taken += 1
            let written = core.firstRows()
            let again = EngineCore(rowsOf: Self.apps)
            for row in written { try again.restore(row) }
            #expect(again.firstRows() == written, "seed \(seed), round \(round)")
        }
        #expect(taken > 150, "\(taken) rows are too few to say anything")
    }

    /// A shard that carries out commands and returns feedback only when the test calls it.
    private final class IdleShard {
        private let shard = Shard()
        private var commands: RingConsumer<ShardCommand>
        private var feedback: RingProducer<ShardFeedback>
        private let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)

        init(_ rings: ShardRings) {
            commands = rings.commands.takeConsumer()
            feedback = rings.feedback.takeProducer()
        }

        func run() -> [Delivery] {
            while let command = commands.pop() { shard.apply(command, at: moment) }
            var batch = DeliveryBatch()
            shard.pull(limit: 10, at: moment, into: &batch)
            return batch.deliveries
        }

        func accept(_ deliveries: [Delivery]) {
            shard.complete(
                deliveries.map { DeliveryCompletion(slot: $0.slot, generation: $0.generation, outcome: .accepted) },
                at: moment)
            _ = shard.sendFeedback(to: &feedback)
        }
    }

    /// A restart sends everybody the state that each topic shows, without fields that its rules hide, also of a paused or ended topic.
    @Test(arguments: ["running", "paused", "ended"]) func aRestartSendsNothingThatItsRulesHide(
        topic kind: String
    ) throws {
        let (topic, now) = (TopicID("order/1"), FeedTime(seconds: 1_790_000_000))
        var changes: [FeedEvent] = [
            FeedEvent(
                topic: topic, topicKind: .generic, at: now, kind: "patch",
                change: .patch(["eta": 5, "courier": "Sofia"]))
        ]
        if kind == "paused" {
            changes.append(FeedEvent(topic: topic, at: now, kind: "pause", change: .operation(.pause)))
        } else if kind == "ended" {
            changes.append(FeedEvent(topic: topic, at: now, kind: "end", lifecycle: .end, change: .nothing))
        }
        let log = MemoryLog()
        var hiding = Rules.builtIn
        hiding.other.content.fields["courier"] = .redacted(Redaction(.removed))
        for (run, rules) in [Rules.builtIn, hiding].enumerated() {
            let rings = ShardRings()
            let core = EngineCore(rules: rules, shards: [ShardLink(rings) {}], perApp: 1, isLive: true)
            try core.recall(log, under: rules)
            if run == 0 {
                log.append(changes.map { LogEntry(now: now, .event($0, wall: nil)) })
                continue
            }
            core.turnIsOver()
            var commands = rings.commands.takeConsumer()
            var states: [String] = []
            while let command = commands.pop() {
                guard case .publish(let publication) = command else { continue }
                states.append(String(decoding: publication.state.bytes, as: UTF8.self))
            }
            #expect(states.count == 1 && states.allSatisfy { $0.contains("eta") && !$0.contains("Sofia") }, "\(states)")
        }
    }

    /// Cards that are still to be loaded may lack the end of a topic that is forgotten, unless its id means another one by then.
    @Test(arguments: [false, true]) func aTopicIsForgottenByTheShardsOnceAllCardsAreLoaded(beginsAgain: Bool) throws {
        let (topic, now) = (TopicID("order/1"), FeedTime(seconds: 1_790_000_000))
        func event(_ id: String, _ lifecycle: FeedEvent.Lifecycle, at now: FeedTime) -> FeedEvent {
            FeedEvent(
                topic: topic, topicKind: .generic, at: now, id: id, kind: "patch", lifecycle: lifecycle,
                change: .patch(["eta": 5]))
        }
        let rings = ShardRings()
        let core = EngineCore(shards: [ShardLink(rings) {}], perApp: 1, isLive: true)
        let recorder = CoreRecorder(core)
        core.keepCompletions(EarlierCompletions())
        core.beginRecall()
        core.apply(event("1", .start, at: now), now: now)
        core.endRecall()
        core.apply(event("2", .end, at: now), now: now)
        let later = now + .seconds(30 * 86_400)
        core.advance(to: later)
        #expect(core.topics.isEmpty)
        if beginsAgain { core.apply(event("3", .start, at: later), now: later) }
        var feedback = rings.feedback.takeProducer()
        let isTold = feedback.tryPush(.loaded)
        #expect(isTold)
        core.takeFeedback()
        core.turnIsOver()
        var commands = rings.commands.takeConsumer()
        var told: [String] = []
        while let command = commands.pop() {
            switch command {
            case .publish(let publication): told.append("\(publication.event)")
            case .forget: told.append("forget")
            case .endLoading: told.append("all")
            default: break
            }
        }
        #expect(
            told == (beginsAgain ? ["update", "end", "forget", "update", "all"] : ["update", "end", "all", "forget"]))
        withExtendedLifetime(recorder) {}
    }

    /// Phones may have the version of an entry that is set aside, and would go back to the one before it.
    @Test func aRestartSendsNothingFromBeforeAnEntryThatIsSetAside() throws {
        let (topic, now) = (TopicID("order/1"), FeedTime(seconds: 1_790_000_000))
        func patch(_ eta: Int) -> FeedEvent {
            FeedEvent(
                topic: topic, topicKind: .generic, at: now, kind: "patch", change: .patch(["eta": .int(Int64(eta))]))
        }
        var entries = (1...5).map { LogEntry(now: now, .event(patch($0), wall: nil)) }
        entries[2] = entries[2].skipped(at: 4)
        let log = MemoryLog()
        // The first recall of a log gives it the rules.
        try EngineCore(shards: [ShardLink(ShardRings()) {}], perApp: 1, isLive: true).recall(log, under: .builtIn)
        log.append(entries)
        let rings = ShardRings()
        let core = EngineCore(shards: [ShardLink(rings) {}], perApp: 1, isLive: true)
        var told: [String] = []
        try core.recall(log, under: .builtIn) { told.append($0) }
        var commands = rings.commands.takeConsumer()
        func published() -> [String] {
            core.turnIsOver()
            var states: [String] = []
            while let command = commands.pop() {
                guard case .publish(let publication) = command else { continue }
                states.append(String(decoding: publication.state.bytes, as: UTF8.self))
            }
            return states
        }
        #expect(told.map { $0.contains("entry 4 of the store is set aside; order/1 was paused") } == [true])
        #expect(published() == [])
        core.apply(FeedEvent(topic: topic, at: now, kind: "resume", change: .operation(.resume)), now: now)
        core.advance(to: now + .seconds(60))
        let states = published()
        #expect(states.count == 1 && states.allSatisfy { $0.contains(#""eta":5"#) }, "\(states)")
    }

    /// One app is paused when a version is published, and resumed before all people of the other app have it.
    @Test func aPublicationIsNotCompleteForThoseOfAnotherAppWhoWereToldOfItLater() {
        let rings = [ShardRings(), ShardRings()]
        let apps = [AppID(bundleID: "paused"), AppID(bundleID: "other")]
        let core = EngineCore(shards: rings.map { ShardLink($0) {} }, perApp: 1, apps: apps, isLive: true)
        let shards = rings.map(IdleShard.init)
        let now = FeedTime(seconds: 1_790_000_000)
        let recorder = CoreRecorder(core)
        func order(_ operation: FeedEvent.Operation) {
            core.apply(
                FeedEvent(
                    topic: .every, at: now, kind: operation.rawValue, change: .operation(operation), app: apps[0]),
                now: now)
        }
        let topic = TopicID("order/1")
        for app in apps.indices {
            core.send(.follow(ActivityID(1), .topic(topic), token: [UInt8(app)]), forSubscriber: 1, app: app)
        }
        order(.pause)
        core.apply(
            FeedEvent(topic: topic, topicKind: .generic, at: now, kind: "patch", change: .patch(["eta": 5])), now: now)
        let other = shards[1].run()
        #expect(shards[0].run().isEmpty && other.count == 1)
        order(.resume)
        let resumed = shards[0].run()
        #expect(resumed.count == 1)
        shards[0].accept(resumed)
        core.takeFeedback()
        #expect(recorder.completed.isEmpty && core.violation() == nil, "the other app's people do not have it yet")
        shards[1].accept(other)
        core.takeFeedback()
        #expect(recorder.completed == [1])
    }

    /// Keeps the core busy until every ring is full: a shard sends 16,384 facts and holds 4,096, the ring to it takes
    /// 65,536 commands, and the rest waits in the core.
    private static func overrun() throws -> (Loop, EngineCore) {
        let loop = try Loop()
        let core = try EngineCore(
            loop: loop, shards: 1, makeTransports: try TransportChoice.discard.makeFactories(shards: 1),
            isLive: true)
        for match in 1...100_000 {
            let event = FeedEvent(
                topic: TopicID("match/\(match)"), topicKind: .generic, at: FeedTime(seconds: 1_790_000_000),
                kind: "score", change: .patch(["goals": 1]))
            core.apply(event, now: event.at)
        }
        return (loop, core)
    }

    /// The topic has no followers, so each publication completes at once and the shard has a fact for each: far more than the ring holds
    /// while the core does not read it.
    @Test func aShardThatWasHeldUpGoesOn() throws {
        let (loop, core) = try EngineCoreTests.overrun()
        let recorder = CoreRecorder(core)
        var isQuiet = false
        core.settle {
            isQuiet = $0 == .complete
            loop.stop()
        }
        let watchdog = LoopTimer(loop: loop) { loop.stop() }
        watchdog.start(after: .seconds(240))
        loop.run()
        watchdog.close()
        #expect(isQuiet)
        #expect(recorder.completed.count == 100_000)
        core.stop()
        loop.close()
    }

    /// The receiver of an answer may ask the next question, at a stop as well.
    @Test func answersMayAskTheNextQuestions() throws {
        let loop = try Loop()
        let core = try EngineCore(
            loop: loop, shards: 1, makeTransports: try TransportChoice.discard.makeFactories(shards: 1),
            isLive: true)
        var answers = 0
        func askAgain() {
            answers += 1
            core.settle { _ in }
            core.ask(ActivityID("a"), ofSubscriber: 1, app: 0, about: "goal", in: TopicID("match/1")) { _ in }
        }
        core.settle { _ in askAgain() }
        core.settle(until: .always) { _ in askAgain() }
        core.withdrawSettles(at: MonotonicTime(nanoseconds: 1))
        #expect(answers == 1)
        core.ask(ActivityID("a"), ofSubscriber: 1, app: 0, about: "goal", in: TopicID("match/1")) { _ in askAgain() }
        core.stop()
        #expect(answers == 3)
        loop.close()
    }

    @Test(.timeLimit(.minutes(5))) func stopsWithEveryRingFull() throws {
        let (loop, core) = try EngineCoreTests.overrun()
        #expect(core.isCongested)
        core.stop()
        loop.close()
    }
}
