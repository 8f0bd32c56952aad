import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel
import Testing

@testable import Fanfare

/// One engine with several apps and environments.
@Suite struct AppsTests {
    /// Each app's pushes use its own transport, for any number of shards; a publication completes when all apps have it.
    @Test(arguments: [1, 2]) func eachAppHasItsOwnTransport(shards: Int) throws {
        let loop = try Loop()
        // Filled on the shards' threads, which start at the same time.
        let recordings = Locked<[[RecordingSource]]>([[], []])
        let factories = (0..<2).map { app -> TransportFactory in
            { loop, shard, context in
                let recording = RecordingSource(shard)
                recordings.withLock { $0[app].append(recording) }
                return try DiscardTransport(loop: loop, source: recording, clock: context.clock)
            }
        }
        let core = try EngineCore(loop: loop, shards: shards, makeTransports: factories, isLive: true)
        let topic = TopicID("match")
        for subscriber in UInt64(0)..<40 {
            for app in 0..<2 {
                // Both apps have the same ids, which are independent of each other.
                core.send(
                    .follow(ActivityID(subscriber), .topic(topic), token: [UInt8(app), UInt8(subscriber)]),
                    forSubscriber: subscriber, app: app)
            }
        }
        core.send(.unfollow(ActivityID(7)), forSubscriber: 7, app: 1)
        let recorder = CoreRecorder(core)
        var isQuiet = false
        let now = FeedTime(seconds: 1_790_000_000)
        core.apply(
            FeedEvent(topic: topic, topicKind: .generic, at: now, kind: "score", change: .patch(["goals": 1])), now: now
        )
        var answers: [Int: AlertDisposition] = [:]
        for app in 0..<2 {
            core.ask(ActivityID(7), ofSubscriber: 7, app: app, about: "score", in: topic) { answers[app] = $0 }
        }
        core.settle {
            isQuiet = $0 == .complete
            loop.stop()
        }
        loop.run()
        core.stop()
        loop.close()
        let sources = recordings.withLock { $0 }
        #expect(isQuiet && recorder.completed == [1])
        #expect(answers == [0: .silenced(.unknown), 1: .noActivity], "each app is asked about its own activity")
        for app in 0..<2 {
            #expect(sources[app].count == shards)
            var accepted: [[UInt8]: [RecordingSource.Push]] = [:]
            for source in sources[app] { accepted.merge(source.accepted) { $0 + $1 } }
            #expect(accepted.count == 40)
            #expect(accepted.keys.allSatisfy { $0[0] == UInt8(app) })
            let ended = accepted.filter { $0.value.contains { $0.event == .end } }.keys
            #expect(Array(ended) == (app == 1 ? [[1, 7]] : []))
        }
    }

    /// A key that APNs refuses changes the stamp time of its own app's shards only.
    @Test func eachAppHasItsOwnTime() throws {
        let loop = try Loop()
        // Filled on the shards' threads, which start at the same time; a clock is read after those have ended.
        let contexts = Locked<[[TransportContext]]>([[], []])
        let factories = (0..<2).map { app -> TransportFactory in
            { loop, shard, context in
                contexts.withLock { $0[app].append(context) }
                return try DiscardTransport(loop: loop, source: shard, clock: context.clock)
            }
        }
        let core = try EngineCore(loop: loop, shards: 2, makeTransports: factories, isLive: true)
        core.stop()
        loop.close()
        let made = contexts.withLock { $0 }
        let before = made.map { $0.map { $0.clock().wallMilliseconds } }
        // Simulates an accepted JWT that was made for two days later.
        let system = ClockSource.system
        made[1][0].proof.origin =
            (system.wall().milliseconds + 2 * 86_400_000) * 1_000_000 - system.monotonic().nanoseconds
        for app in 0..<2 {
            for shard in 0..<2 {
                let days = Double(made[app][shard].clock().wallMilliseconds - before[app][shard]) / 86_400_000
                #expect(days.rounded() == (app == 1 ? 2 : 0), "app \(app), shard \(shard): \(days) days")
            }
        }
    }

