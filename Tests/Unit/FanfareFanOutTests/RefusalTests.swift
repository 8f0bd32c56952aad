import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// A command that cannot be carried out is reported, and changes nothing.
@Suite struct RefusalTests {
    private let stage = EmbeddedShard()

    private static let long = TopicID(String(repeating: "x", count: 513))
    private static let many = (0...64).map { TopicID("\($0)") }
    private static let keys: [(AudienceKey, CommandRefusal)] = [
        (.topic(TopicID("")), .topic), (.topic(long), .topic), (.lineup([]), .lineup), (.lineup(many), .lineup),
        (.lineup([TopicID("a"), TopicID("b"), TopicID("a")]), .lineup), (.lineup([TopicID("a"), long]), .topic),
        (.lineup([TopicID("a"), TopicID("")]), .topic),
    ]

    private func request(token: [UInt8]) -> StartRequest {
        StartRequest(
            activity: "card", token: token, attributesType: "Match", attributes: [:],
            alert: AlertText(title: "Kick-off", body: ""))
    }

    private func apply(_ command: ShardCommand) { stage.shard.apply(command, at: stage.moment) }

    @Test(arguments: keys) func followsAndStartsOfImpossibleAudiencesAreRefused(
        key: AudienceKey, refusal: CommandRefusal
    ) {
        apply(.follow(ActivityID(hashing: "card"), key, token: [1]))
        #expect(stage.fates() == [.refused(refusal)])
        apply(.start(request(token: [1]), key))
        #expect(stage.fates() == [.refused(refusal)])
        #expect(stage.shard.statistics.activities == 0 && stage.shard.membership.topics.count == 0)
    }

    @Test(arguments: keys) func anActivityThatIsKnownStaysAsItWas(key: AudienceKey, refusal: CommandRefusal) {
        stage.follow(token: 1)
        apply(.follow(ActivityID(hashing: "card"), key, token: [9], preferences: Preferences(alerts: .none)))
        apply(.move(ActivityID(hashing: "card"), key))
        apply(.start(request(token: [9]), key))
        #expect(stage.fates() == [.refused(refusal), .refused(refusal), .refused(refusal)])
        stage.publish(1, alert: "goal")
        stage.publish(2, alert: "another goal")
        let pushes = stage.settle()
        #expect(pushes.map(\.token) == [[1]], "the token is the old one")
        #expect(pushes.allSatisfy { $0.payload.alert != nil }, "and so are the preferences")
        #expect(stage.shard.lifecycle.renewals.isEmpty)
    }

    @Test(arguments: [0, 513]) func aTokenThatIsNoneIsRefused(bytes: Int) {
        let token = [UInt8](repeating: 7, count: bytes)
        apply(.follow(ActivityID(hashing: "card"), .topic(stage.topic), token: token))
        apply(.start(request(token: token), .topic(stage.topic)))
        stage.follow("another", token: 1)
        apply(.replaceToken(ActivityID(hashing: "another"), token: token))
        apply(.follow(ActivityID(hashing: "another"), .topic(TopicID("other")), token: token))
        #expect(stage.fates() == Array(repeating: .refused(.token), count: 4))
        stage.publish(1)
        #expect(stage.settle().map(\.token) == [[1]], "it has not been moved either")
    }

    @Test func commandForAnUnknownActivityIsReported() {
        let nobody = ActivityID(hashing: "nobody")
        apply(.setPreferences(nobody, Preferences(alerts: .none)))
        apply(.move(nobody, .topic(stage.topic)))
        apply(.replaceToken(nobody, token: [1]))
        #expect(stage.fates() == Array(repeating: .refused(.unknownActivity), count: 3))
        apply(.unfollow(nobody))
        #expect(stage.fates().isEmpty, "that is what was wanted")
        #expect(stage.shard.membership.topics.count == 0)
    }
}
