import Fanfare
import FanfareModel
import Foundation
import Testing

/// People who turn Live Activities off: one call ends all of their cards.
@Suite struct TurnedOffTests {
    private let match = TopicID("match")
    private let kickOff = FeedTime(seconds: 1_790_000_000)

    private func engine(mailbox: Int = 1024) throws -> Engine {
        var options = Engine.Options(transport: .discard)
        options.mailboxCapacity = mailbox
        return try Engine(options)
    }

    private func score(_ goals: Int, on engine: Engine) async throws {
        _ = try await engine.ingest(
            FeedEvent(
                topic: match, topicKind: .generic, at: kickOff + .seconds(Int64(goals)), kind: "score",
                change: .patch(["goals": .int(Int64(goals))])))
        #expect(await engine.settle(within: .seconds(120)))
    }

    private func cards(_ people: Range<Int>) -> [SubscriberID: [ActivityID]] {
        Dictionary(
            uniqueKeysWithValues: people.map { person in
                (SubscriberID("person \(person)"), (0..<2).map { ActivityID("card \(person).\($0)") })
            })
    }

    /// The mailbox has fewer places than there are cards to end.
    @Test func oneCallEndsTheCardsOfManyPeopleAndOfNobodyElse() async throws {
        let engine = try engine(mailbox: 4)
        let all = cards(0..<20)
        for (subscriber, activities) in all {
            for activity in activities {
                _ = try await engine.follow(.topic(match), activity: activity, subscriber: subscriber, token: [1, 2])
            }
        }
        try await score(1, on: engine)
        #expect(try await engine.counts().pushes.accepted == 40)
        let off = cards(0..<15)
        let receipts = try await engine.unfollow(off)
        #expect(receipts.count == 30 && receipts == receipts.sorted(), "one for each card, in the order of acceptance")
        #expect(await engine.settle(within: .seconds(120)))
        #expect(try await engine.counts().activities == 10)
        #expect(try await engine.counts().pushes.accepted == 70, "one end each")
        try await score(2, on: engine)
        #expect(try await engine.counts().pushes.accepted == 80)
        // The apps report it once more at their next start.
        _ = try await engine.unfollow(off)
        #expect(await engine.settle(within: .seconds(120)))
        #expect(try await engine.counts().pushes.accepted == 80)
        _ = await engine.shutdown()
    }

    @Test func aStartThatHasNotLeftNeverLeaves() async throws {
        let engine = try engine()
        let request = StartRequest(
            activity: "card", token: [7], attributesType: "Match", attributes: [:],
            alert: AlertText(title: "Kick-off", body: "soon"))
        _ = try await engine.start(.topic(match), request, subscriber: "person")
        _ = try await engine.unfollow(["person": ["card"]])
        try await score(1, on: engine)
        #expect(try await engine.counts().pushes.sent == 0)
        _ = await engine.shutdown()
    }

    @Test func noCardEndsWhereOneBelongsToAnAppOfAnotherEngine() async throws {
        let engine = try engine()
        _ = try await engine.follow(.topic(match), activity: "card", subscriber: "person", token: [1])
        try await score(1, on: engine)
        let foreign = SubscriberID("person", app: AppID(bundleID: "com.example.there"))
        for _ in 0..<8 {
            await #expect(throws: EngineError.self) {
                try await engine.unfollow(["person": ["card"], foreign: ["other"]])
            }
        }
        #expect(await engine.settle(within: .seconds(120)))
        #expect(try await engine.counts().activities == 1)
        #expect(try await engine.unfollow([:]).isEmpty)
        _ = await engine.shutdown()
    }
}