    /// An operator's order for one app affects only that app's people; the newest held state follows, silently.
    @Test func anOrderForOneAppLeavesTheOthersAlone() throws {
        let loop = try Loop()
        // Filled on the shards' threads, which start at the same time.
        let recordings = Locked<[RecordingSource]>([])
        let factories = (0..<2).map { _ -> TransportFactory in
            { loop, shard, context in
                let recording = RecordingSource(shard)
                recordings.withLock { $0.append(recording) }
                return try DiscardTransport(loop: loop, source: recording, clock: context.clock)
            }
        }
        let apps = [AppID(bundleID: "one"), AppID(bundleID: "two", environment: .development)]
        var rules = TopicRules()
        rules.pace.minimumInterval = .zero
        rules.alerts.requested = AlertRule(.essential, burst: 99, refill: .seconds(1), freshFor: .seconds(300))
        let core = try EngineCore(
            loop: loop, rules: Rules(kinds: [:], other: rules), shards: 1, makeTransports: factories, apps: apps,
            isLive: true)
        let topic = TopicID("match")
        for app in 0..<2 {
            core.send(
                .follow(ActivityID(1), .topic(topic), token: [UInt8(app)]), forSubscriber: 1, app: app)
        }
        let recorder = CoreRecorder(core)
        var clock = FeedTime(seconds: 1_790_000_000)
        func take(_ event: FeedEvent) {
            core.apply(event, now: clock)
            core.settle { _ in loop.stop() }
            loop.run()
            clock = clock + .seconds(10)
        }
        func score(_ goals: Int64) {
            take(
                FeedEvent(
                    topic: topic, topicKind: .generic, at: clock, kind: "goal", change: .patch(["goals": .int(goals)]),
                    alert: AlertText(title: "Goal \(goals)", body: "")))
        }
        func order(_ operation: FeedEvent.Operation, _ app: AppID = AppID(bundleID: "one"), id: String? = nil) {
            take(
                FeedEvent(
                    topic: .every, at: clock, id: id, kind: operation.rawValue, change: .operation(operation), app: app)
            )
        }
        score(1)
        order(.mute, id: "desk/1")
        order(.unmute, id: "desk/1")
        score(2)
        order(.unmute)
        order(.pause)
        score(3)
        score(4)
        order(.republish)
        order(.resume)
        score(5)
        order(.republish)
        order(.pause, AppID(bundleID: "three"))
        core.stop()
        loop.close()
        func told(_ app: UInt8) -> [String] {
            recordings.withLock { $0 }.flatMap { $0.accepted[[app]] ?? [] }.map { push in
                let goals = String(decoding: push.state.filter { (48...57).contains($0) }, as: UTF8.self)
                return push.alert != nil ? "\(goals)!" : goals
            }
        }
        #expect(told(0) == ["1!", "2", "4", "5!", "5"])
        #expect(told(1) == ["1!", "2!", "3!", "4!", "5!"])
        #expect(recorder.completed.count == 5, "each as soon as those have it who may")
        #expect(recorder.reports == ["pause for app three, production: there is no such app here"])
        let reasons = recorder.records.map(\.reason)
        #expect(reasons.contains("mute by an operator: app one, production"))
        #expect(reasons.count { $0.contains("was here before") } == 1)
    }

