import FanfareLoop
import FanfareModel
import Foundation
import Testing

@testable import Fanfare

/// Calls that cannot be carried out are refused at once.
@Suite struct EngineAdmissionTests {
    private let topic = TopicID("topic")

    @Test func commandsThatNoShardCanCarryOutAreRefusedWithTheReason() throws {
        let engine = try Engine(Engine.Options(transport: .discard))
        func follow(_ audience: AudienceKey, token: [UInt8] = [1]) -> Admission {
            engine.offer(.follow(audience, activity: "card", subscriber: "anna", token: token))
        }
        func start(_ audience: AudienceKey, token: [UInt8] = [1]) -> Admission {
            engine.offer(
                .start(
                    audience,
                    StartRequest(
                        activity: "started", token: token, attributesType: "A", alert: AlertText(title: "", body: "")),
                    subscriber: "anna"))
        }
        func refusal(_ cause: Refusal.Cause, _ line: String) -> Admission { .refused(Refusal(cause, line)) }
        func lineup(_ count: Int) -> AudienceKey { .lineup((0..<count).map { TopicID("\($0)") }) }
        for ask in [{ follow($0, token: $1) }, { start($0, token: $1) }] as [(AudienceKey, [UInt8]) -> Admission] {
            #expect(ask(.topic(topic), []) == refusal(.token, "a token has 1 to 512 bytes, not 0"))
            #expect(
                ask(.topic(topic), [UInt8](repeating: 1, count: 513))
                    == refusal(.token, "a token has 1 to 512 bytes, not 513"))
            #expect(ask(.topic(topic), [UInt8](repeating: 1, count: 512)).isTaken)
            #expect(ask(lineup(0), [1]) == refusal(.lineup, "a lineup has 1 to 64 topics, not 0"))
            #expect(ask(lineup(64), [1]).isTaken)
            #expect(ask(lineup(65), [1]) == refusal(.lineup, "a lineup has 1 to 64 topics, not 65"))
            #expect(ask(.lineup([topic, topic]), [1]) == refusal(.lineup, "a lineup has each of its topics once"))
            #expect(ask(.topic(TopicID("")), [1]) == refusal(.topic, "a topic's id has 1 to 512 bytes, not 0"))
            let long = TopicID(String(repeating: "x", count: 513))
            #expect(ask(.lineup([topic, long]), [1]) == refusal(.topic, "a topic's id has 1 to 512 bytes, not 513"))
        }
        engine.stop()
    }

    @Test func anAppOfAnotherEngineIsRefused() throws {
        let here = AppID(bundleID: "com.example.here")
        let there = AppID(bundleID: "com.example.there")
        let transport: TransportFactory = { loop, shard, _ in try DiscardTransport(loop: loop, source: shard) }
        func engine(_ apps: [AppID]) throws -> Engine {
            try Engine(
                Engine.Options(transport: .discard), observer: Engine.Observer(), apps: apps,
                makeTransports: apps.map { _ in transport })
        }
        let (one, two) = try (engine([here]), engine([there, here]))
        let (known, foreign) = (SubscriberID("s", app: here), SubscriberID("s", app: there))
        #expect(two.offer(.follow(.topic(topic), activity: "a", subscriber: foreign, token: [1])).isTaken)
        let refused = Admission.refused(
            Refusal(.app, "this engine does not push to the app com.example.there, production"))
        #expect(one.offer(.follow(.topic(topic), activity: "a", subscriber: foreign, token: [1])) == refused)
        #expect(one.offer(.setPreferences(Preferences(), activity: "a", subscriber: foreign)) == refused)
        #expect(one.offer(.unfollow(activity: "a", subscriber: foreign)) == refused)
        let asked = one.alertDisposition(of: "x", in: topic, activity: "a", subscriber: foreign) { _ in }
        #expect(asked == refused)
        #expect(one.offer(.follow(.topic(topic), activity: "a", subscriber: known, token: [1])).isTaken)
        #expect(one.settle(within: .seconds(120)))
        one.stop()
        two.stop()
    }

    @Test func aMailboxHasAPowerOfTwoOfPlaces() throws {
        let capacities = [
            Int.min: 2, -1: 2, 0: 2, 1: 2, 2: 2, 3: 4, 4: 4, 1000: 1024, 1024: 1024, 1025: 2048, 1 << 20: 1 << 20,
            .max: 1 << 20,
        ]
        for (wanted, capacity) in capacities { #expect(Inbox.capacity(for: wanted) == capacity, "\(wanted)") }
        var options = Engine.Options(transport: .discard)
        options.mailboxCapacity = 1000
        try Engine(options).stop()
    }

    @Test(arguments: [Int.min, -5, 0, 257]) func aNumberOfShardsThatCannotBeIsAnError(shards: Int) {
        var options = Engine.Options(transport: .discard)
        options.shards = shards
        #expect { _ = try Engine(options) } throws: {
            "\($0)" == "an engine has 1 to 256 shards of each app, not \(shards)"
        }
    }

    /// A shard that repeats a report must not fill the operators' log.
    @Test func operatorsAreToldTheSameOnceAMinute() throws {
        let lines = Locked<[String]>([])
        var observer = Engine.Observer()
        observer.onReport = { line in lines.withLock { $0.append(line) } }
        let engine = try Engine(
            Engine.Options(transport: .discard), observer: observer, apps: [],
            makeTransports: [
                { loop, shard, context in
                    for _ in 0..<1000 { context.report("the key is revoked") }
                    return try DiscardTransport(loop: loop, source: shard)
                }
            ])
        engine.stop()
        #expect(lines.withLock { $0 } == ["the key is revoked"])
    }
}
