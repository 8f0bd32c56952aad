import Fanfare
import FanfareLoop
import Synchronization
import Testing

@Suite struct EngineTests {
    private static func goal(_ match: Int, _ number: Int) -> FeedEvent {
        FeedEvent(
            topic: TopicID("match/\(match)"), topicKind: .generic, at: FeedTime(seconds: 1_790_000_000 + Int64(number)),
            seq: UInt64(number), kind: "score", change: .patch(["goals": .int(Int64(number))]))
    }

    /// A call that cannot be carried out is refused by its result, not by a line in a log.
    @Test func callsRefuseWhatCannotBeCarriedOut() throws {
        let engine = try Engine(Engine.Options(transport: .discard))
        defer { engine.stop() }
        let answers = [
            engine.offer(.order(.pause, for: .app(AppID(bundleID: "com.example.unknown")))),
            engine.offer(.correct(TopicID("match/1"), .operation(.pause))),
        ]
        for answer in answers {
            guard case .refused(let reason) = answer else {
                Issue.record("\(answer)")
                continue
            }
            #expect(!reason.description.isEmpty)
        }
    }

    /// An operator's order does not decide the topic's kind.
    @Test func anOrderForATopicDoesNotGiveItItsKind() throws {
        let outcomes = Locked<[String]>([])
        var observer = Engine.Observer()
        observer.onDecision = { record in outcomes.withLock { $0.append("\(record.kind): \(record.outcome)") } }
        let engine = try Engine(Engine.Options(transport: .discard), observer: observer)
        #expect(engine.offer(.order(.mute, for: .topic(TopicID("match/1")))).isTaken)
        #expect(engine.offer(EngineTests.goal(1, 1)).isTaken)
        engine.stop()
        #expect(outcomes.withLock { $0 }.last == "score: published")
    }

    @Test func aTopicsIDIsNoLongerThanShardsTakeIt() {
        var limits = Rules.Limits()
        limits.topicIDSizeMax = .bytes(600)
        #expect(limits.topicIDSizeMax == .bytes(512))
        limits.topicIDSizeMax = .bytes(20)
        #expect(limits.topicIDSizeMax == .bytes(20))
    }

    @Test(arguments: [1, 2]) func deliversToEverybodyThroughTheWholeEngine(shards: Int) throws {
        var options = Engine.Options(transport: .discard)
        options.shards = shards
        let engine = try Engine(options)
        for subscriber in 0..<1000 {
            #expect(
                engine.offer(
                    .follow(
                        .topic(TopicID("match/\(subscriber % 4)")), activity: "activity \(subscriber)",
                        subscriber: "subscriber \(subscriber)", token: Array("token \(subscriber)".utf8)
                    )
                ).isTaken)
        }
        for match in 0..<4 { #expect(engine.offer(EngineTests.goal(match, 1)).isTaken) }
        #expect(engine.settle(within: .seconds(120)))
        let counted = Locked<ShardCounts?>(nil)
        #expect(engine.counts { counts in counted.withLock { $0 = counts } }.isTaken)
        engine.stop()
        let counts = counted.withLock { $0 }
        #expect(counts?.activities == 1000)
        #expect(counts?.pushes.accepted == 1000)
        #expect(counts?.owed == 0)
    }

    private struct Score: Codable, Hashable, Sendable { var goals: Int }