    @Test func appsAreToldApart() throws {
        var scores = APNsOptions(
            host: "localhost", port: 1, keyFile: "missing.p8", keyID: "K", teamID: "T", bundleID: "com.example.scores")
        let first = scores
        scores.environment = .development
        #expect(
            TransportChoice.apns(first, others: [scores]).apps == [
                AppID(bundleID: "com.example.scores"),
                AppID(bundleID: "com.example.scores", environment: .development),
            ])
        #expect { _ = try TransportChoice.apns(first, others: [first]).makeFactories(shards: 1) } throws: {
            "\($0)".contains("once")
        }
    }

    /// The options are checked before a key is read or a connection opened, instead of by APNs minutes later.
    @Test(arguments: [
        ("com.example.scores.push-type.liveactivity", "TEAM123456", "KEY1234567", "give com.example.scores;"),
        ("com.example scores", "TEAM123456", "KEY1234567", "bundle id"), ("", "TEAM123456", "KEY1234567", "bundle id"),
        ("com.example.scores/beta", "TEAM123456", "KEY1234567", "bundle id"),
        ("com.example.scores", "TOOLONGTEAMID", "KEY1234567", "team id TOOLONGTEAMID"),
        ("com.example.scores", "TEAM123456", "lower", "key id lower"),
        ("com.example.scores", "TEAM12345!", "KEY1234567", "team id"),
    ])
    func anIdentityThatCannotBeRightIsRefusedAtOnce(bundle: String, team: String, key: String, named: String) {
        let options = APNsOptions(
            host: "localhost", port: 1, keyFile: "missing.p8", keyID: key, teamID: team, bundleID: bundle)
        #expect { _ = try TransportChoice.apns(options).makeFactories(shards: 1) } throws: { "\($0)".contains(named) }
    }

    /// Pings without a pause between them would follow each other as fast as the peer answers.
    @Test(arguments: [0, -1, 3601] as [Int64]) func idleConnectionsAreAskedNowAndThen(seconds: Int64) {
        var options = APNsOptions(
            host: "localhost", port: 1, keyFile: "missing.p8", keyID: "KEY1234567", teamID: "TEAM123456",
            bundleID: "com.example.scores")
        options.idlePingAfter = .seconds(seconds)
        #expect { _ = try TransportChoice.apns(options).makeFactories(shards: 1) } throws: {
            "\($0)".contains("idlePingAfter")
        }
    }

    /// Subscribers are loaded before the engine starts, each into its own shard, with preferences; an unknown app is reported.
    @Test(arguments: [1, 3]) func subscribersAreLoadedAtTheStart(shards: Int) throws {
        let everybody = (0..<300).map { number in
            Subscription(
                audience: .topic(TopicID("match")), activity: ActivityID(hashing: "activity \(number)"),
                subscriber: ActivityID(hashing: "subscriber \(number)").rawValue, token: [1, UInt8(number % 256)],
                preferences: number % 3 == 0 ? Preferences(alerts: .none) : nil)
        }
        var options = Engine.Options(transport: .discard)
        options.shards = shards
        options.subscribers = SubscriberSequence(everybody, expectedCount: everybody.count)
        let engine = try Engine(options)
        #expect(engine.offer(.unfollow(activity: "activity 1", subscriber: "subscriber 1")).isTaken)
        #expect(
            engine.offer(
                FeedEvent(
                    topic: TopicID("match"), topicKind: .generic, at: FeedTime(seconds: 1_790_000_000), kind: "score",
                    change: .patch(["goals": 1]))
            ).isTaken)
        #expect(engine.settle(within: .seconds(120)))
        let counted = Locked<ShardCounts?>(nil)
        #expect(engine.counts { counts in counted.withLock { $0 = counts } }.isTaken)
        engine.stop()
        #expect(counted.withLock { $0?.activities } == 299)
        #expect(counted.withLock { $0?.pushes.accepted } == 300)

        let lost = Subscription(
            audience: .topic(TopicID("match")), activity: ActivityID(1), subscriber: 1, token: [1],
            app: AppID(bundleID: "unknown"))
        let told = Locked<String?>(nil)
        struct One: SubscriberSource {
            let subscription: Subscription
            let expectedCount = 1
            let tell: @Sendable (String?) -> Void
            func read(_ take: (Subscription) -> String?) { tell(take(subscription)) }
        }
        let source = One(subscription: lost, tell: { text in told.withLock { $0 = text } })
        let queue = LoadingQueue()
        let faults = try source.distribute(
            to: [[queue]], apps: [AppID(bundleID: "com.example.scores")], limits: Rules.Limits(),
            now: FeedTime(seconds: 1_790_000_000))
        queue.finish()
        #expect(told.withLock(\.self)?.contains("unknown, production") == true)
        #expect(faults.lines == ["left out 1 subscriber: unknown, production: no app that is pushed to"])
        #expect(queue.take() == nil)
    }

    /// An activity that is nearly eight hours old when it is loaded, or older, ends at once; one that began an hour after the loading, or
    /// before Live Activities existed, counts as new.
    @Test(arguments: [(-1.0, 0), (0.0, 0), (7.9, 1), (9.0, 1), (400_000, 0)])
    func aLoadedActivityKeepsItsAge(hours: Double, ends: Int) throws {
        let shard = Shard()
        let now = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1_000_000_000)
        let one = Subscription(
            audience: .topic(TopicID("match")), activity: ActivityID(1), subscriber: 1, token: [1],
            startedAt: FeedTime(milliseconds: now.wallMilliseconds - Int64(hours * 3_600_000)))
        let queue = LoadingQueue()
        let faults = try SubscriberSequence([one], expectedCount: 1)
            .distribute(
                to: [[queue]], apps: [], limits: Rules.Limits(), now: FeedTime(milliseconds: now.wallMilliseconds))
        queue.finish()
        while let commands = queue.take() { for command in commands { shard.apply(command, at: now) } }
        #expect(shard.statistics.activities == 1)
        #expect(faults.lines.count == (hours < 0 || hours > 100_000 ? 1 : 0))
        var batch = DeliveryBatch()
        var later = now
        for _ in 0..<600 {
            later.monotonic += .seconds(1)
            shard.pull(limit: 8, at: later, into: &batch)
        }
        #expect(batch.deliveries.count == ends)
    }
}
