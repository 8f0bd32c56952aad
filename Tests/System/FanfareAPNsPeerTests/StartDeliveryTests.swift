import APNsSimulator
import DeliveryJudge
import Fanfare
import FanfareLoop
import Foundation
import LoadJSON
import Testing

/// Push-to-start through the whole engine, over TLS and HTTP/2, judged by the simulator's accepted pushes (rule L7).
@Suite struct L7StartDeliveryTests {
    private static let people = 40
    private static let topic = TopicID("match/1")

    private static func score(_ score: Int64, lifecycle: FeedEvent.Lifecycle? = nil) -> FeedEvent {
        FeedEvent(
            topic: topic, topicKind: .generic, at: FeedTime(seconds: 1_790_000_000 + score), seq: UInt64(score),
            kind: "score", lifecycle: lifecycle, change: .patch(["score": .int(score)]))
    }

    private func token(_ kind: String, _ person: Int) -> [UInt8] { Array("\(kind) token of person \(person)".utf8) }

    /// - Parameter isTroubled: whether connections are lost, with their answers, and requests are refused.
    @Test(arguments: [false, true]) func eachCardGetsOneStartAndThenTheNewestState(isTroubled: Bool) throws {
        let scratch = try Scratch()
        try scratch.makeCertificates()
        var options = scratch.simulatorOptions
        if isTroubled {
            options.losesConnection = .requests(9)
            options.errorShare = 0.1
        }
        let dump = scratch.path("dump.ndjson")
        let simulator = try RunningSimulator(options, dump: dump)
        let fates = Fates()
        var observer = Engine.Observer()
        observer.onActivityEvent = { fates.note($0.fate) }
        var rules = TopicRules()
        rules.pace.minimumInterval = .zero
        var engineOptions = Engine.Options(
            transport: .apns(
                APNsOptions(
                    host: "localhost", port: simulator.port, caFile: scratch.path("ca.pem"),
                    keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789",
                    bundleID: "com.example.app")))
        engineOptions.rules = Rules(kinds: [:], other: rules)
        let engine = try Engine(engineOptions, observer: observer)

        #expect(engine.offer(Self.score(1)).isTaken)
        for person in 0..<Self.people {
            #expect(
                engine.offer(
                    .start(
                        .topic(Self.topic),
                        StartRequest(
                            activity: "card of \(person)", token: token("start", person),
                            attributesType: "MatchAttributes",
                            attributes: ["match": "1"], alert: AlertText(title: "It begins", body: "")),
                        subscriber: "person \(person)"
                    )
                ).isTaken)
        }
        #expect(engine.settle(within: .seconds(120)))
        // This version reaches no card yet.
        #expect(engine.offer(Self.score(2)).isTaken)
        #expect(engine.settle(within: .seconds(120)))
        for person in 0..<Self.people {
            if person == Self.people / 2 {
                #expect(engine.settle(within: .seconds(120)))
                #expect(engine.offer(Self.score(3, lifecycle: .end)).isTaken)
            }
            let (activity, subscriber) = (ActivityID("card of \(person)"), SubscriberID("person \(person)"))
            let token = token("update", person)
            // A backend that does not know the card's origin follows the activity, with the same effect.
            let report =
                person % 2 == 0
                ? Engine.Command.confirmStart(activity: activity, subscriber: subscriber, token: token)
                : .follow(.topic(Self.topic), activity: activity, subscriber: subscriber, token: token)
            #expect(engine.offer(report).isTaken)
        }
        #expect(engine.settle(within: .seconds(120)))
        engine.stop()
        try simulator.stop()

        let last: JSON = ["score": 3]
        var expectations = Judge.Expectations()
        expectations.startsPerToken = 1
        var judge = try Judge(
            topics: [TopicRecord(id: "match/1", ended: true, state: last, published: last)], expectations: expectations)
        for line in try String(contentsOfFile: dump, encoding: .utf8).split(separator: "\n") {
            try judge.read(JSON(parsing: Array(line.utf8)))
        }
        let verdict = judge.finish()
        #expect(fates.all.isEmpty)
        if isTroubled {
            // A start that was lost on its way is not sent again. The dump cannot know that its token was none for updates.
            let lost = verdict.violations[.neverReached] ?? 0
            #expect(verdict.violations.keys.allSatisfy { $0 == .neverReached }, "\(verdict.json.canonicalText)")
            #expect(verdict.liveTokens == Self.people + lost)
            #expect(verdict.unanswered > 0, "no answer was lost: this proves nothing")
            // A connection takes some twenty at once after its first answer, and loses those that the server has not read.
            #expect(verdict.starts > Self.people / 5)
        } else {
            #expect(verdict.isGood, "\(verdict.json.canonicalText)")
            #expect(verdict.liveTokens == Self.people)
            #expect(verdict.starts == Self.people)
            #expect(verdict.startTokens == Self.people)
            // The start; two states or the end alone.
            #expect(verdict.accepted == Self.people + Self.people / 2 * 3)
        }
    }

    private final class Fates: Sendable {
        private let fates = Locked<[ActivityFate]>([])
        var all: [ActivityFate] { fates.withLock { $0 } }
        func note(_ fate: ActivityFate) { fates.withLock { $0.append(fate) } }
    }
}