    @Test func A5_peopleChooseWhichAlertsTheirActivityGives() throws {
        let engine = try Engine(Engine.Options(transport: .discard))
        let topic = TopicID("match")
        #expect(
            engine.offer(
                .follow(
                    .topic(topic), activity: "card", subscriber: "anna", token: [1],
                    preferences: Preferences(alerts: .none)
                )
            ).isTaken)
        var alerts: [ShardCounts.Alerts?] = []
        for goals in 1...2 {
            #expect(
                try engine.offer(
                    .publish(Score(goals: goals), for: topic, alert: AlertText(title: "Goal", body: "\(goals)"))
                )
                .isTaken)
            #expect(engine.settle(within: .seconds(120)))
            let counted = Locked<ShardCounts?>(nil)
            let answered = Gate()
            #expect(
                engine.counts { counts in
                    counted.withLock { $0 = counts }
                    answered.open()
                }.isTaken)
            answered.wait()
            alerts.append(counted.withLock { $0?.alerts })
            #expect(engine.offer(.setPreferences(Preferences(), activity: "card", subscriber: "anna")).isTaken)
        }
        engine.stop()
        #expect(alerts.map { $0?.silenced } == [1, 1])
        #expect(alerts.map { $0?.accepted } == [0, 1])
    }

    /// The person gets the card all the same, and operators are told.
    @Test func L1_aBeginningThatCannotBeIsReported() throws {
        let reports = Locked<[String]>([])
        var observer = Engine.Observer()
        observer.onReport = { line in reports.withLock { $0.append(line) } }
        let engine = try Engine(Engine.Options(transport: .discard), observer: observer)
        for startedAt in [
            FeedTime(seconds: 0), FeedTime(milliseconds: .min), FeedTime(seconds: 1_790_000_000_000_000_000), nil,
        ] {
            #expect(
                engine.offer(
                    .follow(
                        .topic(TopicID("match/1")), activity: "card", subscriber: "anna", token: [1],
                        startedAt: startedAt
                    )
                ).isTaken)
        }
        #expect(engine.offer(EngineTests.goal(1, 1)).isTaken)
        #expect(engine.settle(within: .seconds(120)))
        let counted = Locked<ShardCounts?>(nil)
        #expect(engine.counts { counts in counted.withLock { $0 = counts } }.isTaken)
        engine.stop()
        #expect(counted.withLock { $0?.pushes.accepted } == 1)
        let line = reports.withLock { $0.first }
        #expect(line?.hasPrefix("follow: no Live Activity was started before October 2022") == true)
        #expect(line?.hasSuffix("startedAt 1970-01-01T00:00:00.000Z") == true)
    }

    @Test func A3_tellsWhatBecomesOfAnAlert() throws {
        let engine = try Engine(Engine.Options(transport: .discard))
        let topic = TopicID("match/1")
        #expect(engine.offer(.follow(.topic(topic), activity: "card", subscriber: "anna", token: [1])).isTaken)
        func ask(_ activity: ActivityID) throws -> AlertDisposition? {
            let answered = Answer()
            #expect(
                engine.alertDisposition(of: "goal-1", in: topic, activity: activity, subscriber: "anna") {
                    answered.give($0)
                }.isTaken)
            #expect(engine.settle(within: .seconds(120)))
            return answered.given
        }
        #expect(try ask("card") == .silenced(.unknown))
        let at = FeedTime(seconds: 1_800_000_000)
        #expect(
            engine.offer(
                FeedEvent(
                    topic: topic, topicKind: .football, at: at, kind: "start", lifecycle: .start, change: .nothing)
            ).isTaken)
        #expect(
            engine.offer(
                FeedEvent(
                    topic: topic, topicKind: .football, at: at, id: "goal-1", kind: "goal",
                    change: .fact(Fact(id: "goal-1", kind: "goal", at: at, values: ["side": "home"])))
            ).isTaken)
        #expect(engine.settle(within: .seconds(120)))
        #expect(try ask("card") == .accepted)
        #expect(try ask("nobody") == .noActivity)
        engine.stop()
    }

    @Test func anEngineDecidesInTheOrderOfEachThread() throws {
        let decided = Decided()
        var observer = Engine.Observer()
        observer.onDecision = { decided.note($0) }
        let engine = try Engine(Engine.Options(transport: .discard), observer: observer)
        for number in 1...500 { #expect(engine.offer(EngineTests.goal(0, number)).isTaken) }
        #expect(engine.settle(within: .seconds(120)))
        engine.stop()
        #expect(decided.sequences == Array(1...500))
    }

    @Test func aFullMailboxIsAnAnswer() throws {
        let gate = Gate()
        var options = Engine.Options(transport: .discard)
        options.mailboxCapacity = 4
        var observer = Engine.Observer()
        observer.onDecision = { _ in gate.wait() }
        let engine = try Engine(options, observer: observer)
        // The core blocks in its first decision, so the mailbox must fill and then refuse.
        var taken = 0
        while taken < 100, engine.offer(EngineTests.goal(0, taken + 1)).isTaken { taken += 1 }
        #expect(taken < 100)
        gate.open()
        #expect(engine.settleWhenThereIsRoom(within: .seconds(120)))
        engine.stop()
    }

    /// All orders of an operator work, and each is in the log.
    @Test func everyOrderOfAnOperatorWorksAndIsLogged() throws {
        let topic = TopicID("match/1")
        let log = Records()
        var observer = Engine.Observer()
        observer.onDecision = { log.note($0) }
        let engine = try Engine(Engine.Options(transport: .discard), observer: observer)
        let at = FeedTime(seconds: 1_800_000_000)
        #expect(
            engine.offer(
                FeedEvent(
                    topic: topic, topicKind: .football, at: at, kind: "start", lifecycle: .start,
                    change: .fact(Fact(id: "t", kind: "teams", at: at, values: ["home": "A", "away": "B"])))
            ).isTaken)
        #expect(engine.offer(.order(.mute, for: .topic(topic))).isTaken)
        #expect(engine.offer(.order(.pause, for: .kind(.football))).isTaken)
        #expect(
            engine.offer(.correct(topic, .fact(Fact(id: "g", kind: "goal", at: at, values: ["side": "home"])))).isTaken)
        #expect(engine.offer(.order(.resume, for: .kind(.football))).isTaken)
        #expect(engine.offer(.order(.republish, for: .all)).isTaken)
        #expect(engine.settle(within: .seconds(120)))
        engine.stop()
        #expect(
            log.kinds == ["start", "mute", "pause", "correct", "resume", "flush", "republish", "flush"],
            "\(log.kinds)")
        #expect(log.versions == [1, 2, 3])
    }

    @Test func anEngineSaysWhatIsWrongWithItsKey() {
        let options = APNsOptions(
            host: "localhost", port: 1, keyFile: "/nonexistent/key.p8", keyID: "ABCDEFGHIJ", teamID: "ABCDEFGHIJ",
            bundleID: "com.example.app")
        #expect { _ = try Engine(Engine.Options(transport: .apns(options))) } throws: {
            "\($0)".contains("/nonexistent/key.p8")
        }
    }
}

