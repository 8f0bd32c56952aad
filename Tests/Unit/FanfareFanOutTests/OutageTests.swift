import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// While nothing is pulled, work must neither pile up nor keep the shard awake.
@Suite struct OutageTests {
    private let stage = EmbeddedShard()
    private let other = TopicID("other")

    private func move(_ activity: String, _ lineup: [TopicID]) {
        stage.shard.apply(.move(ActivityID(hashing: activity), .lineup(lineup)), at: stage.moment)
    }

    @Test func dueWorkGoesOnWithoutAPull() throws {
        stage.follow()
        stage.publish(1)
        stage.answer(stage.pull(), .throttled)
        let due = try #require(stage.shard.nextDue)
        stage.pass(seconds: 5)
        #expect(due < stage.moment.monotonic)
        stage.shard.wakeDue(at: stage.moment)
        #expect(stage.shard.nextDue ?? .never > stage.moment.monotonic)
        #expect(stage.shard.violatedInvariant() == nil)
        #expect(stage.settle().count == 1)
    }

    @Test func shardThatIsHeldUpHasNoDueTime() {
        let stage = EmbeddedShard(Shard(feedbackMax: 1))
        stage.follow()
        #expect(stage.shard.nextDue != nil)
        stage.follow(token: 1, in: TopicID(""))
        #expect(stage.shard.isFeedbackFull && stage.shard.nextDue == nil)
        _ = stage.fates()
        #expect(stage.shard.nextDue != nil)
    }

    @Test func lineupsThatComeAndGoAreForgotten() {
        stage.publish(1)
        stage.follow()
        for number in 0..<10_000 {
            stage.publish(1, in: TopicID("\(number)"))
            move("card", [stage.topic, TopicID("\(number)")])
            if number % 100 == 0 { _ = stage.fates() }
        }
        #expect(stage.shard.membership.lanes.entries <= 1026)
        #expect(stage.shard.violatedInvariant() == nil)
        #expect(stage.settle().count == 1)
    }

    @Test func activityThatMovesBackAndForthIsQueuedOnce() {
        let lineups = [[stage.topic, other], [other, stage.topic]]
        for (index, lineup) in lineups.enumerated() {
            stage.shard.apply(
                .follow(ActivityID(hashing: "stays \(index)"), .lineup(lineup), token: [UInt8(10 + index)]),
                at: stage.moment)
        }
        stage.shard.apply(.follow(ActivityID(hashing: "card"), .lineup(lineups[0]), token: [1]), at: stage.moment)
        stage.publish(1)
        _ = stage.settle()
        stage.publish(2, alert: "goal")
        for turn in 1...10_000 { move("card", lineups[turn % 2]) }
        for audience in stage.shard.membership.audiences.rows {
            #expect(audience.revisits.count <= 2 * audience.order.count + 65)
        }
        #expect(stage.shard.violatedInvariant() == nil)
        let pushes = stage.passUntilPush(seconds: 5).pushes
        #expect(pushes.count == 3 && pushes.allSatisfy { $0.payload.alert?.title == "goal" })
    }
}