/// Sequence numbers in the order of their decisions; written on the core thread, read after it has ended.
private final class Decided: Sendable {
    private let seen = Locked<[Int]>([])
    var sequences: [Int] { seen.withLock { $0 } }
    func note(_ record: DecisionRecord) {
        guard record.origin == .event, let seq = record.seq else { return }
        seen.withLock { $0.append(Int(seq)) }
    }
}

/// The decision log; written on the core thread, read after it has ended.
private final class Records: Sendable {
    private let seen = Locked<[DecisionRecord]>([])
    var kinds: [String] { seen.withLock { $0.map(\.kind) } }
    var versions: [UInt32] { seen.withLock { $0.compactMap(\.version) } }
    func note(_ record: DecisionRecord) { seen.withLock { $0.append(record) } }
}

/// Blocks a thread until the gate is opened for good.
private final class Gate: Sendable {
    private let isOpen = Atomic(false)
    func open() { isOpen.store(true, ordering: .releasing) }
    func wait() { while !isOpen.load(ordering: .acquiring) { continue } }
}

extension Engine {
    /// Calls `settle` until the mailbox, in which it needs a place itself, has room.
    fileprivate func settleWhenThereIsRoom(within timeout: Duration) -> Bool {
        let deadline = ContinuousClock.now + timeout
        while ContinuousClock.now < deadline { if settle(within: timeout) { return true } }
        return false
    }
}

private final class Answer: Sendable {
    private let answer = Locked<AlertDisposition?>(nil)
    var given: AlertDisposition? { answer.withLock { $0 } }
    func give(_ disposition: AlertDisposition?) { answer.withLock { $0 = disposition } }
}
